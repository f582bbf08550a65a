"""Drives one conversation: passes events to its turn machine, and performs the machine's effects.

devices --events--> machine --effects--> recognition, agent, synthesis, devices
                       ^                               |
                       +------------events-------------+
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Set
from dataclasses import asdict, replace
from functools import partial, singledispatchmethod

from sayso.protocol.messages import Announce, ApprovalRequest, Snapshot
from sayso.server.agent.loop import Agent
from sayso.server.agent.record.undo import UndoRequests
from sayso.server.agent.stream_closing import closing
from sayso.server.conversations.agent_events import JobUpdates, event_of
from sayso.server.conversations.approval_answers import Decided, hand_on
from sayso.server.conversations.files.artifacts import ConversationArtifacts
from sayso.server.conversations.preferences import Preferences
from sayso.server.conversations.reflexes.conversation_reflexes import ConversationReflexes
from sayso.server.conversations.reflexes.reflex_responder import ReflexResponder
from sayso.server.conversations.speaking import SpokenAnswers
from sayso.server.conversations.transcript import Transcript
from sayso.server.conversations.utterance_listener import UtteranceListener
from sayso.server.conversations.words_during_work import DuringWork, Performed
from sayso.server.device_requests.requests import DeviceRequests
from sayso.server.gateway.host import Outlet
from sayso.server.log_context import conversation_id, log_ids
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.speech import Speech
from sayso.server.store.errors import StoreError
from sayso.server.turn import effects, events
from sayso.server.turn.effects import Effect
from sayso.server.turn.events import Event, Ticket
from sayso.server.turn.machine import TurnMachine

log = logging.getLogger(__name__)

WORK_BROKE = "Something went wrong inside Sayso while it worked on that; please ask again."


class ConversationDriver:
    """One conversation and the devices that take part in it."""

    def __init__(
        self,
        name: str,
        speech: Speech,
        agent: Agent,
        undo_requests: UndoRequests,
        artifacts: ConversationArtifacts,
        responder: ReflexResponder,
        preferences: Preferences,
        watch: Callable[[Effect], None] = lambda _: None,
    ) -> None:
        self.id = name
        self._synthesis = speech.synthesis
        self._agent = agent
        self._approvals = agent.approvals
        self._approvals.of_code.answerable = True
        self._artifacts = artifacts
        self._preferences = preferences
        self._watch = watch
        self.transcript = Transcript.of(agent.past)
        parts = (responder, speech, preferences, undo_requests, self.transcript)
        self._reflexes = ConversationReflexes(name, *parts, agent)
        self._machine = TurnMachine(self.transcript.next_turn, fillers=speech.fillers)
        speech.rivals.is_busy = lambda: self._machine.is_busy
        self._outlets: dict[str, Outlet] = {}
        self._joined: dict[str, events.Joined] = {}
        self.notices: list[str] = []
        """What the first device that takes part is told."""
        self._owed: dict[str, tuple[str, float]] = {}
        """By device: what is said there if it comes, and until when."""
        self._hearings: dict[int, UtteranceListener] = {}
        self._spoken_answers = SpokenAnswers(self._synthesis, self.happened)
        self._instinctive: Ticket | None = None
        """The last answer that the agent knows nothing of."""
        self._works: dict[Ticket, asyncio.Task[None]] = {}
        self._latest: asyncio.Task[None] | None = None
        self._happened: asyncio.Queue[Event] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        asks = (self._without_a_model, self._reflexes.stopped)
        self._during_work = DuringWork(agent, self.transcript, *asks, self._begin, self.happened)
        self.asks_unseen: Callable[[], None] = lambda: None
        self.device_requests = DeviceRequests()
        self.jobs = JobUpdates(agent.jobs, lambda it: self._perform(effects.Tell(it, self.ticket)))

    def join(self, device: events.Joined, outlet: Outlet) -> None:
        """Adds a device; an approval that is pending is shown to it, too."""
        self._outlets[device.device] = outlet
        self.happened(self._known(device))
        if self._agent.waits and not self._works:
            self.happened(events.Typed(device.device, ""))  # which means: go on
        text, until = self._owed.pop(device.device, ("", 0.0))
        if asyncio.get_running_loop().time() < until:
            self.happened(events.Announced(text, device.device))
        while self.notices:
            outlet.tell(Announce(self.notices.pop(0)), self._machine.ticket)
        for question in self._approvals.open:
            outlet.tell(question, self._machine.ticket)
        self.jobs.tell_standing(lambda job: outlet.tell(job, self._machine.ticket))

    def owe(self, device: str, text: str, within_s: float) -> None:
        """Tell this when that device takes part, if it does in so many seconds: to its person it
        was being said, and in another room it would only be noise."""
        self._owed[device] = (text, asyncio.get_running_loop().time() + within_s)

    def away(self, device: str) -> None:
        """A device's connection broke; work goes on, and it is told of it when it is back."""
        self.device_requests.away(device)
        self.happened(events.Left(device, may_return=True))

    def back(self, device: events.Joined) -> None:
        """A device that was away is here again."""
        self.happened(self._known(device))

    def _known(self, device: events.Joined) -> events.Joined:
        self._joined[device.device] = device
        self.device_requests.joined(device, self._outlets[device.device])
        self._begin(self._find_language(device.device))
        return replace(device, language=self._synthesis.language)

    async def _find_language(self, device: str) -> None:
        """In which the turn's own few words are said: the device's, if there is a voice for it."""
        self.happened(events.LanguageFound(device, await self._reflexes.own_words(device)))

    def leave(self, device: str) -> None:
        """A device is gone; work goes on."""
        self.device_requests.left(device)
        self._outlets.pop(device, None)
        self._joined.pop(device, None)
        self.happened(events.Left(device))

    def snapshot(self) -> Snapshot:
        """The last turns, and the approval that is pending."""
        questions, tasks = map(asdict, self._approvals.open), map(asdict, self.jobs.standing)
        return Snapshot(self.transcript.turns, tuple(questions), tuple(tasks))

    def happened(self, event: Event) -> None:
        """Something happened that concerns the turn."""
        self._happened.put_nowait(self._reflexes.noticed(event))

    @property
    def ticket(self) -> Ticket:
        """The ticket of the answer that counts."""
        return self._machine.ticket

    @property
    def devices(self) -> Set[str]:
        """Those that take part."""
        return self._outlets.keys()

    @property
    def loudspeakers(self) -> list[str]:
        """Those that take part and speak."""
        return [name for name, known in self._joined.items() if known.speaks]

    @property
    def screens(self) -> list[str]:
        """Those where who may say yes sees what waits for it."""
        return [one.device for one in self._joined.values() if one.is_asked and one.may_approve]

    def show(self, text: str) -> None:
        """Show this there."""
        for device in self.screens:
            self._outlets[device].tell(Announce(text), self.ticket)

    @property
    def occupied(self) -> bool:
        """Whether somebody takes part, or work goes on."""
        return bool(self._outlets or self._works or self._agent.runs.in_background)

    async def rest(self) -> None:
        """Stop what goes on, and return when it has ended."""
        works = list(self._works.values())
        self.happened(events.Interrupted("", None, 0))
        if works:
            await asyncio.wait(works)
        if self._latest:
            await asyncio.wait({self._latest})

    async def run(self) -> None:
        """Live until cancelled."""
        try:
            while True:
                event = await self._next()
                try:
                    wanted = self._machine.handle(event, asyncio.get_running_loop().time())
                    self.device_requests.moved_on(self._machine.ticket)
                    for effect in wanted:
                        with log_ids(**effects.ids_of(effect)):
                            self._watch(effect)
                            self._perform(effect)
                except Exception:
                    # The root of the task: one event that can't be handled must not end them all.
                    log.exception("a %s could not be handled", type(event).__name__)
        finally:
            await self._close()

    async def _next(self) -> Event:
        deadline = self._machine.deadline
        try:
            async with asyncio.timeout_at(None if deadline == float("inf") else deadline):
                return await self._happened.get()
        except TimeoutError:
            return events.TimePassed()

    async def _close(self) -> None:
        self.jobs.close()
        for hearing in self._hearings.values():
            hearing.drop()
        self._spoken_answers.hush_all()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @singledispatchmethod
    def _perform(self, effect: Effect) -> None:
        raise TypeError(effect)

    @_perform.register
    def _(self, effect: effects.Tell) -> None:
        said = self.transcript.told(effect.ticket.turn, effect.message)
        if said and not self._reflexes.is_of_memory(said):
            self._begin(self._agent.said_beside(said))
        if isinstance(effect.message, ApprovalRequest) and not self.screens:
            self.asks_unseen()
        for device, outlet in self._outlets.items():
            if effect.device in (None, device):
                outlet.tell(effect.message, effect.ticket)

    @_perform.register
    def _(self, effect: effects.Send) -> None:
        if outlet := self._outlets.get(effect.device):
            outlet.send(effect)

    @_perform.register
    def _(self, effect: effects.Listen) -> None:
        self._hearings[effect.utterance] = self._reflexes.listen(effect, self.happened)

    @_perform.register
    def _(self, effect: effects.Feed) -> None:
        self._hearings[effect.utterance].feed(effect.pcm)

    @_perform.register
    def _(self, effect: effects.Finish) -> None:
        self._begin(self._understand(effect.utterance))

    @_perform.register
    def _(self, effect: effects.Forget) -> None:
        self._hearings.pop(effect.utterance).drop()

    @_perform.register
    def _(self, effect: effects.Think) -> None:
        self.transcript.asked(effect.ticket.turn, effect.text)
        self._works[effect.ticket] = self._in_turn(partial(self._think, effect))

    @_perform.register
    def _(self, effect: Performed) -> None:
        self._during_work.perform(effect)

    @_perform.register
    def _(self, effect: effects.StopThinking) -> None:
        if work := self._works.pop(effect.ticket, None):
            work.cancel()
        if effect.by:
            self._in_turn(partial(self._during_work.stop_what_was_left, effect))

    @_perform.register
    def _(self, effect: effects.Withdraw) -> None:
        if work := self._works.pop(effect.ticket, None):
            work.cancel()
        self._in_turn(partial(self._agent.withdraw, effect.text))

    @_perform.register
    def _(self, effect: effects.SpeechBegan) -> None:
        if effect.ticket != self._instinctive:
            self._begin(self._agent.began_to_speak(effect.device))

    @_perform.register
    def _(self, effect: effects.SpokenOut) -> None:
        if effect.ticket != self._instinctive:
            self._in_turn(self._agent.spoke_out)

    @_perform.register
    def _(self, effect: effects.HeardOnly) -> None:
        if effect.ticket != self._instinctive:
            self._in_turn(partial(self._agent.heard, effect.text))

    @_perform.register
    def _(self, effect: effects.Speak) -> None:
        known = self._joined.get(effect.device)
        style = self._reflexes.style(effect.device, known.rates if known else ())
        self._spoken_answers.say(effect.ticket, effect.text, style, effect.tone)

    @_perform.register
    def _(self, effect: effects.FinishSpeaking) -> None:
        self._spoken_answers.finish(effect.ticket)

    @_perform.register
    def _(self, effect: effects.Hush) -> None:
        self._spoken_answers.hush(effect.ticket)

    @_perform.register
    def _(self, effect: effects.Prefer) -> None:
        self._preferences.note(effect.preferred, self.id)
        self._begin(self._find_language(effect.preferred.device))

    @_perform.register
    def _(self, effect: Decided) -> None:
        hand_on(self._approvals, effect)

    @_perform.register
    def _(self, effect: effects.UseTime) -> None:
        if why := self._agent.use_time(effect.how):
            self._perform(effects.Tell(Announce(why), self.ticket))

    # --- what takes time ---

    async def _understand(self, utterance: int) -> None:
        try:
            transcript = await (hearing := self._hearings[utterance]).finish()
        except SpeechError as error:
            self.happened(events.RecognitionFailed(utterance, str(error)))
        else:
            self.happened(self._reflexes.heard(utterance, hearing.device, transcript))
        finally:
            del self._hearings[utterance]

    async def _without_a_model(self, text: str, device: str) -> str | None:
        refusal = self._machine.refusal_at(device)
        return await self._reflexes.answer(text, device, refusal)

    async def _think(self, effect: effects.Think) -> None:
        ticket = effect.ticket
        self._during_work.begins(effect)
        try:
            answer = effect.text and await self._without_a_model(effect.text, effect.device)
            if answer:
                self._instinctive = ticket
                if not self._reflexes.is_of_memory(answer):
                    self._begin(self._agent.said_beside(answer, effect.text, effect.device))
                self.happened(events.ReplyDelta(ticket, answer))
                self._worked(ticket, events.WorkDone(ticket))
                return
            agent, may_decide = self._agent, not self._machine.refusal_at(effect.device)
            asked = partial(agent.work, effect.text, effect.device, may_decide=may_decide)
            work_on = asked() if effect.text else agent.take_up()
            async with closing(work_on) as work:
                async for event in work:
                    self._worked(ticket, event_of(ticket, event, self._artifacts))
        finally:
            # Nobody stopped it, and it did not say how it ended: the person must not wait for it.
            if self._works.pop(ticket, None):
                self.happened(events.WorkFailed(ticket, WORK_BROKE))

    def _worked(self, ticket: Ticket, event: Event) -> None:
        if isinstance(event, (events.WorkDone, events.WorkFailed)):
            self._works.pop(ticket, None)
        self.happened(event)

    def _in_turn(self, work: Callable[[], Coroutine[None, None, None]]) -> asyncio.Task[None]:
        """Start work on the agent when all earlier work on it has ended, however it ended."""
        earlier = self._latest

        async def wait_and_work() -> None:
            if earlier:
                await asyncio.wait({earlier})
            await work()

        task = self._begin(wait_and_work())
        # Work that is cancelled while it waits must not let what follows overtake the earlier.
        before = {one for one in (earlier, task) if one}
        self._latest = self._begin(_all_ended(before))
        return task

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        with log_ids(conversation=conversation_id(self.id)):
            task = asyncio.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        match None if task.cancelled() else task.exception():
            case None:
                pass
            case StoreError() as problem:
                # Whose work it was is told; what is left is what nobody waits for.
                log.warning("something was not written down: %s", problem)
            case error:
                log.error("a part of the conversation failed", exc_info=error)


async def _all_ended(tasks: set[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)
