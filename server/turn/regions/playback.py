"""The playback region: says at most one thing at a time, to one device.

    silent -> speaking <-> ducked -> silent

Ducked, the answer is held: nothing further is sent until it is clear whether the voice over it
meant something. While an answer is waited for, a few words may be said in between, at another
device too; what comes of the answer meanwhile is kept, and said after them where it belongs:

    kitchen   ── answer … ──┐ silence              ┌── what was kept, and the rest ──
    study                   └── "It's noon." ──────┘
"""

from collections import deque
from collections.abc import Iterable
from typing import Literal

from sayso.protocol.messages import SpeechStart, SpeechStop
from sayso.server.turn.effects import (
    FinishSpeaking,
    HeardOnly,
    Hush,
    Speak,
    SpeechBegan,
    SpokenOut,
)
from sayso.server.turn.events import ChunkSpoken, Interrupted, Joined, Played, SoundCame, Ticket
from sayso.server.turn.paced_speech import PacedSpeech
from sayso.server.turn.pacing import Pacing
from sayso.server.turn.phrases import SENTENCE_BREAK, Aside, words
from sayso.server.turn.regions.away import Away
from sayso.server.turn.regions.shared_state import SharedState

DUCK_S = 2.0
"""How long an answer is held for a voice that says no words: a cough, a laugh, a door. A word is
recognised within a second, on a busy machine within two."""

STREAMS = 0xFFFF
"""A stream's number has 16 bits; 0 is left out."""

NEVER = float("inf")

LATELY = 12
"""Chunks of speech that are remembered as just said: some half a minute."""


