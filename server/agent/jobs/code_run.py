"""One run: its output goes to the listener and the record, then its report to the log."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from sayso.server.agent.event_stream import Emit
from sayso.server.agent.events import CodeEnd, changes_shown
from sayso.server.agent.jobs.job import TITLE_CHARS, one_line
from sayso.server.agent.jobs.run_progress import RunProgress
from sayso.server.agent.limits import RequestUsage, last_line
from sayso.server.agent.permissions.host_reapproval import HostReapproval
from sayso.server.agent.permissions.network_use import NetworkUse, TurnedAway
from sayso.server.agent.prompt import server_notes
from sayso.server.agent.prompt.output_digest import Digest, as_text
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.shown_output import ShownOutput
from sayso.server.agent.stream_closing import closing
from sayso.server.agent.tools.tool import Arguments, Tool, ToolContext
from sayso.server.runtimes.left_processes import LeftProcesses
from sayso.server.runtimes.runtime import Ending
from sayso.server.store.records import Call, RunReported
from sayso.server.store.redaction import redacted
from sayso.server.undo.checkpointer import Checkpointer

_NO_ENDING: Final = "It ended without saying how."


class CodeRun:
    """In the foreground, until it is let go."""

    def __init__(
        self,
        call: Call,
        record: ConversationRecord,
        checkpointer: Checkpointer,
        reckoning: RequestUsage,
        emit: Emit,
        set_aside: Callable[[], bool],
        ended_commands: Callable[[], Sequence[str]],
    ) -> None:
        """`set_aside` lets the interpreter go on with it, and the next run get another one; false
        where that cannot be. `ended_commands`: those that were ended when code was last stopped."""
        most = reckoning.limits.output_chars
        self.id = call.id
        self.call = call
        self.progress = RunProgress(record.journal)
        self.left = asyncio.Event()
        """It goes on in the background."""
        self.why_stopped = ""
        """In a sentence, if it is stopped in the background."""
        self.stopped_with: Sequence[str] = ()
        """What it had started in the background, and was ended when it was stopped."""
        self.left_processes: LeftProcesses | None = None
        """What it has left running."""
        self.over: CodeEnd | None = None
        """How it ended, for the listener."""
        self._journal = record.journal
        self._checkpointer = checkpointer
        self._reckoning = reckoning
        self._set_aside = set_aside
        self._ended_commands = ended_commands
        self._began = asyncio.get_running_loop().time()
        self._digest = Digest(most, call.id)
        self._recording = record.outputs.record(call.id, most)
        self._shown = ShownOutput(call.id, emit)

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return asyncio.get_running_loop().time() - self._began

    @property
    def output(self) -> str:
        """What it has put out, as the model is told it."""
        return self._digest.text

    @property
    def failure(self) -> str:
        """The last line of what went wrong; empty if nothing did."""
        if self.over is None or self.over.status == "ok":
            return ""
        return last_line(self._digest.text) or self.over.detail

    def leave(self) -> bool:
        """Go on in the background, if that can be."""
        if self.over or self.left.is_set() or not self._set_aside():
            return False
        self.left.set()
        return True

    async def perform(
        self,
        tool: Tool,
        arguments: Arguments,
        context: ToolContext,
        questions: HostReapproval,
        network: NetworkUse,
    ) -> None:
        """Run to the end, and report. Cancelling stops it. Raises StoreError."""
        following = asyncio.create_task(self.progress.follow(self.id))
        ending, turned_away = Ending("died", 0.0, _NO_ENDING), TurnedAway()
        try:
            async with closing(tool.run(arguments, context)) as outputs:
                async for output in outputs:
                    if isinstance(output, Ending):
                        ending = output
                        continue
                    text = as_text(output)
                    self._digest.take(output)
                    self.progress.printed(self.id, text)
                    await self._recording.take(output, text)
                    await questions.quiet()
                    if not self.left.is_set():
                        await self._shown.take(output)
            if not self.left.is_set():
                await self._shown.finish()
            await questions.answered()
            following.cancel()  # it waits for the person from here on, and runs no more
            turned_away = await network.told(self.id, may_ask=not self.left.is_set())
        except asyncio.CancelledError:
            ending = Ending("interrupted", self.seconds, self._why)
            self.stopped_with = [
                one_line(redacted(command), TITLE_CHARS)
                for command in self._ended_commands()
                if command
            ]
            raise
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
            await self._report(ending, turned_away)

    @property
    def _why(self) -> str:
        if self.left.is_set():
            return self.why_stopped or server_notes.INTERRUPTED
        late = self._reckoning.out_of_time
        return server_notes.OUT_OF_TIME if late else server_notes.INTERRUPTED

    async def _report(self, ending: Ending, turned_away: TurnedAway) -> None:
        """What the run changed, and its ending with what the server made of that."""
        changes = await self._checkpointer.after(self.id)
        told, shown_detail = (
            " ".join(filter(None, (ending.detail, about_hosts, changes.note)))
            for about_hosts in (turned_away.model, turned_away.person)
        )
        self.left_processes = ending.left
        await self._recording.finish()
        shown = changes_shown(changes)
        self.over = CodeEnd(
            self.id, ending.status, ending.seconds, shown_detail, shown, self._recording.whole
        )
        report = RunReported(
            self.id,
            ending.status,
            ending.seconds,
            told,
            self._digest.text,
            changes,
            self._recording.pictures,
        )
        await self._journal.note("runtime", report)
