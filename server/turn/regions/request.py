"""The request region: tracks the request in progress, and those that wait.

    idle -> thinking <-> acting / awaiting approval -> idle

Words of the same person that follow before the answer has begun go on with the same request. Once
code has run for it, or a question was asked, all words are about it, wherever they are said: the
model is told them before its next reply. Otherwise later words are a new request, and the old one
stops; other people's requests wait.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sayso.protocol.messages import (
    ApprovalDone,
    ApprovalRequest,
    CodeEnd,
    CodeStart,
    Error,
    Metrics,
    ReplyDelta,
)
from sayso.server.turn import events
from sayso.server.turn.during_work.new_start import begins_anew
from sayso.server.turn.effects import AnswerApprovalByWord, Steer, StopThinking, Think, Withdraw
from sayso.server.turn.phrases import SENTENCE_BREAK, is_filler, words
from sayso.server.turn.regions import approval_wording
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.shared_state import SharedState
from sayso.server.turn.request import Request, WorkState
from sayso.server.turn.timeline import Timeline

SPEAKS_ON_S = 8.0
"""So long after somebody fell silent, what they say next can be the rest of it, if nothing was
answered yet. What comes later is said about it, or instead."""

WAITING_REQUESTS = 8
"""Requests of other devices that may wait while one is worked on; more are refused, aloud."""

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
        self._approved: ApprovalRequest | None = None
        """What got its yes last."""
        self._shown: dict[str, tuple[str, float]] = {}
        """By device: the question that it was sent whole last, and when."""
        self.owes_words = False
        """Nothing was said about it yet, or not since it was last seen to act."""
        self._acted = False
        """Something was done about it, or shown, that can't be taken for never having been."""
        self._halves: dict[str, _Half] = {}
        """By device: each person says one request at a time."""
        self._waiting: deque[Request] = deque()
        self.stopped_at = -float("inf")
        """When work was last stopped before its end."""
        self._steers: list[Request] = []
        """What was said about it that the model was not told yet."""
        self.stops_after = False
        """It stops when what runs now has ended."""
        self._runs: set[str] = set()
        """Code that runs for it now."""
        self._timeline = Timeline(0.0)
        self._cost: Mapping[str, float] = {}

    @property
    def is_at_work(self) -> bool:
        """Code has run for it or a question was asked, and it is not over: words are about it."""
        return self.state != "idle" and self._acted

    @property
    def runs_code(self) -> bool:
        """Something runs for it at this moment."""
        return self.state == "acting" and bool(self._runs)

    @property
    def is_busy(self) -> bool:
        return self.state != "idle" or self._playback.is_busy

    def is_interrupted_by(self, device: str) -> bool:
        """A press there is over the answer to a question, which needs no end. Work that has begun
        goes on until words say otherwise, and so does what nobody has heard of yet."""
        request = self.request
        if not request or request.device != device or self.state != "thinking" or self._acted:
            return False
        return request.spoken or self._playback.answer_sent

    def shown_at(self, device: str) -> float | None:
        """When the question that waits was sent to this device whole; none if it was not."""
        question, at = self._shown.get(device, ("", 0.0))
        return at if self.question and question == self.question.id else None

    def crosses_a_yes(self, answer: events.ApprovalAnswered) -> bool:
        """Whether this is a no to what got its yes elsewhere, in the same moment: nobody is to look
        on while that runs."""
        approved = self._approved
        if approved is None or answer.decision != "no":
            return False
        return (approved.id, approved.nonce) == (answer.id, answer.nonce)

    def question_at(self, device: str) -> str:
        """The approval that waits for this device's person, in a sentence; empty if none does."""
        known = self._shared.devices.get(device)
        if self.question is None or known is None or not self.is_of(device):
            return ""
        sentence = approval_wording.in_one_sentence(self.question, known.language)
        return sentence or words("on_a_screen" if self.question.tap else "may_i", known.language)

    def is_of(self, device: str) -> bool:
        """This device's person asked for what is being worked on."""
        return self.request is not None and self.request.device == device

    def is_elsewhere(self, device: str) -> bool:
        """Something goes on that belongs to another device: it need not wait for it."""
        owner = self.request.device if self.request else self._playback.device
        return self.is_busy and owner != device

    def has_something_of(self, device: str) -> bool:
        """Something goes on that this device's person can stop, or waits."""
        return (
            self.is_busy or device in self._halves or any(r.device == device for r in self._waiting)
        )

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
        if not request or request.device != device or not request.spoken or self._has_begun:
            return
        if self._shared.now - request.at <= SPEAKS_ON_S:
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

    def has_half(self, device: str) -> bool:
        """This person has begun to say something, and these are more words of it."""
        return device in self._halves

    def forget_unbegun(self, device: str) -> None:
        """This person wants nothing more of what they asked for; without a name, nobody does."""
        halves, waiting = self._halves, self._waiting
        self._halves = {name: half for name, half in halves.items() if device not in ("", name)}
        self._waiting = deque(r for r in waiting if device not in ("", r.device))

    def stop(self, by: str = "") -> Sequence[Request]:
        """Stop work and speech; what comes of them later is stale. Returns what was said about it
        that the model was not told. `by`: as in `StopThinking`."""
        if not self.is_busy:
            return ()
        untold, self._steers = self._steers, []
        if self.state != "idle":
            self._shared.do(StopThinking(self._shared.ticket, by))
        self._playback.stop()
        self._playback.settle()
        self._report()
        self._retire()
        return untold

    def steering(self, event: events.SteersGiven | events.SteerTooLate) -> None:
        """Something came of what was said about it."""
        if isinstance(event, events.SteersGiven):
            self._steers_given(event)
        else:
            self._steer_too_late(event)

    def _steers_given(self, event: events.SteersGiven) -> None:
        """The model is being told what was said meanwhile."""
        if event.ticket == self._shared.ticket:
            del self._steers[: event.count]

    def _steer_too_late(self, event: events.SteerTooLate) -> None:
        """It had ended by itself: the words are a request, after it and what was announced since.
        Of one that was stopped it was told already that they came to nothing."""
        if any(one.text == event.text for one in self._steers):
            late = Request(event.device, event.text, self._shared.now, event.spoken)
            self._steers = [one for one in self._steers if one.text != event.text]
            self._waiting.appendleft(late)

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

    def grew(self, event: events.ReplyDelta) -> None:
        if event.ticket == self._shared.ticket:
            self._mark("first_token")
            self.state, self.question = "thinking", None
            self.owes_words = self.owes_words and not event.text.strip()
            self._shared.tell(ReplyDelta(event.text))
            self._playback.say(event.text)

    def told(self, event: events.AgentMessage) -> None:
        if event.ticket == self._shared.ticket:
            self._mark("first_token")
            if self.state == "thinking" and event.state != "thinking":
                self._playback.say(SENTENCE_BREAK)
            if isinstance(event.message, CodeStart):
                self._runs.add(event.message.id)
            elif isinstance(event.message, CodeEnd):
                self._runs.discard(event.message.id)
            if isinstance(event.message, ApprovalDone) and event.message.decision in (
                "yes",
                "edit",
            ):
                self._approved = self.question
            self.question = event.message if isinstance(event.message, ApprovalRequest) else None
            if self.question and self.request and self.request.spoken:
                self.put_aloud(self.question, self.request.device)
            self.state = event.state
            self.owes_words = self._acted = True
            self._shared.tell(event.message)

    def ended(self, event: events.WorkDone) -> Sequence[Request]:
        """Returns what was said about it that the model was not told, because the person wanted it
        to stop after what ran."""
        if event.ticket != self._shared.ticket:
            return ()
        untold, self._steers = (self._steers, []) if self.stops_after else ([], self._steers)
        self._cost = event.cost
        self._end()
        return untold

    def failed(self, event: events.WorkFailed) -> None:
        if event.ticket == self._shared.ticket:
            self._acted = True  # It was told: words that follow are another request.
            self._shared.tell(Error(event.what, event.message))
            self._playback.say(SENTENCE_BREAK + event.message)
            self._end()

    def spoke(self, chunk: events.ChunkSpoken) -> None:
        """Some words have become sound."""
        if not is_filler(chunk.text) and not self._playback.is_interjected(chunk.text):
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

    def put_aloud(self, question: ApprovalRequest, device: str) -> None:
        """Put it where it was asked for: no word settles what that device neither shows nor reads
        out."""
        known = self._shared.devices.get(device)
        language = known.language if known else "en"
        by_word = approval_wording.opens_by_word(question, known) if known else False
        if known and (by_word or (known.reads_out and not question.tap)):
            if reading := approval_wording.whole(question, language):
                self._playback.read_out(reading)
            else:
                self._playback.say_aside("not_whole")
        elif known and not known.is_asked and not question.tap:
            self._playback.say_aside("not_whole")
        elif sentence := approval_wording.in_one_sentence(question, language):
            self._playback.say_apart(sentence)
        else:
            self._playback.say_aside("on_a_screen" if question.tap else "may_i")

    @property
    def _has_begun(self) -> bool:
        """The person has seen or heard something of the answer: to them it is a new turn now."""
        begun = "first_audio_sent" if self._playback.is_busy else "first_token"
        return self._acted or self._timeline.has(begun)

    def _begin_or_wait(self, request: Request, turn: int | None) -> None:
        if self.is_at_work and not begins_anew(request.text):
            self._steer(request)
            return
        if self.is_elsewhere(request.device):
            self._wait(request)
            return
        self.stop()
        if turn != self._shared.ticket.turn:
            self._shared.next_turn()
        self._begin(request)

    def _steer(self, request: Request) -> None:
        """Words about the work. To a question that waits for a yes they are none: what was to run
        does not, and the model is told why."""
        if self.question and not self._runs:
            self._shared.do(AnswerApprovalByWord(request.device, self.question.id, "no"))
        self._steers.append(request)
        self._shared.do(Steer(self._shared.ticket, request.text, request.device, request.spoken))

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
        self._approved = None
        self._runs.clear()
        self._steers.clear()
        self.stops_after = False
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
        self.stopped_at = self._shared.now
        self.state, self.question = "idle", None
        self.request = None
        self.owes_words = False
        self._shared.next_attempt()

    def _mark(self, name: str) -> None:
        self._timeline.mark(name, self._shared.now)
