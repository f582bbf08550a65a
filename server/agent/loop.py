"""The loop: the model says what it thinks and writes code, the person says whether it may run,
its output goes back to the model, until the model answers without code.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from sayso.server.agent.event_stream import Emit, emitting
from sayso.server.agent.events import AgentEvent, Said, WorkDone, WorkFailed
from sayso.server.agent.execution import CodeExecutor
from sayso.server.agent.jobs.jobs import Jobs
from sayso.server.agent.limits import Budget, LimitReached, RequestUsage
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.llm.embedded.answers import checked, plain_answer
from sayso.server.agent.llm.model import ModelError
from sayso.server.agent.permissions.approvals import Approvals
from sayso.server.agent.permissions.modes import Permissions
from sayso.server.agent.prompt import server_notes
from sayso.server.agent.prompt.messages import Prompt
from sayso.server.agent.prompt.profiles import PlainAnswers
from sayso.server.agent.prompt.redacted_messages import Outgoing
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.draft import Draft
from sayso.server.agent.record.history import Exchange
from sayso.server.agent.reply import Replier
from sayso.server.agent.spending import CostEstimate, says_yes
from sayso.server.agent.stream_closing import closing
from sayso.server.agent.tools.run_code import CodeRunner
from sayso.server.agent.tools.tool import Tool
from sayso.server.store.errors import StoreError
from sayso.server.store.records import (
    Answered,
    Asked,
    Call,
    DayExtended,
    Failed,
    Heard,
    Interrupted,
    SpeechBegan,
    SpokenOut,
    Withdrawn,
)
from sayso.server.undo.checkpointer import Checkpointer, NoCheckpoints


class Agent:
    """Works on the requests of one conversation, one at a time."""

    def __init__(
        self,
        backend: Backend,
        code_runner: CodeRunner,
        approvals: Approvals,
        record: ConversationRecord,
        *,
        permissions: Permissions | None = None,
        checkpointer: Checkpointer | None = None,
        budget: Budget | None = None,
        tools: Sequence[Tool] = (),
    ) -> None:
        self.permissions = permissions or Permissions()
        """What runs unasked, and what code may reach."""
        self._backend = backend
        self.use_code_runner(code_runner)
        self.approvals = approvals
        """What waits for the person's approval."""
        self._record = record
        self._journal = record.journal
        self._checkpointer = checkpointer or NoCheckpoints()
        self.budget = budget or Budget()
        self._guess = CostEstimate()
        self._outgoing = Outgoing()
        self._tools = tools
        self._told_at_most = self.budget.request.history_chars
        """Less, once the model has said that it was too much."""
        self._one_at_a_time = asyncio.Lock()

    async def work(
        self, text: str, by: str = "", *, may_decide: bool = True
    ) -> AsyncGenerator[AgentEvent, None]:
        """Do what the person asks, and tell what happens, up to WorkDone or WorkFailed.
        `may_decide`: the device that it comes from may approve.

        Cancelling the listener, or leaving the iteration (use `contextlib.aclosing`), stops the
        model and what runs, and leaves a history that says so.
        """

        may_extend = may_decide and self.permissions.opens_folders  # the day's money is the owner's
        pursue = partial(_Work.do, text=text, by=by, may_extend=may_extend)
        async with closing(self._work(pursue)) as events:
            async for event in events:
                yield event

    @property
    def past(self) -> Sequence[Exchange]:
        """What was asked and done before, as far as it is held."""
        return self._journal.history.exchanges

    @property
    def jobs(self) -> Jobs:
        """What goes on here that lasts."""
        return self._journal.jobs

    @property
    def waits(self) -> bool:
        """Whether a question was open when the server ended, for `take_up` to put again."""
        return self._journal.waits

    async def take_up(self) -> AsyncGenerator[AgentEvent, None]:
        """Go on where the server ended while it waited for the person; as `work` does."""
        async with closing(self._work(_Work.take_up)) as events:
            async for event in events:
                yield event

    async def _work(
        self, pursue: Callable[["_Work"], Awaitable[None]]
    ) -> AsyncGenerator[AgentEvent, None]:
        async def do(emit: Emit) -> None:
            reckoning = RequestUsage(self.budget)
            performer = CodeExecutor(
                self._code_runner,
                self.approvals,
                self._record,
                prompt.toolbox,
                checkpointer=self._checkpointer,
                permissions=self.permissions,
                reckoning=reckoning,
                emit=emit,
            )
            model = self._backend.model
            replier = Replier(model, self._record, prompt, self._outgoing, reckoning, self._guess)
            work = _Work(self._record, replier, performer, reckoning, emit, prompt.answers)
            await pursue(work)

        async with self._one_at_a_time:
            self.permissions.outside_content.new_request()
            prompt = Prompt(
                self._backend.profile,
                self._code_runner,
                calls_tools=self._backend.model.calls_tools,
                characters=self._told_at_most,
                tools=self._tools,
            )
            async with closing(emitting(do)) as events:
                async for event in events:
                    yield event
            self._told_at_most = prompt.characters

    @property
    def model_name(self) -> str:
        """Which model answers, for screens."""
        return self._backend.model.name

    def use_model(self, backend: Backend) -> None:
        """It answers from the next request on."""
        self._backend, self._guess = backend, CostEstimate()
        self._told_at_most = self.budget.request.history_chars

    def use_code_runner(self, code_runner: CodeRunner) -> None:
        """Code runs there from the next request on."""
        code_runner.heed(self.permissions)
        self._code_runner = code_runner

    async def withdraw(self, text: str) -> None:
        """This request was never complete: the person went on with the same sentence.

        To be called when its work has ended, before the next. Raises StoreError.
        """
        exchanges = self._journal.history.exchanges
        if exchanges and exchanges[-1].asked == text:
            await self._journal.note("person", Withdrawn(text))

    async def began_to_speak(self, device: str) -> None:
        """The answer begins to be heard at this device. Raises StoreError."""
        await self._journal.note("server", SpeechBegan(device))

    async def spoke_out(self) -> None:
        """The last answer was heard to its end. Raises StoreError."""
        await self._journal.note("server", SpokenOut())

    async def heard(self, text: str) -> None:
        """The last answer was cut short in the speaking: the person heard only this much of it.

        To be called when its work has ended, before the next. Raises StoreError.
        """
        await self._journal.note("server", Heard(text))


