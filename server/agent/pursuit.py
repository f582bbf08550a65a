"""The loop: the model says what it thinks and writes code, the person says whether it may run,
its output goes back to the model, until the model answers without code.
"""

import asyncio
import posixpath
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final

from sayso.server.agent.event_stream import Emit
from sayso.server.agent.events import ReplyDelta, SteersGiven, WorkDone, WorkFailed
from sayso.server.agent.execution import CodeExecutor
from sayso.server.agent.limits import LimitReached, RequestUsage
from sayso.server.agent.llm.embedded.answers import checked, plain_answer
from sayso.server.agent.llm.model import ModelError
from sayso.server.agent.permissions.hooks import SENT_BACK_MOST
from sayso.server.agent.prompt import server_notes
from sayso.server.agent.prompt.profiles import PlainAnswers
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.draft import Draft
from sayso.server.agent.record.test_evidence import contradiction, edited_tests
from sayso.server.agent.reply import Replier
from sayso.server.agent.request_situation import RequestSituation
from sayso.server.agent.spending import says_yes
from sayso.server.agent.steering import Steering, StopWanted
from sayso.server.store.errors import StoreError
from sayso.server.store.records import (
    Answered,
    Asked,
    Call,
    Failed,
    Interrupted,
)
from sayso.server.store.steering import DayExtended, SentBack


class Pursuit:
    """One request, from what the person asked to one of its ends."""

    def __init__(
        self,
        record: ConversationRecord,
        replier: Replier,
        performer: CodeExecutor,
        reckoning: RequestUsage,
        emit: Emit,
        *,
        answers: PlainAnswers | None,
        steering: Steering,
        situation: RequestSituation,
    ) -> None:
        self._journal = record.journal
        self._replier = replier
        self._performer = performer
        self._reckoning = reckoning
        self._emit = emit
        self._answers = answers
        self._steering = steering
        self._situation = situation
        self._given = 0
        """How much of what the person said meanwhile the model was told."""
        self._draft = Draft(record.journal)
        self._sent_back = 0
        """How often hooks did not take the answer."""
        self._pause = ""
        """What parts the next words from those of an earlier step."""

    async def do(self, text: str, by: str, *, may_extend: bool) -> None:
        """Pursue a request to one of its ends. `may_extend`: its words may let a day go on."""

        async def begin() -> None:
            if self._journal.history.open_acts:
                await self._performer.refuse_all(server_notes.WANTED_ELSE)
                await self._journal.withdraw_questions()
            places = await self._performer.named(text)
            seen = await self._situation.observed(text, by)
            look = await self._performer.first_look(text)
            parts = (self._performer.told_with(text), look.text, seen.words)
            told = "\n\n".join(filter(None, parts))
            asked = Asked(text, by, places, seen.situation, seen.pictures, told, look.outside)
            await self._journal.note("person", asked)
            agreed = may_extend and says_yes(text)
            self._reckoning.agreed_to_cost = agreed
            if agreed and self._reckoning.day_is_over:
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
                await self._ask_back(str(limit), server_notes.ASKED_BACK)
            except StopWanted as stop:
                await self._ask_back(str(stop), server_notes.STOPPED_HERE)
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
            async with self._reckoning.clock:
                await begin()
                while await self._goes_on(calls := (await self._listen()).calls):
                    await self._perform(calls)
                    if calls and self._answers:
                        await self._account_for(calls[-1], self._answers)
                        return
                await self._contradict()
        except TimeoutError:
            raise self._reckoning.time_is_up() from None

    async def _goes_on(self, calls: Sequence[Call]) -> bool:
        """Whether the request is not done yet with a reply that wants this run."""
        if calls:
            return True
        if not self._steering.untold and await self._is_sent_back():
            return True
        return not self._steering.close()

    async def _is_sent_back(self) -> bool:
        """Whether a hook of the person's does not take the answer. The others' words are said."""
        words = await self._performer.at_end()
        sent_back = False
        for one in words:
            if not one.sends_back:
                await self._say_more(one.text)
            elif self._sent_back < SENT_BACK_MOST and not self._answers:
                await self._journal.note("server", SentBack(one.hook, one.text))
                sent_back = True
            else:
                await self._say_more(f"The hook {one.hook} does not take that: {one.text}")
        self._sent_back += sent_back
        return sent_back

    async def _say_more(self, text: str) -> None:
        """Say something of the server's own below an answer."""
        self._pause = self._pause or "\n\n"
        await self._say(text)
        await self._journal.note("server", Answered(text))

    async def _perform(self, calls: Sequence[Call]) -> None:
        """Perform what a reply wants, as far as the person says nothing to it."""
        for call in calls:
            self._steering.check_stop()
            if self._steering.untold:
                await self._performer.refuse_all(server_notes.STEERED)
                return
            await self._performer.perform(call)
            if self._performer.has_news:
                self._performer.has_news = False
                await self._performer.refuse_all(server_notes.NOW_FOLLOWS)
                return
        if calls:
            self._steering.check_stop()

    async def _contradict(self) -> None:
        """Say it where the answer claims what no test has shown, and which tests were changed."""
        exchange = self._journal.history.exchanges[-1]
        answer = exchange.steps[-1].text if exchange.steps else ""
        untested = contradiction(exchange, answer)
        if untested:
            await self._journal.note("server", untested)
        told = [untested.told] if untested else []
        if exchange.tested and (edited := edited_tests(exchange)):
            names = ", ".join(posixpath.basename(path) for path in edited[:_TESTS_NAMED])
            told.append(f"Tests were changed for it: {names}.")
        if told:
            await self._say(" ".join(told))
            await self._journal.note("server", Answered(" ".join(told)))

    async def _listen(self) -> Answered:
        """Let the model reply, and say its words as they come."""
        exchange = self._journal.history.exchanges[-1]
        await self._give(len(exchange.steers))
        answer = await self._replier.take(self._say)
        await self._keep(answer)
        await self._give(answer.steers)
        return answer

    async def _give(self, steers: int) -> None:
        """The model is told so much of what the person said meanwhile, in all."""
        if steers > self._given:
            await self._emit(SteersGiven(steers - self._given))
            self._given = steers

    async def _account_for(self, call: Call, answers: PlainAnswers) -> None:
        """Say what came of a call, for a model that is too small to be trusted with it."""
        exchange = self._journal.history.exchanges[-1]
        act = exchange.act(call.id)
        answer = Answered(_GOES_ON if act.detached else plain_answer(act, answers))
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
            await self._emit(ReplyDelta(self._pause + text))
            self._pause = ""
            await self._draft.grew(text)

    async def _ask_back(self, question: str, detail: str) -> None:
        """It goes no further by itself: the person may say "go on"."""
        await self._performer.refuse_all(detail)
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


_TESTS_NAMED: Final = 3
"""In one sentence, which is said aloud."""

_GOES_ON: Final = "It goes on in the background, and I tell you when it ends."


async def _to_nobody(_text: str) -> None:
    """Where words go that are to be checked before they are said."""
