"""The agent of one conversation: works on its requests one at a time, each in the loop of
`pursuit.py`, and takes what the person says meanwhile.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Literal

from sayso.server.agent.event_stream import Emit, emitting
from sayso.server.agent.events import AgentEvent
from sayso.server.agent.execution import CodeExecutor
from sayso.server.agent.explanation import NO_ANSWER, Explanation
from sayso.server.agent.instructions.folder_instructions import WorkPlace
from sayso.server.agent.jobs.background_runs import BackgroundRuns
from sayso.server.agent.jobs.jobs import Jobs
from sayso.server.agent.limits import Budget, RequestUsage
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.permissions.approvals import Approvals
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.prompt.compaction import HISTORY_CHARS
from sayso.server.agent.prompt.messages import Prompt
from sayso.server.agent.prompt.redacted_messages import Outgoing
from sayso.server.agent.prompt.system_prompt import Facts
from sayso.server.agent.pursuit import Pursuit
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.agent.record.screen_turns import ScreenTurn
from sayso.server.agent.record.work_status import WorkStatus
from sayso.server.agent.reply import Replier
from sayso.server.agent.request_clock import RequestClock
from sayso.server.agent.request_situation import RequestSituation
from sayso.server.agent.spending import CostEstimate
from sayso.server.agent.steering import Steering
from sayso.server.agent.stream_closing import closing
from sayso.server.agent.tools.run_code import CodeRunner
from sayso.server.agent.tools.tool import Tool
from sayso.server.store.records import (
    Heard,
    SpeechBegan,
    SpokenOut,
    Withdrawn,
)
from sayso.server.store.steering import SaidBeside
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
        tools: Iterable[Tool] = (),
    ) -> None:
        """`tools`: gone through anew for each request."""
        self.permissions = permissions or Permissions()
        """What runs unasked, and what code may reach."""
        self._backend = backend
        self.use_code_runner(code_runner)
        self.approvals = approvals
        """What waits for the person's approval."""
        self._record = record
        self._journal = record.journal
        self.budget = budget or Budget()
        self.runs = BackgroundRuns(
            record.journal, checkpointer or NoCheckpoints(), self.budget.jobs
        )
        """What runs, and what goes on in the background."""
        self._clock: RequestClock | None = None
        self._guess = CostEstimate()
        self._outgoing = Outgoing()
        self._tools = tools
        self._told_at_most = HISTORY_CHARS
        """Less, once the model has said that it was too much."""
        self._one_at_a_time = asyncio.Lock()
        self._steering: Steering | None = None
        """Of the request that is worked on."""

    async def work(
        self, text: str, by: str = "", *, may_decide: bool = True
    ) -> AsyncGenerator[AgentEvent, None]:
        """Do what the person asks, and tell what happens, up to WorkDone or WorkFailed.
        `may_decide`: the device that it comes from may approve. From others, code in the mode full
        asks first.

        Cancelling the listener, or leaving the iteration (use `contextlib.aclosing`), stops the
        model and what runs, and leaves a history that says so.
        """

        may_extend = may_decide and self.permissions.opens_folders  # the day's money is the owner's
        pursue = partial(Pursuit.do, text=text, by=by, may_extend=may_extend)
        async with closing(self._work(pursue, asks_in_full=not may_decide)) as events:
            async for event in events:
                yield event

    def steer(self, text: str, by: str) -> Awaitable[object] | None:
        """Tell the model this about the request that it works on, before its next reply; None if
        it works on none, or can't be told. What is returned ends when the words are safe. Raises
        StoreError.
        """
        return self._steering.steer(text, by) if self._steering else None

    async def explain(self, question: str, by: str) -> str:
        """Answer this about code that waits for a yes, or runs, and let it. Raises StoreError."""
        prompt, model = self._prompt(), self._backend.model
        if prompt.answers:
            return NO_ANSWER
        if over := self.budget.day.question:
            return over
        explanation = Explanation(model, self._journal, prompt, self._outgoing, self._guess)
        return await explanation.answer(question, by)

    def stop_after(self, how_far: Callable[[], str]) -> None:
        """Stop the work when what runs now has ended, and say what `how_far` returns then."""
        if self._steering:
            self._steering.stop_after(how_far)

    @property
    def status(self) -> WorkStatus:
        """How far the latest request is."""
        return self._journal.progress.status(time.time())

    @property
    def past(self) -> Sequence[ScreenTurn]:
        """What screens had shown when the conversation was opened: its last turns."""
        return self._journal.screen_turns

    async def said_beside(self, text: str, asked: str = "", by: str = "") -> None:
        """Keep what stood on screens without a model. Raises StoreError."""
        await self._journal.note("server", SaidBeside(text, asked, by))

    @property
    def outputs(self) -> RunOutputs:
        """What runs put out and showed, on the disk."""
        return self._record.outputs

    @property
    def jobs(self) -> Jobs:
        """What goes on here that lasts."""
        return self._journal.jobs

    @property
    def loses_variables(self) -> bool:
        """Whether the next run finds new interpreters, because other confines hold by now."""
        there, wanted = self._code_runner.reach, self.permissions.reach
        return there.confines_otherwise(wanted) and self._journal.history.state_may_be_lost

    @property
    def waits(self) -> bool:
        """Whether a question was open when the server ended, for `take_up` to put again."""
        return self._journal.waits

    async def take_up(self) -> AsyncGenerator[AgentEvent, None]:
        """Go on where the server ended while it waited for the person; as `work` does."""
        # Whose request it was is not known any more: it is taken for one that may decide nothing.
        async with closing(self._work(Pursuit.take_up, asks_in_full=True)) as events:
            async for event in events:
                yield event

    async def _work(
        self, pursue: Callable[["Pursuit"], Awaitable[None]], *, asks_in_full: bool
    ) -> AsyncGenerator[AgentEvent, None]:
        async def do(emit: Emit) -> None:
            reckoning = RequestUsage(self.budget)
            self._clock = reckoning.clock
            performer = CodeExecutor(
                self._code_runner,
                self.approvals,
                self._record,
                prompt.toolbox,
                runs=self.runs,
                permissions=self.permissions,
                reckoning=reckoning,
                emit=emit,
            )
            model = self._backend.model
            replier = Replier(model, self._record, prompt, self._outgoing, reckoning, self._guess)
            self._steering = Steering(self._journal, takes_words=not prompt.answers)
            work = Pursuit(
                self._record,
                replier,
                performer,
                reckoning,
                emit,
                answers=prompt.answers,
                steering=self._steering,
                situation=RequestSituation(
                    self._record, self.permissions, self._code_runner, sees=model.sees
                ),
            )
            try:
                await pursue(work)
            finally:
                self._steering = None

        async with self._one_at_a_time:
            self.permissions.outside_content.new_request()
            self.permissions.task.begin(asks_in_full=asks_in_full)
            await self.look_for_instructions()
            prompt = self._prompt()
            try:
                async with closing(emitting(do)) as events:
                    async for event in events:
                        yield event
            finally:
                self.permissions.task.end()
            self._told_at_most = prompt.characters

    async def look_for_instructions(self) -> None:
        """See what the folders say that code works in, and follow what is trusted of it."""
        code_runner, permissions = self._code_runner, self.permissions
        if not code_runner.refusal:
            place = WorkPlace(code_runner.where, code_runner.identity, permissions.reach)
            await permissions.instructions.look(place)

    def use_time(self, how: Literal["anew", "background"]) -> str:
        """What is worked on gets as much time again, or what runs of it goes on in the background;
        why it does not, in a sentence."""
        if how == "background":
            return self.runs.send_foreground()
        if self._clock:
            self._clock.begin_anew()
        return ""

    def _prompt(self) -> Prompt:
        return Prompt(
            self._backend.profile,
            self._code_runner,
            calls_tools=self._backend.model.calls_tools,
            characters=self._told_at_most,
            tools=tuple(self._tools),
            facts=Facts(self._backend.model.sees, self.budget.request),
            instructions=self.permissions.instructions,
        )

    @property
    def backend(self) -> Backend:
        """Which model answers, and how it is talked to."""
        return self._backend

    @property
    def model_name(self) -> str:
        """Which model answers, for screens."""
        return self._backend.model.name

    def use_model(self, backend: Backend) -> None:
        """It answers from the next request on."""
        self._backend, self._guess = backend, CostEstimate()
        self._told_at_most = HISTORY_CHARS

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