class PlaybackRegion:
    """Says answers, paced, holds them for a voice, and stops at once."""

    def __init__(self, shared: SharedState) -> None:
        self._shared = shared
        self._speech: PacedSpeech | None = None
        self._last: PacedSpeech | None = None
        self._paces: dict[tuple[str, float], Pacing] = {}
        """By device and its buffer: what is known of its line."""
        self._stream_count = 0
        self._is_answer = True
        self._held_until: float | None = None
        self._cut: str | None = None
        """The answer was cut short: what was heard of it until then."""
        self._heard_before = ""
        """What was heard of this answer before it was silenced and taken up again."""
        self._has_begun = False
        """Some of this answer has become sound."""
        self._lately: deque[str] = deque(maxlen=LATELY)
        self._reading = ""
        self.was_read_out = False
        """What was given to `read_out` last was heard whole."""
        self._was_speaking = False
        self._away: Away | None = None
        """Set while something is said elsewhere than where the answer belongs."""
        self.quiet_since = -NEVER
        """When it last fell silent."""

    # --- what is known of it ---

    @property
    def is_busy(self) -> bool:
        """An answer is being spoken, or waits for its first sound."""
        return self._speech is not None or self._away is not None

    @property
    def is_speaking(self) -> bool:
        """Words were given to it that are not played yet, or still being synthesized."""
        return self._speech is not None and self._speech.is_audible

    def spoke_at(self, moment: float) -> bool:
        """Whether it speaks now, or did at this moment."""
        return self.is_speaking or moment < self.quiet_since

    @property
    def is_occupied(self) -> bool:
        """Nothing can be said in between now."""
        return self.is_speaking or self.is_held or self._away is not None

    @property
    def is_held(self) -> bool:
        return self._held_until is not None

    @property
    def is_asking(self) -> bool:
        """What it says ends with a question, as far as it is known."""
        return self._speech is not None and self._speech.asks

    @property
    def asked_last(self) -> bool:
        """The last that was said for the turn that counts was a question."""
        return self._latest is not None and self._latest.asks

    def spoke_to(self, device: str) -> bool:
        """What was said last for the turn that counts was said to this device."""
        return self._latest is not None and self._latest.device == device

    @property
    def lately(self) -> Iterable[str]:
        """What was said last, in order: a microphone may bring it back."""
        return tuple(self._lately)

    @property
    def device(self) -> str | None:
        """To whom it speaks."""
        return self._speech.device if self._speech else None

    @property
    def is_answer(self) -> bool:
        """What it says is somebody's answer."""
        return self._is_answer

    @property
    def heard_words(self) -> int:
        """How many words of the answer were heard."""
        spoken = self._speech.heard if self._speech else ""
        return len(f"{self._heard_before} {spoken}".split())

    @property
    def answer_sent(self) -> bool:
        """Some sound of this answer has left."""
        return self._latest is not None and self._latest.answer_sent

    @property
    def answer_played(self) -> bool:
        """Some sound of this answer was heard."""
        return self._latest is not None and self._latest.answer_played

    @property
    def interjection_played(self) -> bool:
        """Some of what was said in between last was heard."""
        return self._latest is not None and self._latest.interjection_played

    def is_interjected(self, chunk: str) -> bool:
        """Whether these words were said in between."""
        return self._speech is not None and self._speech.is_interjected(chunk)

    @property
    def _latest(self) -> PacedSpeech | None:
        """What is spoken, or was spoken last, for the ticket that counts."""
        last = self._last
        return last if last and last.ticket == self._shared.ticket else None

    @property
    def state(self) -> Literal["silent", "speaking", "ducked"]:
        if not self.is_speaking:
            return "silent"
        return "ducked" if self.is_held else "speaking"

    @property
    def deadline(self) -> float:
        if not self._speech:
            return NEVER
        return self._speech.deadline if self._held_until is None else self._held_until

    # --- what is to be said ---

    def open(self, device: Joined, *, answer: bool = True) -> None:
        """Something for this device begins, or goes on after it was silenced. How much is heard of
        it is remembered only of an `answer`."""
        self._is_answer = answer
        self._heard_before, self._cut = self._cut or "", None
        self._stream_count = self._stream_count % STREAMS + 1
        parts = (self._shared.ticket, device, self._stream_count, self._pace_of(device))
        self._speech = self._last = PacedSpeech(*parts)

    def _pace_of(self, device: Joined) -> Pacing:
        here = self._shared.devices
        self._paces = {name: pace for name, pace in self._paces.items() if name[0] in here}
        key = (device.device, device.play_buffer_s)
        return self._paces.setdefault(key, Pacing(device.play_buffer_s))

    def say(self, text: str, tone: float = 0.0) -> None:
        if self._away:
            self._away.kept.append((text, False))
        else:
            self._say(text, tone)

    def _say(self, text: str, tone: float = 0.0) -> None:
        if self._speech:
            if text.strip():
                self._speech.expect_sound()
            self._shared.do(Speak(self._speech.ticket, text, self._speech.device, tone))

    def say_aside(self, aside: Aside, number: int = 0) -> None:
        """Say something that is no part of the answer, in the listener's language."""
        listener = self._away.home if self._away else self.device
        if device := self._shared.devices.get(listener or ""):
            self.say(words(aside, device.language, number) + SENTENCE_BREAK)

    def say_apart(self, text: str) -> None:
        """Say what was made up for this moment, and is no part of the answer either."""
        if self._away:
            self._away.kept.append((text, True))
        elif self._speech:
            self._speech.expect_aside(text)
            self._say(SENTENCE_BREAK + text + SENTENCE_BREAK)

    def interject(self, device: Joined, text: str, tone: float = 0.0) -> None:
        """Say something in between, at any device; to be called while nothing is said. The answer
        goes on after it."""
        if self.device != device.device:
            self._go_away(device)
        if self._speech:
            self._speech.expect_interjection(text)
            self._say(SENTENCE_BREAK + text + SENTENCE_BREAK, tone)
            if self._away:
                self._finish()

    def _go_away(self, device: Joined) -> None:
        home, speech = self.device, self._speech
        self._remember()
        heard = self._cut
        if speech and (stop := speech.break_off()):
            self._tell(stop)
        self.close()
        self.open(device, answer=False)
        self._away = Away(home, heard)

    def _come_home(self, away: Away) -> None:
        self._away, self._cut = None, away.heard
        if device := self._shared.devices.get(away.home or ""):
            self.open(device)
            for text, apart in away.kept:
                if apart:
                    self.say_apart(text)
                else:
                    self._say(text)
            if away.finished:
                self._finish()

    def read_out(self, text: str) -> None:
        """Say this, and note whether it is heard to its end (`was_read_out`)."""
        self._reading, self.was_read_out = text, False
        self.say_apart(text)

    def finish(self) -> None:
        """The answer's text is complete."""
        if self._away:
            self._away.finished = True
        else:
            self._finish()

    def _finish(self) -> None:
        if self._speech:
            self._speech.finish()
            self._shared.do(FinishSpeaking(self._speech.ticket))

    def take(self, chunk: ChunkSpoken | SoundCame) -> bool:
        """Queue a chunk of sound, or more of the latest; false if it is stale."""
        if not self._speech or chunk.ticket != self._speech.ticket:
            return False
        if isinstance(chunk, SoundCame):
            self._speech.extend(chunk)
            return True
        self._lately.append(chunk.text)
        self._tell(self._speech.add(chunk))
        interjected = self._speech.is_interjected(chunk.text)
        if self._is_answer and not self._has_begun and not interjected:
            self._has_begun = True
            self._shared.do(SpeechBegan(chunk.ticket, self._speech.device))
        return True

    def complete(self, ticket: Ticket) -> bool:
        """No further sound comes; false if that is no news."""
        if not self._speech or ticket != self._speech.ticket:
            return False
        self._speech.complete()
        return True

    def played(self, event: Played | Interrupted) -> None:
        """The device reports how far it has played."""
        speech = self._speech
        if not speech or (event.device, event.stream) != (speech.device, speech.stream):
            return
        if isinstance(event, Played):
            speech.played(event.samples, self._shared.now, done=event.done)
        else:
            speech.played(event.heard_samples, self._shared.now)
        self.was_read_out = self.was_read_out or speech.has_said(self._reading)

    # --- a voice over it ---

    def duck(self, device: str) -> None:
        """Somebody speaks at this device: hold what is being said there, for a while."""
        if self.device == device:
            self._held_until = self._shared.now + DUCK_S

    def stay_ducked(self, device: str) -> None:
        """They say words: hold it until these are understood."""
        if self.device == device and self.is_held:
            self._held_until = NEVER

    def resume(self, device: str) -> None:
        """It meant nothing: go on where it stopped."""
        if self._speech and self._speech.device == device and self.is_held:
            self._held_until = None
            self._speech.resume(self._shared.now)

    # --- the end of it ---

    def silence(self) -> None:
        """Stop what is audible. What has not begun may still be said when the person has ended."""
        if self._speech and self._speech.has_sound:
            if self._away:
                self.hush("interrupted")
            else:
                self.stop()

    def stop(self) -> None:
        """Not another word of it; remember what was heard."""
        if away := self._away:
            self._away, self._cut = None, away.heard
        self._remember()
        if self._speech and self._speech.has_sound:
            self.hush("interrupted")
        else:
            self.close()

    def _remember(self) -> None:
        if self._speech and self._is_answer and self._speech.is_answering:
            self._cut = f"{self._heard_before} {self._speech.heard}".strip()

    def hush(self, reason: Literal["interrupted", "failed"]) -> None:
        """Stop, and have the device drop what it has not played."""
        if self._speech:
            self._tell(SpeechStop(self._speech.stream, reason))
            self.close()

    def lose(self, device: str) -> None:
        """A device is gone; nobody is left to hear what was for it."""
        if self.device == device:
            self._remember()
            self.close()

    def close(self) -> None:
        """Nothing more is said for this ticket."""
        if self._speech:
            self._shared.do(Hush(self._speech.ticket))
        self._speech = self._held_until = None

    def settle(self) -> None:
        """The answer is over. If it was cut short, tell what was heard of it."""
        if self._cut is not None:
            self._shared.do(HeardOnly(self._shared.ticket, self._cut))
        elif self._has_begun:
            self._shared.do(SpokenOut(self._shared.ticket))
        self.forget()

    def forget(self) -> None:
        """What was said counts for nothing."""
        self._cut, self._heard_before, self._has_begun = None, "", False

    # --- as time goes on ---

    def look_at_the_clock(self) -> None:
        if self.deadline > self._shared.now:
            return
        if self._speech and self.is_held:
            self.resume(self._speech.device)
        else:
            self._remember()
            self.hush("failed")

    def go_on(self, *, wait: bool) -> None:
        """Send what may be sent; nothing while somebody speaks there (`wait`), or it is held."""
        if self._speech and not wait and not self.is_held:
            frames, stop = self._speech.due(self._shared.now)
            for frame in frames:
                self._shared.do(frame)
            if stop:
                self._tell(stop)
            if self._speech.is_over:
                self._speech = None
        if self._away and not self._speech:
            self._come_home(self._away)
        if self._was_speaking and not self.is_speaking:
            self.quiet_since = self._shared.now
        self._was_speaking = self.is_speaking

    def _tell(self, message: SpeechStop | SpeechStart) -> None:
        if self._speech:
            # Under the ticket that counts: every speech is of it, or it would have been closed.
            self._shared.tell(message, self._speech.device)
