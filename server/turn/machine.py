"""The conversation's turn machine: events in, effects out, and the time of day as an argument.

Three regions run side by side:

    ears    idle -> listening -> committed -> idle           what the person says
    work    idle -> thinking <-> acting / awaiting approval  what is being done about it
    mouth   silent -> speaking -> silent                     what is said in answer

A press silences the mouth at once. What it means for the work shows when words follow: a press
before the answer began goes on with the same sentence; later words are a new request, and the old
one stops.
"""

from collections import deque
from functools import singledispatchmethod
from typing import Literal

from sayso.protocol.messages import (
    Announce,
    AudioAck,
    Error,
    FromServer,
    Metrics,
    ReplyDelta,
    SttFinal,
    SttPartial,
    TurnState,
)
from sayso.server.turn import events
from sayso.server.turn.ears import Ears
from sayso.server.turn.effects import (
    Effect,
    Feed,
    Finish,
    Forget,
    Listen,
    Settle,
    SettleByWord,
    StopThinking,
    Tell,
    Think,
)
from sayso.server.turn.events import Event, Ticket
from sayso.server.turn.mouth import Mouth
from sayso.server.turn.request import ASK_AGAIN, MAY_I, SENTENCE_BREAK, Request, Work
from sayso.server.turn.timeline import Timeline
from sayso.server.turn.timing import TAP_S, WAITING_REQUESTS
from sayso.server.turn.utterance import RATE, Utterance


