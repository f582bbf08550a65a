"""The request region: tracks the request in progress, and those that wait.

    idle -> thinking <-> acting / awaiting approval -> idle

Words of the same person that follow before the answer has begun go on with the same request; later
ones are a new request, and the old one stops. Other people's requests wait.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sayso.protocol.messages import ApprovalRequest, Error, Metrics, ReplyDelta
from sayso.server.turn import events
from sayso.server.turn.effects import StopThinking, Think, Withdraw
from sayso.server.turn.phrases import SENTENCE_BREAK, Aside, is_filler
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.shared_state import SharedState
from sayso.server.turn.request import Request, WorkState
from sayso.server.turn.timeline import Timeline
from sayso.server.turn.timing import WAITING_REQUESTS

TOO_MANY = "Too many requests are waiting. Please say it again in a moment."


@dataclass(frozen=True, slots=True)
class _Half:
    """The beginning of a request that its person is still saying."""

    request: Request
    turn: int | None
    """The turn in which it was taken for the whole; none if it never was."""


class RequestRegion:
    """Begins, stops and ends requests, one at a time."""

    def __init__(self, shared: SharedState, playback: PlaybackRegion) -> None:
        self._shared = shared
        self._playback = playback
        self.state: WorkState = "idle"
        self.request: Request | None = None
        """Being worked on, or its answer is being spoken."""
        self.question: ApprovalRequest | None = None
        """What waits for a yes."""
        self._shown: dict[str, tuple[str, float]] = {}
        """By device: the question that it was sent whole last, and when."""
        self.owes_words = False
        """Nothing was said about it yet, or not since it was last seen to act."""
        self._acted = False
        """Something was done about it, or shown, that can't be taken for never having been."""
        self._halves: dict[str, _Half] = {}
        """By device: each person says one request at a time."""
        self._waiting: deque[Request] = deque()
        self._timeline = Timeline(0.0)
        self._cost: Mapping[str, float] = {}

    @property
    def is_busy(self) -> bool:
        return self.state != "idle" or self._playback.is_busy

    def shown_at(self, device: str) -> float | None:
        """When the question that waits was sent to this device whole; none if it was not."""
        question, at = self._shown.get(device, ("", 0.0))
        return at if self.question and question == self.question.id else None

    def is_of(self, device: str) -> bool:
        """This device's person asked for what is being worked on."""
        return self.request is not None and self.request.device == device

    # --- what people want ---

    def ask(self, request: Request) -> None:
        """Begin at once, after the same person's earlier request is stopped; others wait."""
        half = self._halves.pop(request.device, None) if request.spoken else None
        if half:
            request = replace(request, text=f"{half.request.text} {request.text}")
        self._begin_or_wait(request, half.turn if half else None)

    def go_on_with(self, words: Request) -> None:
        """A piece of what a person wants, who is heard to speak on."""
        half = self._halves.get(words.device)
        if half:
            words = replace(words, text=f"{half.request.text} {words.text}")
        self._halves[words.device] = _Half(words, half.turn if half else None)

    def take_back(self, device: str) -> None:
        """This person speaks on: a request whose answer has not begun was not complete."""
        request = self.request
        if request and request.device == device and request.spoken and not self._has_begun:
            self._halves[device] = _Half(request, self._shared.ticket.turn)
            self._shared.do(Withdraw(self._shared.ticket, request.text))
            self._playback.stop()
            self._playback.forget()
            self._retire()

    def nothing_said(self, device: str) -> None:
        """This person speaks no further: the half was the whole; the answer may go on."""
        if half := self._halves.pop(device, None):
            self._begin_or_wait(half.request, half.turn)
        elif self.is_of(device):
            self.open_playback()

    def forget_unbegun(self, device: str) -> None:
        """This person wants nothing more of what they asked for; without a name, nobody does."""
        halves, waiting = self._halves, self._waiting
        self._halves = {name: half for name, half in halves.items() if device not in ("", name)}
        self._waiting = deque(r for r in waiting if device not in ("", r.device))

    def stop(self) -> None:
        """Stop work and speech; what comes of them later is stale."""
        if not self.is_busy:
            return
        if self.state != "idle":
            self._shared.do(StopThinking(self._shared.ticket))
        self._playback.stop()
        self._playback.settle()
        self._report()
        self._retire()

    def open_playback(self) -> None:
        """Have the answer spoken where it was asked for, if that can be."""
        device = self._shared.devices.get(self.request.device) if self.request else None
        if device and device.speaks and self.state != "idle" and not self._playback.is_busy:
            self._playback.open(device)

    def question_shown(self, event: events.QuestionShown) -> None:
        """A device has the whole question."""
        if event.device in self._shared.devices:
            self._shown[event.device] = (event.id, self._shared.now)

    def shows_nothing(self, device: str) -> None:
        """A device is gone, or here for the first time."""
        self._shown.pop(device, None)

    # --- what comes of it ---

    def grew(self, event: events.ReplyGrew) -> None:
        if event.ticket == self._shared.ticket:
            self._mark("first_token")
            self.state, self.question = "thinking", None
            self.owes_words = self.owes_words and not event.text.strip()
            self._shared.tell(ReplyDelta(event.text))
            self._playback.say(event.text)

    def showed(self, event: events.AgentShowed) -> None:
        if event.ticket == self._shared.ticket:
            self._mark("first_token")
            if self.state == "thinking" and event.state != "thinking":
                self._playback.say(SENTENCE_BREAK)
            self.question = event.message if isinstance(event.message, ApprovalRequest) else None
            if self.question and self.request and self.request.spoken:
                self._playback.say_aside(self._aloud(self.question, self.request.device))
            self.state = event.state
            self.owes_words = self._acted = True
            self._shared.tell(event.message)

    def ended(self, event: events.WorkEnded) -> None:
        if event.ticket == self._shared.ticket:
            self._cost = event.cost
            self._end()

    def failed(self, event: events.WorkFailed) -> None:
        if event.ticket == self._shared.ticket:
            self._shared.tell(Error(event.what, event.message))
            self._playback.say(SENTENCE_BREAK + event.message)
            self._end()

    def spoke(self, chunk: events.ChunkSpoken) -> None:
        """Some words have become sound."""
        if not is_filler(chunk.text):
            self._timeline.mark("first_clause", chunk.begun_at or self._shared.now)
            self._mark("first_chunk")

    # --- after every event ---

    def go_on(self) -> None:
        """Note how far it is, end what is over, and take up what waits."""
        if self._playback.answer_sent:
            self._mark("first_audio_sent")
        if self._playback.answer_played:
            self._mark("first_audio_played")
        if self.request and not self.is_busy:
            self._playback.settle()
            self._report()
            self.request = None
        if self._waiting and not self.is_busy:
            self._begin_or_wait(self._waiting.popleft(), None)

    # --- within ---

    def _aloud(self, question: ApprovalRequest, device: str) -> Aside:
        """How it is put where it was asked for: no word settles what that device does not show."""
        known = self._shared.devices.get(device)
        if question.tap:
            return "on_a_screen"
        return "may_i" if known is None or known.is_asked else "not_whole"

    @property
    def _has_begun(self) -> bool:
        """The person has seen or heard something of the answer: to them it is a new turn now."""
        begun = "first_audio_sent" if self._playback.is_busy else "first_token"
        return self._acted or self._timeline.has(begun)

    def _begin_or_wait(self, request: Request, turn: int | None) -> None:
        owner = self.request.device if self.request else self._playback.device
        if self.is_busy and owner != request.device:
            self._wait(request)
            return
        self.stop()
        if turn != self._shared.ticket.turn:
            self._shared.next_turn()
        self._begin(request)

    def _wait(self, request: Request) -> None:
        if len(self._waiting) < WAITING_REQUESTS:
            self._waiting.append(request)
        else:
            self._shared.tell(Error("too_fast", TOO_MANY, retry_ms=5_000), request.device)

    def _begin(self, request: Request) -> None:
        self.request = request
        self.state = "thinking"
        self.owes_words = True
        self._acted = False
        self._cost = {}
        self._timeline = Timeline(request.at)
        self._mark("final")
        self.open_playback()
        self._shared.do(Think(self._shared.ticket, request.text, request.device))

    def _end(self) -> None:
        self.state, self.question = "idle", None
        self.owes_words = False
        self._playback.finish()

    def _report(self) -> None:
        """Tell how long things took."""
        if self.request:
            metrics = Metrics(self._timeline.marks, self._cost)
            self._shared.tell(metrics, self.request.device)

    def _retire(self) -> None:
        self.state, self.question = "idle", None
        self.request = None
        self.owes_words = False
        self._shared.next_attempt()

    def _mark(self, name: str) -> None:
        self._timeline.mark(name, self._shared.now)
