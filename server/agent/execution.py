"""Executes one call of the model: asks for approval, logs the intention, runs, reports."""

import asyncio
import re
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from sayso.server.agent.calls.asked_person import AskedPerson
from sayso.server.agent.calls.offered import offered
from sayso.server.agent.calls.tool_function import CallServices
from sayso.server.agent.event_stream import Emit
from sayso.server.agent.events import Announce, CodeEnd, CodeStart, TimeAsked
from sayso.server.agent.hooked_checkpointer import HookedCheckpointer
from sayso.server.agent.jobs.background_runs import BackgroundRuns
from sayso.server.agent.jobs.code_run import CodeRun
from sayso.server.agent.jobs.run_progress import JOB_AFTER_S
from sayso.server.agent.limits import RequestUsage
from sayso.server.agent.permissions.access_requests import AccessRequests
from sayso.server.agent.permissions.approvals import Approvals, Proposal
from sayso.server.agent.permissions.hooks import HookEvent, HookWords
from sayso.server.agent.permissions.host_reapproval import HostReapproval
from sayso.server.agent.permissions.mentioned_paths import named_places, needed
from sayso.server.agent.permissions.network_use import NetworkUse
from sayso.server.agent.permissions.outside_content import fetched_from, read_besides
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.permissions.preparing import prepared
from sayso.server.agent.permissions.run_questions import REFUSALS, RunQuestions
from sayso.server.agent.prompt import server_notes
from sayso.server.agent.prompt.output_digest import as_text
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.conversation_settings import taken_back
from sayso.server.agent.stream_closing import closing
from sayso.server.agent.tools.first_look import FirstLook, first_look
from sayso.server.agent.tools.run_code import CodeRunner
from sayso.server.agent.tools.tool import (
    Arguments,
    ArgumentsError,
    Tool,
    ToolContext,
    ToolRefused,
)
from sayso.server.agent.tools.toolbox import Toolbox
from sayso.server.log_context import log_ids
from sayso.server.runtimes.calls.function import CallFunction
from sayso.server.runtimes.programs.programs import RunPrograms
from sayso.server.runtimes.runtime import Ending
from sayso.server.store.records import Call, InterpretersEnded, RunIntended, RunReported
from sayso.server.undo.checkpointer import NoCheckpoints

_TOLD: Final = {
    **dict.fromkeys(REFUSALS.values(), server_notes.DID_NOT_RUN),
    server_notes.UNREADABLE: "It did not run: it could not be read.",
    server_notes.UNKNOWN_TOOL: "It did not run: the model called a tool that there is not.",
    server_notes.NOW_FOLLOWS: "It did not run: first come the instructions that you allowed.",
    server_notes.TOO_LONG: "It did not run: it is too long to be shown whole.",
}
"""What the person is told where the sentence above is for the model."""
_WRONG: Final = "It did not run: the model gave it wrong arguments."
_NOT_OPENED: Final = "It did not run: it needs what was not opened."
GOES_ON: Final = "It goes on in the background, as the job {job}."

BACKGROUND_AFTER_S: Final = 2.0
"""Of a request that is to be done in the background: what takes less is done at once, so that the
model sees what came of it."""

_BACKGROUND: Final = re.compile(r"\bin (?:the )?background\b", re.IGNORECASE)


