"""Takes part in a conversation on behalf of a client that listens and speaks by another protocol.

To the conversation it is a device like every other: it opens its microphone, it is sent speech
paced by what it has played, and it is interrupted. Its client does not say how far it has played,
so a clock does.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, Literal

from sayso.audio.resample import Resampler, resampler
from sayso.protocol.messages import FromServer, SpeechStart, SpeechStop
from sayso.server.adapters.playback_clock import PlaybackClock
from sayso.server.gateway.host import Conversation
from sayso.server.speech.recognition.recognizer import HEARING_RATE
from sayso.server.trust.principal import Principal
from sayso.server.turn.effects import Send
from sayso.server.turn.events import (
    ApprovalAnswered,
    AudioHeard,
    Interrupted,
    Joined,
    ListenCancelled,
    ListenStarted,
    ListenStopped,
    Played,
    Preferred,
    QuestionShown,
    Ticket,
    Typed,
)

REPORTS_S: Final = 0.06
"""Between two reports of what was played: a fifth of what is sent ahead."""
STREAMS: Final = 0xFFFF
"""A stream's number has 16 bits; 0 is left out."""
PIECE_BYTES: Final = 8_192
"""Longest piece of what is heard: a quarter of a second."""
WAITS_MS: Final = 60_000
"""How long a microphone stays open for somebody to begin; then it is opened anew."""


