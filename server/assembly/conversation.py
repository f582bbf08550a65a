"""One open conversation and all that belongs to it alone: memory, folder, interpreters, machine."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten
from typing import BinaryIO, Final

from sayso.protocol.home import Home
from sayso.protocol.messages import FileGot, FilePut
from sayso.server.agent.limits import Budget, RequestLimits
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.loop import Agent
from sayso.server.agent.permissions.approvals import Approvals
from sayso.server.agent.permissions.modes import Permissions
from sayso.server.agent.permissions.shared_folders import Earlier, SharedFolders
from sayso.server.agent.permissions.standing_grants import StandingGrants
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.conversation_settings import (
    ConversationSettings,
    identity_in,
    seen_at,
    taken_back,
)
from sayso.server.agent.record.journal import LATELY_S, Journal
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.agent.spending import DailyLimits, DailySpending, Used
from sayso.server.assembly.undo import MB, ConversationUndo
from sayso.server.conversations.artifacts import Artifacts
from sayso.server.conversations.driver import ConversationDriver
from sayso.server.conversations.preferences import Preferences
from sayso.server.conversations.reflex_responder import ReflexResponder
from sayso.server.conversations.upload_quota import UploadRoom
from sayso.server.conversations.uploads import Beside, WorkspaceFiles
from sayso.server.policy.judge import Policy
from sayso.server.reflexes.undo_answers import UndoAnswers
from sayso.server.runtimes.access import Grants
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.protection.folder_identity import NOWHERE, Identity
from sayso.server.runtimes.protection.own_places import why_unwritable
from sayso.server.settings import Settings
from sayso.server.speech.speech import Speech
from sayso.server.store import records
from sayso.server.store.decisions import ModeChanged, ReachGranted, WorkspaceChosen
from sayso.server.store.event_log import EventLog
from sayso.server.store.private_folders import make_private
from sayso.server.turn.effects import Effect
from sayso.server.turn.events import Announced

log = logging.getLogger(__name__)

CUT_OFF: Final = (
    "Sayso ended in the middle of “{asked}”, and is back. Say “go on” to have it finished;"
    " nothing that ran is run again."
)
HALF_SAID: Final = "Sayso ended in the middle of this, and is back: {answer}"
ASKED_CHARS: Final = 80
"""Of the request, in that sentence: it is spoken, too."""


@dataclass(frozen=True, slots=True)
class SharedParts:
    """What all conversations of a house have in common."""

    home: Home
    settings: Settings
    log: EventLog
    speech: Speech
    backend: Backend
    artifacts: Artifacts
    responder: ReflexResponder
    preferences: Preferences
    day: DailySpending
    code_runner: Callable[[Path, Grants, Identity | None], CodeRunner]
    """Sets up a place for code to run in a folder, by which that is recognised."""
    upload_room: UploadRoom
    policy: Policy = field(default_factory=Policy)
    standing: StandingGrants | None = None
    folders: SharedFolders = field(default_factory=SharedFolders)
    """What strangers may have written, and where."""
    watch: Callable[[Effect], None] = lambda _: None
    """Sees everything that turns want done."""
    think_with: Callable[[str, bool], Awaitable[Backend]] | None = None
    """Gives another language model, by name; and whether one may be named that lies elsewhere."""

    async def backend_named(self, name: str, *, anywhere: bool) -> Backend:
        """A language model by its name; without one, that of the settings. `anywhere`: it need not
        be one that was fetched to this machine."""
        if not name:
            return self.backend
        if self.think_with is None:
            return replace(self.backend, missing="There is no other language model here.")
        return await self.think_with(name, anywhere)


class OpenConversation:
    """Made by `open_conversation`; closed once."""

    def __init__(
        self,
        shared: SharedParts,
        about: records.Conversation,
        conversation: ConversationDriver,
        agent: Agent,
        journal: Journal,
        code_runner: CodeRunner,
        make_code_runner: Callable[[records.Conversation], CodeRunner],
        undo: ConversationUndo,
        undo_answers: UndoAnswers,
    ) -> None:
        self.about = about
        self.day = shared.day
        self.artifacts = shared.artifacts.of(about.owner, about.id)
        self._shared = shared
        self.conversation = conversation
        self.agent = agent
        self.journal = journal
        self.code_runner = code_runner
        self.undo_requests = undo.undo_requests
        self.undo_answers = undo_answers
        """What is said when something was taken back."""
        self._undo = undo
        self._files = self._files_of(code_runner)
        self._one_file_at_a_time = asyncio.Lock()
        self._make_code_runner = make_code_runner
        self._life = asyncio.create_task(conversation.run(), name=f"conversation {about.id}")

    async def used(self) -> Used:
        """What this conversation has used, ever. Raises StoreError."""
        used = Used()
        for event in await self.events():
            used.count(event.record)
        return used

    async def events(self) -> list[records.Event]:
        """Everything that happened here. Raises StoreError."""
        return await self._shared.log.conversation(self.about.id)

    async def think_with(self, name: str, *, anywhere: bool) -> Backend:
        """Let another language model answer from the next request on, if it can be had; without a
        name, the one of the settings. `anywhere`: it need not be one that was fetched here.
        """
        backend = await self._shared.backend_named(name, anywhere=anywhere)
        if not backend.missing:
            self.agent.use_model(backend)
        return backend

    async def upload(self, device: str, piece: FilePut) -> FileGot:
        """Take a piece of a file into the workspace."""
        beside = await self._beside() if self.about.owner and not piece.offset else None
        async with self._one_file_at_a_time:
            return await asyncio.to_thread(self._files.take, device, piece, beside)

    async def _beside(self) -> Beside:
        shared, owner = self._shared, self.about.owner
        there = [one for one in await shared.log.conversations() if one.owner == owner]
        folders = [workspace(shared.home, shared.settings, one) for one in there]
        return Beside(shared.upload_room, folders)

    async def download(self, path: str) -> BinaryIO | None:
        """A file in the workspace, to be read, and closed by whoever asks."""
        return await asyncio.to_thread(self._files.open, path)

    async def renew(self) -> None:
        """New interpreters: nothing that code left in them remains."""
        self.agent.permissions.forget()
        await self._undo.accept()
        await self._set_up()

    async def work_in(self, folder: Path | None, by: str) -> None:
        """Let code run in another folder; without one, in the conversation's own. What runs is
        stopped, and variables are gone. Raises StoreError.
        """
        await self.conversation.rest()
        seen = await asyncio.to_thread(seen_at, folder) if folder else ()
        chosen = WorkspaceChosen(str(folder) if folder else "", by, seen)
        await self.journal.note("person", chosen)
        self.about = replace(self.about, workspace=chosen.path, seen=seen)
        await self._set_up()
        await self.journal.note("server", records.InterpretersEnded())

    async def _set_up(self) -> None:
        await self.code_runner.close()
        self.code_runner = self._make_code_runner(self.about)
        await self._undo.move(self.code_runner)
        self.agent.use_code_runner(self.code_runner)
        async with self._one_file_at_a_time:
            await asyncio.to_thread(self._files.close)
            self._files = self._files_of(self.code_runner)
        self.code_runner.prepare()

    def _files_of(self, code_runner: CodeRunner) -> WorkspaceFiles:
        most = self._shared.settings.code.upload_mb * MB
        return WorkspaceFiles(Path(code_runner.where), most, code_runner.identity)

    def halt(self) -> None:
        """Go no further, and note nothing more: what is under way goes on when it is opened again,
        as far as that can be."""
        self.journal.put_down()
        if not self._life.cancelling():  # Once: then it sees to it that all its work ends.
            self._life.cancel()

    async def close(self) -> None:
        """Stop what it does and end its interpreters."""
        self.halt()
        await asyncio.gather(self._life, return_exceptions=True)
        await self.code_runner.close()
        await self._undo.close()
        async with self._one_file_at_a_time:
            await asyncio.to_thread(self._files.close)


async def open_conversation(shared: SharedParts, about: records.Conversation) -> OpenConversation:
    """Open a conversation. Raises StoreError."""
    await asyncio.to_thread(_keep_names_private, shared.home)
    journal = await Journal.open(shared.log, about.id, shared.day.saw)
    approvals = Approvals(journal, shared.settings.approvals.expire_s)

    def make_code_runner(about: records.Conversation) -> CodeRunner:
        folder = workspace(shared.home, shared.settings, about)
        return shared.code_runner(folder, permissions.reach, _known(shared, about))

    guest = bool(about.owner)
    standing = None if guest else shared.standing
    mode = shared.settings.approvals.mode
    neighbours = Neighbourhood(shared, about.id)
    permissions = Permissions(shared.policy, mode, standing, guest=guest, neighbours=neighbours)
    lost = [*(standing.take_losses() if standing else ()), *permissions.restore(journal.terms)]
    for part in permissions.take_closed():
        await journal.note("server", taken_back(part, "", lasting=False))
    if journal.terms.mode not in ("", permissions.mode):  # told once, not at each start
        await journal.note("server", ModeChanged(permissions.mode))
    backend = await shared.backend_named(journal.terms.model, anywhere=not guest)
    if journal.terms.model and backend.missing:
        lost.append(f"{backend.missing} {shared.backend.model.name} answers instead.")
        backend = shared.backend
    code_runner = make_code_runner(about)
    undo = ConversationUndo(shared.home, shared.settings.undo, journal, code_runner)
    if recovered := await undo.recover():
        lost.append(recovered)
    agent = Agent(
        backend,
        code_runner,
        approvals,
        ConversationRecord(journal, RunOutputs(shared.home.state / "outputs" / about.id)),
        permissions=permissions,
        checkpointer=undo.checkpointer,
        budget=Budget(bounds(shared.settings), shared.day),
    )
    conversation = ConversationDriver(
        about.id,
        shared.speech,
        agent,
        undo.undo_requests,
        shared.artifacts.of(about.owner, about.id),
        shared.responder,
        shared.preferences,
        shared.watch,
    )
    for sentence in lost:
        conversation.notice(sentence)
    if journal.cut_off:
        asked = shorten(journal.cut_off, ASKED_CHARS, placeholder="…")
        conversation.happened(Announced(CUT_OFF.format(asked=asked), device=""))
    if half := journal.half_said:
        conversation.owe(half.device, HALF_SAID.format(answer=half.text), LATELY_S)
    code_runner.prepare()
    return OpenConversation(
        shared,
        about,
        conversation,
        agent,
        journal,
        code_runner,
        make_code_runner,
        undo,
        shared.responder.undo_answers,
    )


class Neighbourhood:
    """Of one conversation: those whose code may write where its own does."""

    def __init__(self, shared: SharedParts, conversation: str) -> None:
        self._shared = shared
        self._conversation = conversation
        self._looked_up: set[Sequence[Path]] = set()
        """For these the log was asked what happened before this start; later is known anyway."""

    async def found(self, folders: Sequence[Path]) -> tuple[str, ...]:
        """What their code has read, and may have left in these folders. Raises StoreError."""
        folders = tuple(folders)
        earlier = [] if folders in self._looked_up else await self._all_earlier()
        found = await self._shared.folders.found(self._conversation, folders, earlier)
        self._looked_up.add(folders)
        return found

    async def _all_earlier(self) -> list[Earlier]:
        log = self._shared.log
        opened: dict[str, list[Path]] = {}
        for event in await log.of_types(ReachGranted, WorkspaceChosen, since=0.0):
            match event.record:
                case ReachGranted(write=write):
                    opened.setdefault(event.conversation, []).extend(map(Path, write))
                case WorkspaceChosen(path=path) if path:
                    opened.setdefault(event.conversation, []).append(Path(path))
        return [self._earlier(one, opened.get(one.id, ())) for one in await log.conversations()]

    async def left(self, folders: Sequence[Path], sources: Iterable[str]) -> None:
        """Code here may have left there what it read from these."""
        await self._shared.folders.left(self._conversation, folders, sources)

    def wipe(self) -> None:
        """The conversation begins anew."""
        self._shared.folders.wipe(self._conversation)

    def _earlier(self, one: records.Conversation, opened: Iterable[Path]) -> Earlier:
        async def sources() -> Iterable[str]:
            events = await self._shared.log.conversation(one.id)
            return sorted(ConversationSettings.of(event.record for event in events).heard)

        where = workspace(self._shared.home, self._shared.settings, one)
        return Earlier(one.id, (where, *opened), sources)


def _keep_names_private(home: Home) -> None:
    own = (home.data / "workspaces", home.state / "outputs", home.state / "undo")
    try:
        make_private(*own)
    except OSError as error:
        log.warning("The names of conversations may be seen by others here: %s", error)


def workspace(home: Home, settings: Settings, about: records.Conversation) -> Path:
    """The folder in which a conversation's code runs; the one in the settings is the owner's."""
    chosen = about.workspace or ("" if about.owner else settings.code.workspace)
    return Path(chosen).expanduser() if chosen else home.data / "workspaces" / about.id


def _known(shared: SharedParts, about: records.Conversation) -> Identity | None:
    """Which folder was chosen for its code; nothing if it is one of its own."""
    if about.workspace:
        # Where that was not written down, it is what is there, unless a link is.
        seen = about.seen or seen_at(Path(about.workspace))
        never = why_unwritable(Path(about.workspace))
        return identity_in(seen[0]) if seen and not never else NOWHERE
    return None if about.owner or not shared.standing else shared.standing.workspace


def day_bounds(settings: Settings) -> DailyLimits:
    """How far one day may go, as the settings have it."""
    limits = settings.agent
    return DailyLimits(
        steps=limits.day_steps,
        seconds=limits.day_seconds,
        tokens=limits.day_tokens,
        usd=limits.day_usd,
    )


def bounds(settings: Settings) -> RequestLimits:
    """How far one request may go, as the settings have it."""
    limits = settings.agent
    return RequestLimits(
        steps=limits.steps,
        seconds=limits.seconds,
        tokens=limits.tokens,
        usd=limits.usd,
        output_chars=limits.output_chars,
    )
