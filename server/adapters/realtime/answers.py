"""Makes responses of what the conversation tells: each begins with work or speech, and ends when
all of it was sent, was cut short, or waits for a yes.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, Literal

from sayso.protocol.messages import (
    Announce,
    ApprovalDone,
    ApprovalRequest,
    CodeEnd,
    CodeOut,
    CodeStart,
    Error,
    FromServer,
    Metrics,
    ReplyDelta,
    SpeechStart,
    SpeechStop,
    TurnState,
)
from sayso.server.adapters.realtime.outbox import Fields, RealtimeOutbox, new_id
from sayso.server.adapters.realtime.response_events import ResponseEvents

KEPT: Final = 8
"""Responses whose items can be asked for again, and truncated."""
SETTLES_WITHIN_S: Final = 0.3
"""Words that begin no work are all of an answer, if nothing follows them so soon."""

Cut = Literal["", "turn_detected", "client_cancelled"]


class Answers:
    """Of one client."""

    def __init__(self, outbox: RealtimeOutbox, shown: Callable[[str], None]) -> None:
        """`shown` is told the id of a question that has left for the client, whole."""
        self._outbox = outbox
        self._shown = shown
        self.conversation = ""
        self.speaks = True
        """Answers are sound; else text."""
        self.may_approve = False
        self.state = TurnState("idle", "idle", "silent")
        self.question: ApprovalRequest | None = None
        """What waits for the client's person."""
        self.current: ResponseEvents | None = None
        """What is under way."""
        self._latest: deque[ResponseEvents] = deque(maxlen=KEPT)
        self._waits = False
        """The response ended with that question; what follows it is another."""
        self._is_begun = False
        """Something came of what the response is to."""
        self._cut: Cut = ""
        self._reply = ""
        """Words of the answer that were not spoken yet."""
        self._sent = 0
        """Samples of the stream of speech."""
        self._starts: dict[str, int] = {}
        """By item: where in that stream it begins."""

    # ── What the client does ─────────────────────────────────────────────────────────────────────

    def begin(self) -> ResponseEvents:
        """A response begins."""
        self._waits = self._is_begun = False
        self._reply, self._cut = "", ""
        if len(self._latest) == KEPT:
            for item in self._latest[0].items:
                self._starts.pop(item["id"], None)
        self.current = ResponseEvents(new_id("resp"), self.conversation, new_id)
        self._latest.append(self.current)
        self._put(self.current.begin())
        return self.current

    def goes_on(self) -> None:
        """A question was answered."""
        self._waits = False

    def cut(self, why: Cut) -> None:
        """What is under way is cut short."""
        self._cut = why if self.current else ""

    def came_to_nothing(self) -> None:
        """Nothing was said that could be answered."""
        self._is_begun = True
        self._look_at_end()

    def start_of(self, item: str) -> int | None:
        """The sample of the stream of speech at which a spoken message begins, if it is known."""
        return self._starts.get(item)

    def item(self, name: str) -> Fields | None:
        """What was put out lately, by id."""
        items = (item for response in self._latest for item in response.items)
        return next((item for item in items if item["id"] == name), None)

    # ── What the conversation tells ──────────────────────────────────────────────────────────────

    def told(self, message: FromServer) -> None:
        """Make events of it."""
        match message:
            case TurnState():
                self._moved(message)
            case SpeechStart():
                self._speech_begins(message)
            case SpeechStop(reason=reason):
                if reason == "interrupted":
                    self._cut = self._cut or "turn_detected"
                self._may_end(is_silent=True)
            case ReplyDelta(text=text):
                self._replied(text)
            case Announce(text=text):
                self._replied(f"{text}\n")
                # It may be all of the answer: then no state changes after it.
                asyncio.get_running_loop().call_later(SETTLES_WITHIN_S, self._look_at_end)
            case _:
                self._told_of_work(message)

    def _told_of_work(self, message: FromServer) -> None:
        match message:
            case CodeStart() | CodeOut() | CodeEnd():
                self._put(self._answer().ran(message))
            case ApprovalRequest(tap=False) if self.may_approve:
                self._asked(message)
            case ApprovalDone():
                self.question, self._waits = None, False
            case Error(message=sentence):
                if self.current:
                    self.current.failed = sentence
                self._outbox.complain(sentence)
            case Metrics(cost=cost) if self.current:
                read, wrote = cost.get("tokens_in", 0), cost.get("tokens_out", 0)
                self.current.usage = int(read), int(wrote)
            case _:
                pass  # other questions are answered on a screen of the person's, and that is said

    def sounded(self, pcm: bytes) -> None:
        """Speech of the answer."""
        answer = self._answer()
        self._put(answer.speak(pcm))
        self._starts.setdefault(answer.message, self._sent)
        self._sent += len(pcm) // 2

    def _moved(self, state: TurnState) -> None:
        self.state = state
        if state.work in ("thinking", "acting") and not self._waits:
            self._answer()
            self._is_begun = True
        self._look_at_end()

    def _replied(self, text: str) -> None:
        answer = self._answer()
        if self.speaks:
            self._reply += text
        else:
            self._put(answer.write(text, spoken=False))

    def _speech_begins(self, speech: SpeechStart) -> None:
        answer = self._answer()
        if speech.first_sample == 0:
            self._sent = 0
        blank = "" if speech.text[:1].isspace() or not answer.message else " "
        self._put(answer.write(blank + speech.text, spoken=True))
        self._starts.setdefault(answer.message, self._sent)
        self._reply = ""

    def _asked(self, request: ApprovalRequest) -> None:
        self.question = request
        *before, last = self._answer().ask(request)
        self._put(before)
        self._outbox.emit(last, lambda: self._shown(request.id))

    def _look_at_end(self) -> None:
        self._may_end(is_silent=self.state.mouth == "silent")

    def _may_end(self, *, is_silent: bool) -> None:
        """End the response where all of it was sent."""
        response = self.current
        if response is None or not is_silent or self.state.work in ("thinking", "acting"):
            return
        if not (self._is_begun or response.items or self._reply):
            return  # it was only just asked for
        is_over = (self.state.work, self.state.mouth) == ("idle", "silent")
        if self._reply.strip() and not self._cut and is_over:
            # Nothing of it could be spoken.
            self._put(response.write(self._reply.strip(), spoken=True))
        self._put(response.end(self._cut))
        self._waits = self.state.work == "awaiting_approval"
        self.current, self._reply, self._cut = None, "", ""

    def _answer(self) -> ResponseEvents:
        """The response that is under way; one begins where none is."""
        return self.current or self.begin()

    def _put(self, events: Iterable[Fields]) -> None:
        name = self._answer().name
        for event in events:
            is_part = event["type"].startswith("response.") and "response" not in event
            self._outbox.emit(event | {"response_id": name} if is_part else event)