class VoiceClient:
    """A device of its person's. It is the conversation's outlet to itself."""

    def __init__(
        self,
        conversation: Conversation,
        who: Principal,
        device: str,
        told: Callable[[FromServer, Ticket], None],
        sounded: Callable[[bytes], None],
        *,
        hears_at: int,
        speaks_at: int,
    ) -> None:
        """`told` takes what the conversation tells; `sounded` takes speech, PCM16 mono. Neither may
        wait. `hears_at`, `speaks_at`: samples a second of the client's sound."""
        self.conversation = conversation
        self.device = device
        self.may_approve = who.may("approve")
        self._told = told
        self._sounded = sounded
        self._hears_at = hears_at
        self._speaks_at = speaks_at
        self._resampler: Resampler | None = None
        self._stream = 0
        self._samples = 0
        """Of the utterance that is heard."""
        self.listens: Literal["", "ptt", "hands_free"] = ""
        """How the microphone is open, if it is."""
        self._clock: PlaybackClock | None = None
        self._plays = 0
        """The stream that is played, or was last."""
        self._ended: int | None = None
        """How long that stream is, once it is whole."""
        self._reporting: asyncio.TimerHandle | None = None
        self._has_left = False

    def join(self, *, speaks: bool = True) -> None:
        """Take part from here on, or take part otherwise."""
        joined = Joined(
            self.device,
            speaks=speaks,
            may_approve=self.may_approve,
            may_open=False,
            may_admin=False,
            rates=(self._speaks_at,),
        )
        self.conversation.join(joined, self)

    def leave(self) -> None:
        """Take part no more; it may be said twice."""
        if not self._has_left:
            self._has_left = True
            self._stop_playing()
            self.conversation.leave(self.device)

    # ── What the person says ─────────────────────────────────────────────────────────────────────

    def listen(self, how: Literal["ptt", "hands_free"], question: str | None = None) -> None:
        """Open the microphone. `question`: what stood on the screen then; empty: nothing."""
        self._stream = self._stream % STREAMS + 1
        self._samples = 0
        self._resampler = resampler(self._hears_at, HEARING_RATE)
        self.listens = how
        started = ListenStarted(self.device, self._stream, how, wait_ms=WAITS_MS, question=question)
        self.conversation.happened(started)

    def hear(self, pcm: bytes) -> bytes:
        """Sound of the open microphone; returns it as it is heard, at 16 kHz."""
        if self._resampler is None or not self.listens:
            return b""
        heard = self._resampler.feed(pcm[: len(pcm) // 2 * 2])
        self._hand_on(heard)
        return heard

    def listened(self) -> None:
        """That was all: it is answered now."""
        if self._resampler and self.listens:
            self._hand_on(self._resampler.finish())
            self.conversation.happened(ListenStopped(self.device, self._stream, self._samples))
        self.listens, self._resampler = "", None

    def unheard(self) -> None:
        """Forget what was said."""
        if self.listens:
            self.conversation.happened(ListenCancelled(self.device, self._stream))
        self.listens, self._resampler = "", None

    def utterance_ended(self) -> None:
        """The conversation found the end of what was said by itself."""
        self.listens, self._resampler = "", None

    @property
    def heard_s(self) -> float:
        """Seconds of what is being heard."""
        return self._samples / HEARING_RATE

    def type(self, text: str, question: str | None = None) -> None:
        """Words that were not spoken."""
        self.conversation.happened(Typed(self.device, text, question=question))

    def prefer(self, voice: str | None, speed: float) -> None:
        """Be spoken to in this voice, where one is named."""
        self.conversation.happened(Preferred(self.device, voice, speed))

    def _hand_on(self, pcm: bytes) -> None:
        for start in range(0, len(pcm), PIECE_BYTES):
            piece = pcm[start : start + PIECE_BYTES]
            self.conversation.happened(AudioHeard(self.device, self._stream, self._samples, piece))
            self._samples += len(piece) // 2

    # ── What the person does ─────────────────────────────────────────────────────────────────────

    def interrupt(self, heard_s: float | None = None) -> None:
        """Silence. `heard_s`: what was heard of the latest speech, if the client knows it better
        than the clock."""
        heard = self._played() if heard_s is None else int(heard_s * self._speaks_at)
        stream = self._plays or None
        self._stop_playing()
        self.conversation.happened(Interrupted(self.device, stream, heard))

    def decide(self, question: str, nonce: str, *, approved: bool) -> None:
        """Answer a question as a tap does."""
        answer = partial(ApprovalAnswered, self.device, question, nonce, code=None)
        self.conversation.happened(answer("yes") if approved else answer("no"))

    def shown(self, question: str) -> None:
        """The client was sent all of a question."""
        self.conversation.happened(QuestionShown(self.device, question))

    @property
    def plays(self) -> bool:
        """Whether the client still plays what it was sent, by the clock."""
        self._played()
        return self._clock is not None and not (self._clock.is_done and self._ended is not None)

    # ── Outlet: what the conversation hands over ─────────────────────────────────────────────────

    def tell(self, message: FromServer, ticket: Ticket) -> None:
        """Hand it on, and note which stream of speech is played."""
        match message:
            case SpeechStart(stream=stream, rate=rate) if stream != self._plays:
                self._stop_playing()
                self._plays, self._clock, self._ended = stream, PlaybackClock(rate), None
            case SpeechStop(stream=stream, reason="done", samples=samples):
                if stream == self._plays:
                    self._ended = samples or 0
                    self._report()
            case SpeechStop(stream=stream):
                if stream == self._plays:
                    self._stop_playing()
        self._told(message, ticket)

    def send(self, speech: Send) -> None:
        """Hand speech on; by the clock it is played from now."""
        if speech.stream == self._plays and self._clock:
            self._clock.sent(len(speech.pcm) // 2, _now())
            if self._reporting is None:
                self._report_later()
            self._sounded(speech.pcm)

    def _played(self) -> int:
        return self._clock.played(_now()) if self._clock else 0

    def _report_later(self) -> None:
        self._reporting = asyncio.get_running_loop().call_later(REPORTS_S, self._report)

    def _report(self) -> None:
        if self._reporting:
            self._reporting.cancel()
        self._reporting = None
        if self._clock is None or self._has_left:
            return
        played = self._played()
        is_over = self._clock.is_done and self._ended is not None
        self.conversation.happened(Played(self.device, self._plays, played, done=is_over))
        if is_over:
            self._clock = None
        else:
            self._report_later()

    def _stop_playing(self) -> None:
        self._clock = None
        if self._reporting:
            self._reporting.cancel()
        self._reporting = None


def _now() -> float:
    return asyncio.get_running_loop().time()