class _Work:
    """One request."""

    def __init__(
        self,
        record: ConversationRecord,
        replier: Replier,
        performer: CodeExecutor,
        reckoning: RequestUsage,
        emit: Emit,
        answers: PlainAnswers | None,
    ) -> None:
        self._journal = record.journal
        self._replier = replier
        self._performer = performer
        self._reckoning = reckoning
        self._emit = emit
        self._answers = answers
        self._draft = Draft(record.journal)
        self._pause = ""
        """What parts the next words from those of an earlier step."""

    async def do(self, text: str, by: str, *, may_extend: bool) -> None:
        """Pursue a request to one of its ends. `may_extend`: its words may let a day go on."""

        async def begin() -> None:
            if self._journal.history.open_acts:
                await self._performer.refuse_all(server_notes.WANTED_ELSE)
                await self._journal.withdraw_questions()
            places = await self._performer.named(text)
            await self._journal.note("person", Asked(text, by, places))
            if may_extend and self._reckoning.day_is_over and says_yes(text):
                await self._journal.note("person", DayExtended(by))
            self._reckoning.check_day()

        await self._to_an_end(begin)

    async def take_up(self) -> None:
        """Ask again what was being asked when the server ended, and go on from there."""
        await self._to_an_end(self._ask_again)

    async def _ask_again(self) -> None:
        for act in self._journal.history.open_acts:
            await self._performer.perform(act.call)
        await self._journal.withdraw_questions()

    async def _to_an_end(self, begin: Callable[[], Awaitable[None]]) -> None:
        try:
            try:
                await self._pursue(begin)
            except LimitReached as limit:
                await self._ask_back(str(limit))
        except asyncio.CancelledError:
            await self._note_interruption()
            raise
        except ModelError as problem:
            await self._fail(WorkFailed(str(problem)))
        except StoreError as problem:
            await self._fail(WorkFailed(str(problem), "store_failed"))
        else:
            spent = self._reckoning
            await self._emit(WorkDone(spent.tokens_in, spent.tokens_out, spent.usd))

    async def _pursue(self, begin: Callable[[], Awaitable[None]]) -> None:
        """The loop."""
        try:
            async with self._reckoning.deadline:
                await begin()
                while calls := (await self._listen()).calls:
                    for call in calls:
                        await self._performer.perform(call)
                    if self._answers:
                        await self._account_for(calls[-1], self._answers)
                        return
        except TimeoutError:
            raise self._reckoning.time_is_up() from None

    async def _listen(self) -> Answered:
        """Let the model reply, and say its words as they come."""
        answer = await self._replier.take(self._say)
        await self._keep(answer)
        return answer

    async def _account_for(self, call: Call, answers: PlainAnswers) -> None:
        """Say what came of a call, for a model that is too small to be trusted with it."""
        exchange = self._journal.history.exchanges[-1]
        act = exchange.act(call.id)
        answer = Answered(plain_answer(act, answers))
        if not answer.text:
            reply = await self._replier.take(_to_nobody)
            text = checked(reply.text, exchange.asked, act, answers)
            answer = replace(reply, text=text, calls=())
        await self._say(answer.text)
        await self._keep(answer)

    async def _keep(self, answer: Answered) -> None:
        await self._journal.note("model" if answer.model else "server", answer)
        self._draft.ended()
        self._reckoning.after_reply(answer)
        self._pause = "\n\n" if answer.text else self._pause

    async def _say(self, text: str) -> None:
        if text:
            await self._emit(Said(self._pause + text))
            self._pause = ""
            await self._draft.grew(text)

    async def _ask_back(self, question: str) -> None:
        """A limit is no dead end: the person may say "go on"."""
        await self._performer.refuse_all(server_notes.ASKED_BACK)
        self._pause = self._pause or "\n\n"
        await self._say(question)
        await self._journal.note("server", Answered(question))

    async def _note_interruption(self) -> None:
        try:
            await self._performer.refuse_all(server_notes.INTERRUPTED_BEFORE)
            await self._journal.note("person", Interrupted())
        except StoreError:
            pass  # the history in memory is right; the log says so at the next start

    async def _fail(self, failure: WorkFailed) -> None:
        try:
            await self._performer.refuse_all(server_notes.DID_NOT_RUN)
            await self._journal.note("server", Failed(failure.message))
        except StoreError:
            pass
        await self._emit(failure)


async def _to_nobody(_text: str) -> None:
    """Where words go that are to be checked before they are said."""
