"""Acting on a call: the person's say-so, the intention written down, the run, the report."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from sayso.server.agent.calls.ask import Ask
from sayso.server.agent.calls.tell import Tell
from sayso.server.agent.event_stream import Emit
from sayso.server.agent.events import RunEnded, RunOutput, RunStarted
from sayso.server.agent.jobs.progress import RunProgress
from sayso.server.agent.limits import RequestUsage, last_line
from sayso.server.agent.permissions.access_requests import AccessRequests
from sayso.server.agent.permissions.access_syntax import LANGUAGE
from sayso.server.agent.permissions.approvals import ApprovalDecision, ApprovalRequest, Approvals
from sayso.server.agent.permissions.host_questions import HostQuestions
from sayso.server.agent.permissions.mentioned_paths import named_places, needed
from sayso.server.agent.permissions.modes import Permissions, Reachable
from sayso.server.agent.prompt import server_notes
from sayso.server.agent.prompt.output_digest import Digest, as_text
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.conversation_settings import taken_back
from sayso.server.agent.stream_closing import closing
from sayso.server.log_context import log_ids
from sayso.server.policy.judge import Judgement
from sayso.server.runtimes.access import Grants
from sayso.server.runtimes.calls.function import CallFunction
from sayso.server.runtimes.network.traffic_record import Transfer
from sayso.server.runtimes.runtime import Ending, Output
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
_NOT_OPENED: Final = "It did not run: it needs what was not opened."
_NO_ENDING: Final = "It ended without saying how."


class CodeRunner(Reachable, Protocol):
    """Where the code of one conversation runs, as far as the agent needs it."""

    @property
    def languages(self) -> Sequence[str]: ...

    @property
    def aliases(self) -> Mapping[str, str]:
        """What else the languages are called, to their names."""
        ...

    @property
    def refusal(self) -> str:
        """Why no code runs here, in words for the person; empty where code runs."""
        ...

    def take_passages(self) -> Sequence[Transfer]:
        """What went over the network since this was last asked."""
        ...

    def may_touch(self, language: str) -> tuple[str, ...]:
        """What code could touch, in words for the person."""
        ...

    def run(self, language: str, code: str) -> AsyncIterator[Output | Ending]:
        """Run code. Leaving the iteration early interrupts it."""
        ...

    def run_alone(self, language: str, code: str) -> AsyncIterator[Output | Ending]:
        """The same, in a new interpreter that ends with it."""
        ...

    def offering(self, run: str, functions: Sequence[CallFunction]) -> AbstractContextManager[None]:
        """Let the code of the run that begins within call these functions."""
        ...


class CodeExecutor:
    """Performs the calls of one request."""

    def __init__(
        self,
        code_runner: CodeRunner,
        approvals: Approvals,
        record: ConversationRecord,
        *,
        checkpointer: Checkpointer,
        permissions: Permissions,
        reckoning: RequestUsage,
        emit: Emit,
    ) -> None:
        self._journal = journal = record.journal
        self._outputs = record.outputs
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
        refusal = self._why_not(call)
        if refusal:
            await self._refuse(call, refusal)
        self._reckoning.before_run(call)
        if refusal:
            return
        if closed := await self._close_what_changed():
            await self._refuse(call, f"It did not run. {closed}")
            return
        if call.language == LANGUAGE:
            await self._access.perform(call)
            return
        if closed := await self._open_what_was_named(call):
            await self._refuse(call, closed, _NOT_OPENED)
            return
        if await self._permissions.settle(self._code_runner):
            await self._journal.note("server", InterpretersEnded())
        allowed = await self._allowed(call)
        if isinstance(allowed, str):
            await self._refuse(call, allowed)
            return
        request, alone = allowed
        # Nothing runs that is not written down before.
        code, where, binding = request.code, request.where, request.binding
        reach = self._code_runner.reach
        folders = (Path(where), *reach.writable(Path(where)))
        outside = (*_outside(reach), *await self._permissions.take_up(folders))
        await self._permissions.leave(folders, (*_outside(reach), *_hosts(reach)))
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
                self._code_runner.offering(call.id, self._functions(questions)),
            ):
                await self._run(call, request, questions, alone=alone)
        finally:
            await questions.withdraw()
            self._permissions.outside_content.read(_outside(self._code_runner.reach))
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
        closed = await self._access.offer(call, places) if places else ""
        if closed:
            self._not_opened.update(place.path for place in places)
        return closed

    async def _allowed(self, call: Call) -> tuple[ApprovalRequest, bool] | str:
        """What may run, as the person wants it, and whether apart from what earlier runs left; or
        why nothing may."""
        judged = await self._judged(call.language, call.code)
        if judged.verdict == "deny":
            return judged.reason
        request = self._request(call, call.code, judged.warnings)
        if not self._permissions.must_ask(judged):
            # An earlier run may have given the commands another meaning than the rule has for them.
            return request, self._permissions.mode == "ask" and judged.words_count
        approval = await self._ask(request)
        if not approval.allows:
            return _REFUSALS[approval.decision]
        if approval.decision == "edit":
            judged = await self._judged(call.language, approval.request.code)
            if judged.verdict == "deny":
                return judged.reason
        return approval.request, False

    async def _judged(self, language: str, code: str) -> Judgement:
        if len(code) <= _READ_AT_ONCE_CHARS:
            return self._permissions.judge(language, code)
        return await asyncio.to_thread(self._permissions.judge, language, code)

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

    def _why_not(self, call: Call) -> str:
        if not call.code.strip():
            return server_notes.UNREADABLE
        if self._code_runner.refusal:
            return self._code_runner.refusal
        if call.language != LANGUAGE and call.language not in self._code_runner.languages:
            here = ", ".join(self._code_runner.languages)
            return f"{call.language} does not run here; these do: {here}."
        return ""

    def _request(self, call: Call, code: str, warnings: tuple[str, ...]) -> ApprovalRequest:
        return ApprovalRequest(
            run=call.id,
            language=call.language,
            code=code,
            where=self._code_runner.where,
            may_touch=self._code_runner.may_touch(call.language),
            warnings=warnings,
            tap=self._permissions.mode == "full",
        )

    async def _ask(self, request: ApprovalRequest) -> ApprovalDecision:
        """Ask until the answer is to what would run now: reach may change while it is asked."""
        while True:
            with self._reckoning.paused():
                approval = await self._approvals.ask(request, self._emit)
            now = ApprovalRequest(
                run=request.run,
                language=request.language,
                code=approval.request.code,
                where=self._code_runner.where,
                may_touch=self._code_runner.may_touch(request.language),
                warnings=request.warnings,
                tap=request.tap,
            )
            if not approval.allows or approval.covers(now):
                return approval
            request = now

    async def _run(
        self, call: Call, request: ApprovalRequest, questions: HostQuestions, *, alone: bool
    ) -> None:
        clock = asyncio.get_running_loop().time
        most = self._reckoning.limits.output_chars
        started, digest = clock(), Digest(most, call.id)
        recording = self._outputs.record(call.id, most)
        ending = Ending("died", 0.0, _NO_ENDING)
        try:
            run = self._code_runner.run_alone if alone else self._code_runner.run
            async with closing(run(request.language, request.code)) as outputs:
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