class TurnMachine:
    """Decides who speaks when, for one conversation."""

    def __init__(self, first_turn: int = 1) -> None:
        self._ticket = Ticket(first_turn - 1, 0)
        self._devices: dict[str, events.Joined] = {}
        self._ears = Ears()
        self._work: Work = "idle"
        self._request: Request | None = None
        self._unspoken: Request | None = None
        """A request taken back by a new press before its answer began."""
        self._waiting: deque[Request] = deque()
        self._announcements: deque[events.Announced] = deque()
        self._mouth = Mouth(self._do)
        self._timeline = Timeline(0.0)
        self._shown = TurnState("idle", "idle", "silent")
        self._effects: list[Effect] = []
        self._now = 0.0

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take in what happened; returns what is to be done, in order."""
        self._now = now
        self._on(event)
        self._go_on()
        effects, self._effects = self._effects, []
        return effects

    @property
    def deadline(self) -> float:
        """When TimePassed is to be handed in, if nothing else happens before."""
        return min(self._ears.deadline, self._mouth.deadline)

    @property
    def state(self) -> TurnState:
        """Where the three regions stand."""
        mouth: Literal["speaking", "silent"] = "speaking" if self._mouth.is_speaking else "silent"
        return TurnState(self._ears.state, self._work, mouth)

    @property
    def ticket(self) -> Ticket:
        """The ticket of the answer that counts."""
        return self._ticket

    # --- what can happen ---

    @singledispatchmethod
    def _on(self, event: Event) -> None:
        raise TypeError(event)

    @_on.register
    def _(self, event: events.Joined) -> None:
        self._devices[event.device] = event
        if event.returns:
            self._ears.regain_link(event.device, self._now)
        self._tell(self.state, event.device)

    @_on.register
    def _(self, event: events.Left) -> None:
        self._devices.pop(event.device, None)
        self._ears.lose_link(event.device, self._now)
        self._mouth.lose(event.device)

    @_on.register
    def _(self, event: events.ListenStarted) -> None:
        over_speech = self._mouth.is_speaking
        self._make_room_for_words(event.device)
        for unreleased in self._ears.listening_to(event.device):
            self._commit(unreleased)
        utterance = self._ears.open(event.device, event.stream, self._now, over_speech=over_speech)
        self._do(Listen(utterance.number))

    @_on.register
    def _(self, event: events.AudioHeard) -> None:
        if utterance := self._ears.find(event.device, event.stream):
            if pcm := utterance.take(event.first_sample, event.pcm):
                self._do(Feed(utterance.number, pcm))
            self._advance(utterance)

    @_on.register
    def _(self, event: events.ListenStopped) -> None:
        if utterance := self._ears.find(event.device, event.stream):
            if event.samples < TAP_S * RATE:
                self._drop(utterance)
            else:
                utterance.release(event.samples, self._now)
                self._advance(utterance)

    @_on.register
    def _(self, event: events.ListenCancelled) -> None:
        if utterance := self._ears.find(event.device, event.stream):
            self._drop(utterance)

    @_on.register
    def _(self, event: events.PartlyHeard) -> None:
        if utterance := self._ears.get(event.utterance):
            self._tell(SttPartial(event.stable, event.tail), utterance.device)

    @_on.register
    def _(self, event: events.Heard) -> None:
        if utterance := self._ears.close(event.utterance):
            self._tell(SttFinal(event.text), None if event.text else utterance.device)
            if not self._is_reply_to_question(utterance.device, event, utterance.over_speech):
                released = utterance.released_at or self._now
                self._words_arrived(utterance.device, event.text, released)

    @_on.register
    def _(self, event: events.EarsFailed) -> None:
        if utterance := self._ears.close(event.utterance):
            self._tell(Error("ears_failed", event.message), utterance.device)

    @_on.register
    def _(self, event: events.Typed) -> None:
        if not self._is_reply_to_question(event.device, event, over_speech=False):
            self._request_made(Request(event.device, event.text, self._now, spoken=False))

    @_on.register
    def _(self, event: events.Interrupted) -> None:
        self._mouth.played(event, self._now)
        self._waiting.clear()
        self._unspoken = None
        self._stop_answer()

    @_on.register
    def _(self, event: events.Played) -> None:
        if event.samples:
            self._timeline.mark("first_audio_played", self._now)
        self._mouth.played(event, self._now)

    @_on.register
    def _(self, event: events.Answered) -> None:
        self._do(Settle(event.device, event.id, event.nonce, event.decision, event.code))

    @_on.register
    def _(self, event: events.ReplyGrew) -> None:
        if event.ticket == self._ticket:
            self._timeline.mark("first_token", self._now)
            self._work = "thinking"
            self._tell(ReplyDelta(event.text))
            self._mouth.say(event.text)

    @_on.register
    def _(self, event: events.WorkShowed) -> None:
        if event.ticket == self._ticket:
            self._timeline.mark("first_token", self._now)
            self._announce(event.state)
            self._work = event.state
            self._tell(event.message)

    @_on.register
    def _(self, event: events.WorkEnded) -> None:
        if event.ticket == self._ticket:
            self._work = "idle"
            self._mouth.finish()

    @_on.register
    def _(self, event: events.WorkFailed) -> None:
        if event.ticket == self._ticket:
            self._work = "idle"
            self._tell(Error("model_failed", event.message))
            self._mouth.say(SENTENCE_BREAK + event.message)
            self._mouth.finish()

    @_on.register
    def _(self, event: events.ChunkSpoken) -> None:
        if self._mouth.take(event):
            self._timeline.mark("first_clause", event.begun_at or self._now)
            self._timeline.mark("first_chunk", self._now)

    @_on.register
    def _(self, event: events.MouthDone) -> None:
        self._mouth.complete(event.ticket)

    @_on.register
    def _(self, event: events.MouthRemarked) -> None:
        self._tell(Announce(event.message, "low"))

    @_on.register
    def _(self, event: events.MouthFailed) -> None:
        if self._mouth.complete(event.ticket):
            self._tell(Error("mouth_failed", event.message))

    @_on.register
    def _(self, event: events.Announced) -> None:
        self._tell(Announce(event.text))
        self._announcements.append(event)

    @_on.register
    def _(self, _: events.TimePassed) -> None:
        for utterance in self._ears.overdue(self._now):
            self._commit(utterance)
        if self._mouth.deadline <= self._now:
            self._mouth.hush("failed")

    # --- ears ---

    def _advance(self, utterance: Utterance) -> None:
        samples = utterance.acknowledgement()
        if samples is not None:
            self._tell(AudioAck(utterance.stream, samples), utterance.device)
        if utterance.is_whole:
            self._commit(utterance)

    def _commit(self, utterance: Utterance) -> None:
        utterance.commit(self._now)
        self._do(Finish(utterance.number))

    def _drop(self, utterance: Utterance) -> None:
        self._ears.close(utterance.number)
        self._do(Forget(utterance.number))
        self._words_arrived(utterance.device, "", self._now)

    def _words_arrived(self, device: str, text: str, at: float) -> None:
        earlier = self._unspoken if self._unspoken and self._unspoken.device == device else None
        if earlier:
            self._unspoken = None
            text = f"{earlier.text} {text}".strip()
        if text:
            request = Request(device, text, at, spoken=True)
            self._request_made(request, extends=earlier is not None)

    # --- work ---

    def _is_reply_to_question(
        self, device: str, event: events.Heard | events.Typed, over_speech: bool
    ) -> bool:
        """Whether these words were a stop, or an answer to what waits; they are then acted on."""
        if event.meaning == "stop":
            self._unspoken = None
            self._stop_answer()
            return True
        asked = self._work == "awaiting_approval" and self._request
        if not asked or asked.device != device or event.meaning == "request":
            return False
        self._open_mouth(device)
        if event.meaning == "yes" and over_speech:
            self._mouth.say(ASK_AGAIN)
        else:
            self._do(SettleByWord(device, event.meaning))
        return True

    def _open_mouth(self, device: str) -> None:
        known = self._devices.get(device)
        if known and known.speaks and not self._mouth.is_busy:
            self._mouth.open(self._ticket, known)

    def _request_made(self, request: Request, *, extends: bool = False) -> None:
        """Begin at once, after the same person's earlier request is stopped; others wait."""
        if self._request and self._is_busy and request.device != self._request.device:
            if len(self._waiting) < WAITING_REQUESTS:
                self._waiting.append(request)
            else:
                busy = "Too many requests are waiting. Please say it again in a moment."
                self._tell(Error("too_fast", busy, retry_ms=5_000), request.device)
            return
        self._stop_answer()
        if not extends:
            self._ticket = Ticket(self._ticket.turn + 1, 0)
        self._begin(request)

    def _begin(self, request: Request) -> None:
        self._request = request
        self._work = "thinking"
        self._timeline = Timeline(request.at)
        self._timeline.mark("final", self._now)
        self._open_mouth(request.device)
        self._do(Think(self._ticket, request.text, request.device))

    @property
    def _is_busy(self) -> bool:
        return self._work != "idle" or self._mouth.is_busy

    def _make_room_for_words(self, device: str) -> None:
        """A press: silence, and a second thought about an answer that has not begun."""
        if not self._request or self._request.device != device:
            return
        if self._work == "thinking" and not self._timeline.has("first_token"):
            self._do(StopThinking(self._ticket, withdrawn=True))
            self._unspoken = self._request
            self._retire()
        elif self._work == "thinking":
            self._stop_answer()
        else:
            self._silence()

    def _stop_answer(self) -> None:
        """Stop work and speech; what comes of them later is stale."""
        if not self._is_busy:
            return
        if self._work != "idle":
            self._do(StopThinking(self._ticket))
        self._silence()
        self._report()
        self._retire()

    def _retire(self) -> None:
        self._mouth.close()
        self._work = "idle"
        self._request = None
        self._ticket = Ticket(self._ticket.turn, self._ticket.gen + 1)

    def _announce_aloud(self, announced: events.Announced) -> None:
        """In a gap, so that it interrupts nobody."""
        self._ticket = Ticket(self._ticket.turn + 1, 0)
        self._open_mouth(announced.device)
        self._mouth.say(announced.text)
        self._mouth.finish()

    def _announce(self, state: Work) -> None:
        """Say what was said before a run, and ask aloud those who asked aloud."""
        if self._work == "thinking" and state != "thinking":
            self._mouth.say(SENTENCE_BREAK)
        if state == "awaiting_approval" and self._request and self._request.spoken:
            self._mouth.say(MAY_I + SENTENCE_BREAK)

    def _silence(self) -> None:
        """Stop speaking; code that runs goes on, unheard."""
        self._mouth.silence()
        if self._work == "idle":
            self._mouth.close()

    # --- after every event ---

    def _go_on(self) -> None:
        """Send what may be sent, show where things stand, and take up what waits."""
        if self._mouth.go_on(self._now):
            self._timeline.mark("first_audio_sent", self._now)
        if not self._is_busy:
            self._report()
            self._request = None
        if not self._is_busy and self._waiting:
            self._request_made(self._waiting.popleft())
        if self._announcements and not self._is_busy and self._ears.state == "idle":
            self._announce_aloud(self._announcements.popleft())
        if self.state != self._shown:
            self._shown = self.state
            self._tell(self._shown)

    def _report(self) -> None:
        """The turn is over: tell how long things took."""
        if self._request:
            self._tell(Metrics(self._timeline.marks), self._request.device)

    def _tell(self, message: FromServer, device: str | None = None) -> None:
        self._do(Tell(message, self._ticket, device))

    def _do(self, effect: Effect) -> None:
        self._effects.append(effect)
