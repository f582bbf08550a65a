"""Finds what code of other conversations may have left where this one's code writes."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from sayso.server.agent.permissions.untrusted_folders import Earlier, UntrustedFolders
from sayso.server.agent.record.conversation_settings import ConversationSettings
from sayso.server.conversations.files.workspaces import Workspaces
from sayso.server.store.decisions import ReachGranted, WorkspaceChosen
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Conversation


class Neighbourhood:
    """Of one conversation: those whose code may write where its own does."""

    def __init__(
        self, log: EventLog, workspaces: Workspaces, folders: UntrustedFolders, conversation: str
    ) -> None:
        self._log = log
        self._workspaces = workspaces
        self._folders = folders
        self._conversation = conversation
        self._looked_up: set[Sequence[Path]] = set()
        """For these the log was asked what happened before this start; later is known anyway."""

    async def found(self, folders: Sequence[Path]) -> tuple[str, ...]:
        """What their code has read, and may have left in these folders. Raises StoreError."""
        folders = tuple(folders)
        earlier = [] if folders in self._looked_up else await self._all_earlier()
        found = await self._folders.found(self._conversation, folders, earlier)
        self._looked_up.add(folders)
        return found

    async def _all_earlier(self) -> list[Earlier]:
        opened: dict[str, list[Path]] = {}
        for event in await self._log.of_types(ReachGranted, WorkspaceChosen, since=0.0):
            match event.record:
                case ReachGranted(write=write):
                    opened.setdefault(event.conversation, []).extend(map(Path, write))
                case WorkspaceChosen(path=path) if path:
                    opened.setdefault(event.conversation, []).append(Path(path))
        there = await self._log.conversations()
        return [self._earlier(one, opened.get(one.id, ())) for one in there]

    async def left(self, folders: Sequence[Path], sources: Iterable[str]) -> None:
        """Code here may have left there what it read from these."""
        await self._folders.left(self._conversation, folders, sources)

    def wipe(self) -> None:
        """The conversation begins anew."""
        self._folders.wipe(self._conversation)

    def _earlier(self, one: Conversation, opened: Iterable[Path]) -> Earlier:
        async def sources() -> Iterable[str]:
            events = await self._log.conversation(one.id)
            return sorted(ConversationSettings.of(event.record for event in events).heard)

        return Earlier(one.id, (self._workspaces.folder(one), *opened), sources)