class CodeExecutor:
    """Performs the calls of one request."""

    def __init__(
        self,
        code_runner: CodeRunner,
        approvals: Approvals,
        record: ConversationRecord,
        tools: Toolbox,
        *,
        runs: BackgroundRuns,
        permissions: Permissions,
        reckoning: RequestUsage,
        emit: Emit,
    ) -> None:
        self._record = record
        self._journal = journal = record.journal
        self._tools = tools
        self._code_runner = code_runner
        self._approvals = approvals
        self._runs = runs
        self._permissions = permissions
        self._reckoning = reckoning
        self._emit = emit
        self._access = AccessRequests(code_runner, permissions, approvals, journal, reckoning, emit)
        self._network = NetworkUse(code_runner, permissions, journal, self._access)
        self._questions = RunQuestions(
            approvals, permissions, reckoning, emit, lambda: code_runner.where
        )
        self.has_news = False
        """The person has just had it follow instructions, which the model has to be told before it
        does anything more."""
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
        looks = tool.kind == "looks" or tool.shown
        self._reckoning.before_run(call, looks=looks, small=tool.small_steps)
        if refusal:
            return
        if tool.kind == "reads":
            await self._answer(tool, call)
            return
        by_strangers = self._permissions.outside_content.why if tool.kind == "keeps" else ""
        if closed := by_strangers or await self._close_what_changed():
            await self._refuse(call, f"It did not run. {closed}")
            return
        if tool.kind in ("keeps", "requests"):
            await self._answer(tool, call)
            return
        await self._run(tool, call)

    async def _run(self, tool: Tool, call: Call) -> None:
        """Carry out what is recorded and shown as code is."""
        if not tool.outside:
            self.has_news = await self._access.offer_instructions(call.id)
        if self.has_news and tool.kind != "looks":
            await self._refuse(call, server_notes.NOW_FOLLOWS)
            return
        if closed := await self._open_what_was_named(call):
            await self._refuse(call, closed, _NOT_OPENED)
            return
        if await self._permissions.settle(self._code_runner):
            await self._journal.note("server", InterpretersEnded())
        context = self._context(call)
        arguments = await self._prepared(tool, call, context)
        if arguments is None:
            return
        allowed = await self._questions.allowed(tool, call, arguments)
        if isinstance(allowed, str):
            await self._refuse(call, allowed)
            return
        request = allowed.request
        # What is granted or taken back from now on changes nothing of what this run reaches.
        context = replace(context, alone=allowed.alone, programs=self._programs)
        # Nothing runs that is not written down before.
        code, where, binding = request.code, request.where, request.binding
        reach = self._code_runner.reach
        folders = (Path(where), *reach.writable(Path(where)))
        read = (*read_besides(reach), *_brought_by(tool))
        outside = (*read, *await self._permissions.take_up(folders))
        await self._permissions.leave(folders, (*read, *fetched_from(reach)))
        by_tool = code == tool.write(arguments) != call.code
        intended = RunIntended(
            call.id, request.language, code, where, binding, outside, by_tool, allowed.under
        )
        await self._journal.note("server", intended)
        checkpointer = NoCheckpoints() if tool.kind == "looks" else self._runs.checkpointer
        if hindrance := await checkpointer.before(call.id):
            await self._refuse(call, hindrance)
            return
        await self._emit(CodeStart(call.id, request.language, request.code))
        questions = HostReapproval(
            call, request.where, self._approvals, self._journal, self._reckoning, self._emit
        )
        await self._network.note(call.id)
        set_aside = partial(self._code_runner.set_aside, request.language)
        run = CodeRun(
            call,
            self._record,
            HookedCheckpointer(checkpointer, self._permissions.hooks, where),
            self._reckoning,
            self._emit,
            set_aside if tool.runs_code else (lambda: False),
            lambda: self._code_runner.ended_commands if tool.runs_code else (),
        )
        await self._see_through(run, self._live(run, call, tool, request, context, questions))

    async def _prepared(self, tool: Tool, call: Call, context: ToolContext) -> Arguments | None:
        """What is asked about; None if nobody is, because it can't be done."""
        try:
            arguments = tool.read(call.language, call.code)
            return await prepared(tool, arguments, context, self._permissions)
        except ToolRefused as problem:
            # The model is told of what is there, which strangers may have written.
            self._permissions.outside_content.read(read_besides(self._code_runner.reach))
            why = str(problem)
            await self._refuse(call, why, problem.told)
            self._reckoning.after_run(call, "", why)
            return None

    async def _see_through(self, run: CodeRun, work: Coroutine[None, None, None]) -> None:
        """Let it run until it is over, or goes on in the background."""
        clock, asking = self._reckoning.clock, asyncio.create_task(self._accompany(run))
        clock.hand_over = lambda: not self._runs.leave(run)
        try:
            job = await self._runs.see_through(run, work)
        except asyncio.CancelledError:
            if self._reckoning.out_of_time and run.over:  # who interrupts listens no more
                await self._emit(run.over)
            raise
        finally:
            clock.hand_over = None
            asking.cancel()
        if job:
            # What it has said so far is told to the model now, and not when it is over.
            self._permissions.outside_content.read(read_besides(self._code_runner.reach))
            await self._emit(CodeEnd(run.id, "ok", run.seconds, GOES_ON.format(job=job), job=job))
            if clock.handed_over:
                raise self._reckoning.goes_on_without()
        elif run.over:
            await self._emit(run.over)
            self._reckoning.after_run(run.call, run.failure, run.output)
            if clock.handed_over:  # it ended in the same moment
                raise self._reckoning.time_is_up()

    async def _accompany(self, run: CodeRun) -> None:
        """Send it to the background where the person said so, and ask them before its time is up;
        until cancelled."""
        if is_for_background(self._journal.history.exchanges[-1].asked):
            await asyncio.sleep(BACKGROUND_AFTER_S)
            if why := self._runs.leave(run):
                await self._emit(Announce(why))
        await asyncio.sleep(max(0.0, JOB_AFTER_S - run.seconds))
        clock = self._reckoning.clock
        while True:
            await clock.soon.wait()
            await self._emit(TimeAsked(self._reckoning.time_question))
            await clock.anew.wait()

    async def _live(
        self,
        run: CodeRun,
        call: Call,
        tool: Tool,
        request: Proposal,
        context: ToolContext,
        questions: HostReapproval,
    ) -> None:
        """A run, with all that it may ask for and that is looked at after it."""
        reach = self._code_runner.reach
        folders = (Path(request.where), *reach.writable(Path(request.where)))
        read = (*read_besides(reach), *_brought_by(tool))
        marks = self._permissions.outside_content
        person = AskedPerson(questions, self._approvals, self._journal, self._reckoning, run.left)
        context = replace(context, left=run.left, person=person)
        functions = self._functions(run, request, context, questions)
        try:
            with (
                marks.asked_by(questions.ask, run.left),
                self._code_runner.offering(call.id, functions) if tool.runs_code else nullcontext(),
            ):
                arguments = tool.read(request.language, request.code)
                await run.perform(tool, arguments, context, questions, self._network)
        finally:
            await questions.withdraw()
            marks.read(read)
            await self._network.note(call.id)
            await self._permissions.leave(folders)

    def _functions(
        self, run: CodeRun, request: Proposal, context: ToolContext, questions: HostReapproval
    ) -> Sequence[CallFunction]:
        """What the code of a run may call."""
        services = CallServices(
            context,
            request.where,
            self._approvals,
            self._permissions,
            self._journal,
            self._reckoning,
            questions.attention,
            self._emit,
        )
        leave = partial(self._runs.leave, run)
        return offered(services, self._tools.in_code, request.code, run.progress, leave)

    async def _answer(self, tool: Tool, call: Call) -> None:
        """Run a tool that needs no approval or asks for it itself, and report what it tells."""
        context, told = self._context(call), ""
        if tool.shown:
            shown = tool.write(tool.read(call.language, call.code))
            await self._emit(CodeStart(call.id, tool.name, shown))
        try:
            async with closing(tool.run(tool.read(call.language, call.code), context)) as outputs:
                async for output in outputs:
                    told += "" if isinstance(output, Ending) else as_text(output)
        except ToolRefused as problem:
            report = RunReported(call.id, "refused", detail=str(problem))
        else:
            report = RunReported(call.id, "ok", output=told)
        await self._journal.note("server", report)
        if tool.shown:
            await self._emit(CodeEnd(call.id, report.status, 0.0, report.detail))

    def _context(self, call: Call) -> ToolContext:
        return ToolContext(
            call.id,
            self._journal.history,
            self._record.outputs,
            self._access,
            programs=self._programs,
            where=self._code_runner.where,
            note=partial(self._journal.note, "runtime"),
            usage=self._reckoning,
            parts=self._runs.parts,
        )

    @property
    def _programs(self) -> RunPrograms | None:
        runner = self._code_runner
        return None if runner.refusal else RunPrograms(runner.programs, runner.reach)

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

    async def at_end(self) -> tuple[HookWords, ...]:
        """What the person's hooks say of the answer to the latest request."""
        exchange = self._journal.history.exchanges[-1]
        answer = exchange.steps[-1].text if exchange.steps else ""
        event = HookEvent(self._code_runner.where, asked=exchange.asked, answer=answer)
        return await self._permissions.hooks.at_end(event)

    def told_with(self, text: str) -> str:
        """What of the person's own the model is told with this request."""
        return self._tools.told_with(text)

    async def first_look(self, text: str) -> FirstLook:
        """What the model is told unasked of the folder where code runs, with this request."""
        context = self._context(Call("", "", ""))
        return await first_look(self._tools.first, text, context, self._permissions)

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

    async def _refuse(self, call: Call, detail: str, told: str = "") -> None:
        await self._journal.note("server", RunReported(call.id, "refused", detail=detail))
        await self._emit(CodeEnd(call.id, "refused", 0.0, told or _TOLD.get(detail, detail)))


def _why_not(tool: Tool, call: Call) -> tuple[str, str]:
    """Why it can't be carried out, for the model, and in other words for the person."""
    if not call.code.strip():
        return (server_notes.UNKNOWN_TOOL if call.called else server_notes.UNREADABLE), ""
    if hindrance := tool.hindrance(call.language):
        return hindrance, ""
    try:
        tool.read(call.language, call.code)
    except ArgumentsError as problem:
        return str(problem), _WRONG
    return "", ""


def is_for_background(asked: str) -> bool:
    """Whether a person wants what they ask for done beside what else they do."""
    return _BACKGROUND.search(asked) is not None


def _brought_by(tool: Tool) -> Iterator[str]:
    """The untrusted content in what the tool returns."""
    if tool.brings:
        yield tool.brings
