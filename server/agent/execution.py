"""Executes one call of the model: asks for approval, logs the intention, runs, reports."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from sayso.server.agent.calls.ask import Ask
from sayso.server.agent.calls.tell import Tell
from sayso.server.agent.event_stream import Emit
from sayso.server.agent.events import RunEnded, RunOutput, RunStarted
from sayso.server.agent.jobs.progress import RunProgress
from sayso.server.agent.limits import RequestUsage, last_line
from sayso.server.agent.permissions.access_requests import AccessRequests
from sayso.server.agent.permissions.approvals import ApprovalDecision, ApprovalRequest, Approvals
from sayso.server.agent.permissions.host_questions import HostQuestions
from sayso.server.agent.permissions.mentioned_paths import named_places, needed
from sayso.server.agent.permissions.modes import Permissions
from sayso.server.agent.prompt import server_notes
from sayso.server.agent.prompt.output_digest import Digest, as_text
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.conversation_settings import taken_back
from sayso.server.agent.stream_closing import closing
from sayso.server.agent.tools.run_code import CodeRunner
from sayso.server.agent.tools.tool import (
    SHOWN_OF_A_HASH,
    ArgumentsError,
    Tool,
    ToolContext,
    ToolRefused,
)
from sayso.server.agent.tools.toolbox import Toolbox
from sayso.server.log_context import log_ids
from sayso.server.policy.judge import Judgement
from sayso.server.runtimes.calls.function import CallFunction
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.runtime import Ending
from sayso.server.store.decisions import NetworkUsed
from sayso.server.store.records import (
    Call,
    Changes,
    InterpretersEnded,
    RunIntended,
    RunReported,
)
from sayso.server.undo.checkpointer import Checkpointer

_READ_AT_ONCE_CHARS: Final = 2_000
"""A policy reads these in a few milliseconds; longer code is read beside the rest."""

_REFUSALS: Final = {
    "no": server_notes.SAID_NO,
    "expired": server_notes.SAID_NOTHING,
    "too_long": server_notes.TOO_LONG,
}
_TOLD: Final = {
    **dict.fromkeys(_REFUSALS.values(), server_notes.DID_NOT_RUN),
    server_notes.UNREADABLE: "It did not run: it could not be read.",
    server_notes.TOO_LONG: "It did not run: it is too long to be shown whole.",
}
"""What the person is told where the sentence above is for the model."""
_WRONG: Final = "It did not run: the model gave it wrong arguments."
_NOT_OPENED: Final = "It did not run: it needs what was not opened."
_NO_ENDING: Final = "It ended without saying how."


class CodeExecutor:
    """Performs the calls of one request."""

    def __init__(
        self,
        code_runner: CodeRunner,
        approvals: Approvals,
        record: ConversationRecord,
        tools: Toolbox,
        *,
        checkpointer: Checkpointer,
        permissions: Permissions,
        reckoning: RequestUsage,
        emit: Emit,
    ) -> None:
        self._journal = journal = record.journal
        self._outputs = record.outputs
        self._tools = tools
        self._code_runner = code_runner
        self._approvals = approvals
        self._checkpointer = checkpointer
        self._permissions = permissions
        self._reckoning = reckoning
        self._emit = emit
        self._access = AccessRequests(code_runner, permissions, approvals, journal, reckoning, emit)
        self._not_opened: set[str] = set()
        """What the person named in this request and did not open: they are not asked again."""

    async def perform(self, call: Call) -> None:
        """Run it, if it can be and may be. Raises LimitReached and StoreError."""
        with log_ids(run=call.id):
            await self._perform(call)

    async def _perform(self, call: Call) -> None:
        tool = self._tools.find(call.language)
        refusal, told = _why_not(tool, call)
        if refusal:
            await self._refuse(call, refusal, told)
        self._reckoning.before_run(call)
        if refusal:
            return
        if tool.kind == "reads":
            await self._answer(tool, call)
            return
        if closed := await self._close_what_changed():
            await self._refuse(call, f"It did not run. {closed}")
            return
        if tool.kind == "requests":
            await self._answer(tool, call)
            return
        if closed := await self._open_what_was_named(call):
            await self._refuse(call, closed, _NOT_OPENED)
            return
        if await self._permissions.settle(self._code_runner):
            await self._journal.note("server", InterpretersEnded())
        allowed = await self._allowed(tool, call)
        if isinstance(allowed, str):
            await self._refuse(call, allowed)
            return
        request, context = allowed
        # Nothing runs that is not written down before.
        code, where, binding = request.code, request.where, request.binding
        reach = self._code_runner.reach
        folders = (Path(where), *reach.writable(Path(where)))
        read = (*_outside(reach), *_brought_by(tool))
        outside = (*read, *await self._permissions.take_up(folders))
        await self._permissions.leave(folders, (*read, *_hosts(reach)))
        intended = RunIntended(call.id, request.language, code, where, binding, outside)
        await self._journal.note("server", intended)
        if hindrance := await self._checkpointer.before(call.id):
            await self._refuse(call, hindrance)
            return
        await self._emit(RunStarted(call.id, request.language, request.code))
        questions = HostQuestions(
            call, request.where, self._approvals, self._journal, self._reckoning, self._emit
        )
        await self._note_passages(call)
        try:
            with (
                self._permissions.outside_content.asked_by(questions.ask),
                nullcontext()
                if tool.outside
                else self._code_runner.offering(call.id, self._functions(questions)),
            ):
                await self._run(tool, call, request, context, questions)
        finally:
            await questions.withdraw()
            read = (*_outside(self._code_runner.reach), *_brought_by(tool))
            self._permissions.outside_content.read(read)
            await self._note_passages(call)
            await self._permissions.leave(folders)

    def _functions(self, questions: HostQuestions) -> Sequence[CallFunction]:
        """What the code of a run may call."""
        tell = Tell(RunProgress(self._journal).tell)
        asked = self._approvals.of_code
        if not asked.answerable:
            return (tell,)
        attention = questions.attention
        return tell, Ask(asked, self._journal, self._reckoning, attention, self._emit)

    async def _answer(self, tool: Tool, call: Call) -> None:
        """Run a tool that needs no approval or asks for it itself, and report what it tells."""
        context, told = self._context(call), ""
        try:
            async with closing(tool.run(tool.read(call.language, call.code), context)) as outputs:
                async for output in outputs:
                    told += "" if isinstance(output, Ending) else as_text(output)
        except ToolRefused as problem:
            report = RunReported(call.id, "refused", detail=str(problem))
        else:
            report = RunReported(call.id, "ok", output=told)
        await self._journal.note("server", report)

    def _context(self, call: Call, *, alone: bool = False) -> ToolContext:
        history = self._journal.history
        return ToolContext(call.id, history, self._outputs, self._access, alone)

    async def _close_what_changed(self) -> str:
        """What was closed just now, because it is not what was granted; in sentences."""
        told = await self._permissions.close_changed()
        for part in self._permissions.take_closed():
            await self._journal.note("server", taken_back(part, "", lasting=False))
        return told

    async def _open_what_was_named(self, call: Call) -> str:
        """Why it must not run: it needs what the person named, and they did not open it."""
        exchange, where = self._journal.history.exchanges[-1], self._code_runner.where
        named = [place for place in exchange.places if place not in self._not_opened]
        if not named:
            return ""
        asked, code = exchange.asked, call.code
        places = await asyncio.to_thread(needed, named, asked, call.language, code, where)
        closed = await self._access.offer(call.id, places) if places else ""
        if closed:
            self._not_opened.update(place.path for place in places)
        return closed

    async def _allowed(self, tool: Tool, call: Call) -> tuple[ApprovalRequest, ToolContext] | str:
        """What may run, as the person wants it, and what it works with; or why nothing may."""
        code = tool.write(tool.read(call.language, call.code))
        judged = await self._judged(tool, call.language, code)
        if judged.verdict == "deny":
            return judged.reason
        request = self._request(tool, call, code, judged.warnings)
        if not self._permissions.must_ask(judged):
            # An earlier run may have given the commands another meaning than the rule has for them.
            alone = self._permissions.mode == "ask" and judged.words_count
            return request, self._context(call, alone=alone)
        try:
            approval = await self._ask(tool, call, request)
            if not approval.allows:
                return _REFUSALS[approval.decision]
            if approval.decision == "edit":
                judged = await self._judged(tool, call.language, approval.request.code)
                if judged.verdict == "deny":
                    return judged.reason
        except ArgumentsError as problem:  # they are the person's, who changed them
            return str(problem)
        return approval.request, self._context(call)

    async def _judged(self, tool: Tool, language: str, code: str) -> Judgement:
        judge = partial(self._permissions.judge, language, code, outside=tool.outside)
        if len(code) <= _READ_AT_ONCE_CHARS:
            judged = judge()
        else:
            judged = await asyncio.to_thread(judge)
        return judged.and_stricter(tool.judge(tool.read(language, code)))

    async def _note_passages(self, call: Call) -> None:
        """What went over the network until now; before a run, by what an earlier one left."""
        passages = self._code_runner.take_passages()
        self._permissions.outside_content.read(each.host for each in passages if each.received)
        for each in passages:
            used = NetworkUsed(
                call.id, each.host, each.port, each.verdict, each.sent, each.received
            )
            await self._journal.note("runtime", used)

    async def named(self, text: str) -> tuple[str, ...]:
        """What the person names in a request that code may want opened, as whole paths."""
        if not self._permissions.opens_folders:
            return ()
        return await asyncio.to_thread(named_places, text)

    async def refuse_all(self, detail: str) -> None:
        """Note of all calls that nothing came of yet that nothing will."""
        for act in self._journal.history.open_acts:
            report = RunReported(act.call.id, "refused", detail=detail)
            await self._journal.note("server", report)

    def _request(
        self, tool: Tool, call: Call, code: str, warnings: tuple[str, ...]
    ) -> ApprovalRequest:
        may_touch = tool.may_touch(tool.read(call.language, code))
        definition = tool.definition_hash if tool.outside else ""
        if definition:
            seen = f"definition {definition[:SHOWN_OF_A_HASH]}"
            may_touch = (*may_touch, *filter(None, (tool.undo,)), seen)
        return ApprovalRequest(
            run=call.id,
            language=call.language,
            code=code,
            where=self._code_runner.where,
            may_touch=may_touch,
            warnings=warnings,
            tap=tool.outside or self._permissions.mode == "full",
            definition=definition,
        )

    async def _ask(self, tool: Tool, call: Call, request: ApprovalRequest) -> ApprovalDecision:
        """Ask until the answer is to what would run now: reach may change while it is asked. Raises
        ArgumentsError where what the person wrote instead is none of the tool's."""
        while True:
            with self._reckoning.paused():
                approval = await self._approvals.ask(request, self._emit)
            if not approval.allows:
                return approval
            now = self._request(tool, call, approval.request.code, request.warnings)
            if approval.covers(now):
                return approval
            request = now

    async def _run(
        self,
        tool: Tool,
        call: Call,
        request: ApprovalRequest,
        context: ToolContext,
        questions: HostQuestions,
    ) -> None:
        clock = asyncio.get_running_loop().time
        most = self._reckoning.limits.output_chars
        started, digest = clock(), Digest(most, call.id)
        recording = self._outputs.record(call.id, most)
        ending = Ending("died", 0.0, _NO_ENDING)
        try:
            arguments = tool.read(request.language, request.code)
            async with closing(tool.run(arguments, context)) as outputs:
                async for output in outputs:
                    if isinstance(output, Ending):
                        ending = output
                    else:
                        digest.take(output)
                        await recording.take(output, as_text(output))
                        await questions.quiet()
                        await self._emit(RunOutput(call.id, output))
            await questions.answered()
        except asyncio.CancelledError:
            detail = (
                server_notes.OUT_OF_TIME
                if self._reckoning.out_of_time
                else server_notes.INTERRUPTED
            )
            ending = Ending("interrupted", clock() - started, detail)
            ending, changes = await self._settled(call, ending)
            await recording.finish()
            await self._report(call, ending, digest.text, changes, recording.pictures)
            if self._reckoning.out_of_time:  # whoever interrupts listens no more; now they do
                await self._emit(_ended(call, ending, changes))
            raise
        ending, changes = await self._settled(call, ending)
        await recording.finish()
        await self._report(call, ending, digest.text, changes, recording.pictures)
        await self._emit(_ended(call, ending, changes))
        failure = "" if ending.status == "ok" else last_line(digest.text) or ending.detail
        self._reckoning.after_run(call, failure, digest.text)

    async def _settled(self, call: Call, ending: Ending) -> tuple[Ending, Changes]:
        """What the run changed, and its ending with what the server made of that."""
        changes = await self._checkpointer.after(call.id)
        return replace(ending, detail=f"{ending.detail} {changes.note}".strip()), changes

    async def _report(
        self,
        call: Call,
        ending: Ending,
        output: str,
        changes: Changes,
        pictures: tuple[str, ...],
    ) -> None:
        status, seconds, detail = ending.status, ending.seconds, ending.detail
        report = RunReported(call.id, status, seconds, detail, output, changes, pictures)
        await self._journal.note("runtime", report)

    async def _refuse(self, call: Call, detail: str, told: str = "") -> None:
        await self._journal.note("server", RunReported(call.id, "refused", detail=detail))
        await self._emit(RunEnded(call.id, "refused", 0.0, told or _TOLD.get(detail, detail)))


def _why_not(tool: Tool, call: Call) -> tuple[str, str]:
    """Why it can't be carried out, for the model, and in other words for the person."""
    if not call.code.strip():
        return server_notes.UNREADABLE, ""
    if hindrance := tool.hindrance(call.language):
        return hindrance, ""
    try:
        tool.read(call.language, call.code)
    except ArgumentsError as problem:
        return str(problem), _WRONG
    return "", ""


def _brought_by(tool: Tool) -> Iterator[str]:
    """The untrusted content in what the tool returns."""
    if tool.outside:
        yield f"the tool {tool.name}"


def _outside(reach: Grants) -> Iterator[str]:
    """What code could read besides its workspace and the system."""
    yield from (str(each.path) for each in reach.folders)
    if reach.everything:
        yield "this machine, without a sandbox"


def _hosts(reach: Grants) -> Iterator[str]:
    """Where code could fetch something, at any time while its interpreter lives."""
    yield from reach.hosts
    if reach.network:
        yield "the network"


def _ended(call: Call, ending: Ending, changes: Changes) -> RunEnded:
    return RunEnded(call.id, ending.status, ending.seconds, ending.detail, changes)
