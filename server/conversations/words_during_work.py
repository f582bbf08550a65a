"""Performs what the turn wants done with what is said while a request is worked on."""

import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial

from sayso.server.agent.jobs.job import Job
from sayso.server.agent.loop import Agent
from sayso.server.conversations.transcript import Transcript
from sayso.server.store.errors import StoreError
from sayso.server.turn import effects, events
from sayso.server.turn.events import Event, Ticket

log = logging.getLogger(__name__)

Performed = effects.Steer | effects.StopAfter | effects.AnswerAside | effects.ExplainCode

Reflexes = Callable[[str, str], Awaitable[str | None]]
"""Answers text of a device without a language model, if it can."""

Begin = Callable[[Coroutine[None, None, None]], object]
"""Starts a task of the conversation's."""


class DuringWork:
    """Of one conversation."""

    def __init__(
        self,
        agent: Agent,
        transcript: Transcript,
        reflexes: Reflexes,
        how_far: Callable[[str], str],
        begin: Begin,
        happened: Callable[[Event], None],
    ) -> None:
        self._agent = agent
        self._transcript = transcript
        self._reflexes = reflexes
        self._how_far = how_far
        self._begin = begin
        self._happened = happened
        self._begun = Ticket(0, 0), 0
        """The latest request, and how many there were before it."""
        self._in_background = False
        agent.jobs.watch(self._follow_background)

    def perform(self, effect: Performed) -> None:
        """Do it, or begin to."""
        match effect:
            case effects.Steer():
                self._steer(effect)
            case effects.StopAfter():
                self._agent.stop_after(partial(self._how_far, effect.device))
            case effects.AnswerAside():
                self._begin(self._answer(effect))
            case effects.ExplainCode():
                self._begin(self._explain(effect))

    def begins(self, effect: effects.Think) -> None:
        """A request begins to be worked on, or is taken up."""
        earlier = self._agent.jobs.turn
        self._begun = effect.ticket, earlier if effect.text else earlier - 1

    async def stop_what_was_left(self, effect: effects.StopThinking) -> None:
        """End what the request that was stopped has left in the background, and tell of it. One
        that was stopped before the agent had it has left nothing: the rest is another's."""
        ticket, earlier = self._begun
        turn = self._agent.jobs.turn
        if ticket != effect.ticket or turn <= earlier:
            return
        if ended := await self._agent.runs.stop_request(turn):
            self._happened(events.LeftEnded(effect.by, "; ".join(dict.fromkeys(ended))))

    def _follow_background(self, _: Job) -> None:
        if self._in_background is not (goes_on := bool(self._agent.jobs.in_background)):
            self._in_background = goes_on
            self._happened(events.BackgroundChanged(goes_on))

    def _steer(self, effect: effects.Steer) -> None:
        """Told in the same moment as it was decided: the work may end in the next."""
        ticket, text, device, spoken = effect.ticket, effect.text, effect.device, effect.spoken
        try:
            noting = self._agent.steer(text, device)
        except StoreError as problem:
            log.warning("what was said during work was not passed on: %s", problem)
            return
        if noting is None:
            self._happened(events.SteerTooLate(ticket, device, text, spoken))
        else:
            self._transcript.steered(ticket.turn, text)
            self._begin(self._acknowledge(effect, noting))

    async def _acknowledge(self, effect: effects.Steer, noting: Awaitable[object]) -> None:
        """It is told when it is safe. A disk that can't take it is told of by what works."""
        try:
            await noting
        except StoreError as problem:
            log.warning("what was said during work was not written down: %s", problem)
        self._happened(events.SteerKept(effect.ticket, effect.device, effect.spoken))

    async def _explain(self, effect: effects.ExplainCode) -> None:
        try:
            answer = await self._agent.explain(effect.text, effect.device)
        except StoreError as problem:
            answer = str(problem)
        told = events.AsideAnswered(
            effect.device, answer, effect.text, effect.spoken, by_model=True
        )
        self._happened(told)

    async def _answer(self, effect: effects.AnswerAside) -> None:
        text, device = effect.text, effect.device
        answer = await self._reflexes(text, device)
        self._happened(events.AsideAnswered(device, answer or "", text, effect.spoken))
