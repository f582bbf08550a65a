"""Holds one open conversation and its own parts: agent, turn machine, files."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO

from sayso.protocol.messages import FileGot, FilePut
from sayso.server.agent.conversation_agent import ConversationAgent
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.record.conversation_settings import seen_at
from sayso.server.agent.spending import Used
from sayso.server.conversations.driver import ConversationDriver
from sayso.server.conversations.files.artifacts import ConversationArtifacts
from sayso.server.conversations.files.upload_quota import UploadLimits
from sayso.server.conversations.files.uploads import Beside, WorkspaceFiles
from sayso.server.conversations.files.workspaces import Workspaces
from sayso.server.reflexes.undo_answers import UndoAnswers
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.store.decisions import WorkspaceChosen
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Conversation, Event


class OpenConversation:
    """Begins to live when it is made; closed once."""

    def __init__(
        self,
        about: Conversation,
        own: ConversationAgent,
        conversation: ConversationDriver,
        artifacts: ConversationArtifacts,
        undo_answers: UndoAnswers,
        *,
        log: EventLog,
        workspaces: Workspaces,
        upload_limits: UploadLimits,
    ) -> None:
        self.about = about
        self.conversation = conversation
        self.agent = own.agent
        self.journal = own.journal
        self.undo_requests = own.undo_requests
        self.undo_answers = undo_answers
        """What is said when something was taken back."""
        self.artifacts = artifacts
        self.os_mode = own.os_mode
        """Lets the model take over the person's screen, or no longer, and says so; None where it
        can't."""
        self._own = own
        self._log = log
        self._workspaces = workspaces
        self._upload_limits = upload_limits
        self._files = self._files_now()
        self._one_file_at_a_time = asyncio.Lock()
        self._life = asyncio.create_task(conversation.run(), name=f"conversation {about.id}")

    @property
    def code_runner(self) -> CodeRunner:
        """Where its code runs now."""
        return self._own.code_runner

    async def used(self) -> Used:
        """What this conversation has used, ever. Raises StoreError."""
        used = Used()
        for event in await self.events():
            used.count(event.record)
        return used

    async def events(self) -> Sequence[Event]:
        """Everything that happened here. Raises StoreError."""
        return await self._log.conversation(self.about.id)

    async def past(self) -> Mapping[str, Any]:
        """The snapshot for a screen, with all that was shown of each turn."""
        turns = await self.conversation.transcript.past(self.agent.outputs, self.artifacts)
        return asdict(replace(self.conversation.snapshot(), turns=())) | {"turns": turns}

    async def think_with(self, name: str, *, anywhere: bool) -> Backend:
        """Let another language model answer from the next request on, if it can be had; without a
        name, the one of the settings. `anywhere`: it need not be one that was fetched here.
        """
        return await self._own.think_with(name, anywhere=anywhere)

    async def upload(self, device: str, piece: FilePut) -> FileGot:
        """Take a piece of a file into the workspace."""
        beside = await self._beside() if self.about.owner and not piece.offset else None
        async with self._one_file_at_a_time:
            return await asyncio.to_thread(self._files.take, device, piece, beside)

    async def _beside(self) -> Beside:
        owner = self.about.owner
        there = [one for one in await self._log.conversations() if one.owner == owner]
        return Beside(self._upload_limits.guests, [self._workspaces.folder(one) for one in there])

    async def download(self, path: str) -> BinaryIO | None:
        """Opens a file in the workspace for reading; the caller closes it."""
        return await asyncio.to_thread(self._files.open, path)

    async def reset(self) -> None:
        """Stop what goes on, and begin anew in new interpreters. Raises StoreError."""
        await self.conversation.rest()
        await self._own.reset()
        await self._reopen_files()

    async def work_in(self, folder: Path | None, by: str) -> None:
        """Let code run in another folder; without one, in the conversation's own. What runs is
        stopped, and variables are gone. Raises StoreError.
        """
        await self.conversation.rest()
        seen = await asyncio.to_thread(seen_at, folder) if folder else ()
        chosen = WorkspaceChosen(str(folder) if folder else "", by, seen)
        await self.journal.note("person", chosen)
        self.about = replace(self.about, workspace=chosen.path, seen=seen)
        await self._own.move(self._workspaces.of(self.about))
        await self._reopen_files()

    async def _reopen_files(self) -> None:
        async with self._one_file_at_a_time:
            await asyncio.to_thread(self._files.close)
            self._files = self._files_now()

    def _files_now(self) -> WorkspaceFiles:
        where, identity = Path(self.code_runner.where), self.code_runner.identity
        return WorkspaceFiles(where, self._upload_limits.file_bytes, identity)

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
        await self._own.close()
        async with self._one_file_at_a_time:
            await asyncio.to_thread(self._files.close)
