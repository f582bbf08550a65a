"""Recognises one utterance: shows drafts while a person speaks, and has the final text ready.

    feed   ▁▂▅▇▅▂▇▅▁▁▁▁▁▁▂▇▅▂▁▁▁▁▁▁▁▁▁▁│release
    draft     d   d                     what is shown while speaking, every 400 ms
    guess           g··x    g────ok     a pause of 120 ms: transcribe as if final
    final                              ▌only silence since: the guess is the final, at no cost

A guess is revoked when speech goes on. In a long utterance it is kept instead: what came before
the pause is settled, and only what follows it is still open. So a release after a minute costs no
more than one after ten seconds.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from sayso.server.speech.errors import SpeechError
from sayso.server.speech.recognition.agreement import Agreement, Partial
from sayso.server.speech.recognition.foreign_speech import ForeignSpeech
from sayso.server.speech.recognition.loudness import from_pcm, quietest_cut
from sayso.server.speech.recognition.recognizer import (
    HEARING_RATE,
    DraftNotMade,
    Recognizer,
    Transcript,
)
from sayso.server.speech.recognition.retries import RetryingRecognizer
from sayso.server.speech.recognition.scheduler import (
    BUSY,
    Ask,
    Capacity,
    FixedCapacity,
    Overtaken,
    PassScheduler,
    Rank,
    Work,
)
from sayso.server.speech.recognition.voice_activity import VoiceActivity
from sayso.server.speech.synthesis.device_language import DeviceLanguages

SECOND = HEARING_RATE * 2
"""Bytes of one second."""

MAX_UTTERANCE = 60.0
"""Seconds. Nobody holds a key longer on purpose; the turn machine ends the turn then, too."""

MAX_BYTES = int(MAX_UTTERANCE * SECOND)

DRAFT_REST = 2.0
"""Drafts take at most one part in so many of the time: a slow machine shows less, not later."""

NOTICED_AFTER = 0.06
"""Seconds of speech after which a pause counts as over."""

SENTENCE_END = (".", "!", "?", "\u3002", "\uff01", "\uff1f")
"""The last three are those of Chinese and Japanese."""


@dataclass(frozen=True, slots=True)
class HearingPace:
    """When passes are made, in seconds of audio."""

    draft_every: float = 0.4
    """New speech between two drafts."""
    hush: float = 0.04
    """Silence in which no draft begins: if a pause comes of it, the guess must not wait for one."""
    pause: float = 0.12
    """Silence after which the utterance may be over; shorter ones lie inside of words."""
    settle_sentence: float = 15.0
    """Open audio from which a pause after a full sentence settles it."""
    settle_any: float = 20.0
    """Open audio from which any clear pause settles it."""
    clear_pause: float = 0.25
    """A shorter one may lie in a sentence or before the soft end of a word, which is then heard on
    both sides of the seam."""
    settle_forced: float = 26.0
    """Open audio that is cut at its quietest place: Whisper takes no more than 28 s at once."""
    shortest_piece: float = 14.0
    """A forced cut is not made before this."""


class SpeechRecognition:
    """Hears any number of people at once with one recognizer."""

    def __init__(
        self,
        recognizer: Recognizer,
        *,
        pace: HearingPace | None = None,
        capacity: Capacity | None = None,
        only_language: str = "",
    ) -> None:
        """`capacity`: passes that the recognizer takes at the same time; one, unless it says more.
        `only_language`: the one that the recognizer hears; empty: it hears many."""
        self.only_language = only_language
        self._foreign_speech = ForeignSpeech(only_language)
        self._recognizer = recognizer
        self._pace = pace or HearingPace()
        self._scheduler = PassScheduler(capacity or FixedCapacity(1))
        self._device_languages = DeviceLanguages()

    def listen(
        self,
        on_partial: Callable[[Partial], None],
        device: str = "",
        on_trouble: Callable[[str], None] = lambda _: None,
        language: str = "",
        on_wordless: Callable[[bool], None] = lambda _: None,
    ) -> "UtteranceRecognition":
        """Begin to hear one utterance of a device.

        `on_trouble` takes a sentence for the person, where something holds up what they said.
        `language` (BCP 47) is what the device is known to be spoken to in; empty: it is found out.
        `on_wordless` is told in a pause that nothing heard until then was a word, and when that
        no longer holds, because the voice went on.
        """
        expected = language.partition("-")[0].lower() or self._device_languages.language_of(device)
        recognizer_with_retries = RetryingRecognizer(self._recognizer, expected, on_trouble)

        def heard(transcript: Transcript) -> Transcript:
            self._device_languages.heard(device, transcript)
            foreign = self._foreign_speech.is_foreign(device, transcript, language)
            return replace(transcript, foreign=foreign)

        return UtteranceRecognition(
            recognizer_with_retries, self._scheduler, self._pace, on_partial, heard, on_wordless
        )

    def language_of(self, device: str) -> str:
        """The language in which the device was spoken to; empty if that is not known."""
        return self._device_languages.language_of(device)


@dataclass(frozen=True, slots=True)
class _Guess:
    """A pass over the open audio up to some point, made before it is known to be wanted."""

    ask: Ask
    upto: int
    """Where its audio ends, in bytes of the utterance."""
    spoken: int
    """How much speech had been heard by then, in samples."""


class UtteranceRecognition:
    """One utterance, from the first sample to the transcript."""

    def __init__(
        self,
        recognizer_with_retries: RetryingRecognizer,
        scheduler: PassScheduler,
        pace: HearingPace,
        on_partial: Callable[[Partial], None],
        on_heard: Callable[[Transcript], Transcript],
        on_wordless: Callable[[bool], None],
    ) -> None:
        self._recognizer_with_retries = recognizer_with_retries
        self._on_heard = on_heard
        self._scheduler = scheduler
        self._pace = pace
        self._on_partial = on_partial
        self._on_wordless = on_wordless
        self._state: Literal["listening", "finishing", "done"] = "listening"
        self._audio = bytearray()
        self._gate = VoiceActivity()
        self._agreement = Agreement()
        self._settled: list[Transcript] = []
        self._open = 0
        """Where the audio begins that is not settled yet, in bytes."""
        self._draft: Ask | None = None
        self._draft_due = int(pace.draft_every * HEARING_RATE)
        """The amount of speech, in samples, at which the next draft is made."""
        self._guess: _Guess | None = None
        """Valid while nothing has been said since."""
        self._settling: _Guess | None = None
        """Speech went on after it, but its part of a long utterance is done."""
        self._understood_bytes = 0
        """Where the audio ended of which words were shown last."""
        self._understood_spoken = -1
        """How much speech had been heard, in samples, by the latest guess that was told."""
        self._rest_until = 0
        """A pass failed: no further one before so much speech, in samples, has been heard."""

    @property
    def seconds(self) -> float:
        """How much has been heard."""
        return len(self._audio) / SECOND

    @property
    def understood_until(self) -> int | None:
        """The sample up to which the voice is understood in what was told last.

        None where nothing was told yet, nor is a pass under way over all that was said.
        """
        if self._understood_spoken == self._gate.spoken:
            return len(self._audio) // 2  # Only silence came since.
        if self._understood_bytes or self._guess is not None:
            return self._understood_bytes // 2
        return None

    @property
    def full(self) -> bool:
        """Has the limit been reached? Further audio is not kept."""
        return len(self._audio) >= MAX_BYTES

    def feed(self, pcm: bytes) -> None:
        """Take the next samples: any amount, at any pace."""
        if self._state != "listening":
            return
        pcm = pcm[: MAX_BYTES - len(self._audio)]
        self._audio += pcm
        self._gate.feed(pcm)
        self._consider()

    async def finish(self) -> Transcript:
        """The speaker is done: what was said. An empty text if nothing was."""
        self._state = "finishing"
        self._forget(self._draft)
        try:
            await self._finish_settling()
            last = await self._last_part()
        finally:
            self.drop()
        parts = [part for part in [*self._settled, last] if part.text]
        surest = max(parts, key=lambda part: part.language_sure, default=last)
        whole = Transcript(
            " ".join(part.text for part in parts),
            surest.language,
            min((part.confidence for part in parts), default=0.0),
            surest.language_sure,
        )
        return self._on_heard(whole)

    def drop(self) -> None:
        """Forget it all; nobody wants to know."""
        self._state = "done"
        self._forget(self._draft)
        for guess in (self._guess, self._settling):
            self._forget(guess.ask if guess else None)
        self._draft = self._guess = self._settling = None
        self._audio.clear()

    # While listening: what to do next, after each piece of audio and each pass.

    def _consider(self) -> None:
        if self._state != "listening":
            return
        falling_quiet = self._gate.quiet_for >= self._pace.hush * HEARING_RATE
        pausing = self._gate.quiet_for >= self._pace.pause * HEARING_RATE
        if self._guess is not None and self._gate.spoken > self._guess.spoken:
            self._revoke(self._guess)
        if self._settling is not None or self._guess is not None:
            return
        if self._gate.spoken < self._rest_until:
            return
        if self._open_seconds(len(self._audio)) >= self._pace.settle_forced:
            self._settle_later(self._make_guess(Rank.PIECE, self._quietest_place()))
        elif pausing and self._gate.spoken > 0:
            self._guess = self._make_guess(Rank.GUESS, len(self._audio) & ~1)
            self._guess.ask.result.add_done_callback(partial(self._guess_done, self._guess))
        elif self._draft is None and self._gate.spoken >= self._draft_due and not falling_quiet:
            self._make_draft()

    def _make_draft(self) -> None:
        began = asyncio.get_running_loop().time()
        part, upto = self._open, len(self._audio)
        ask = self._scheduler.ask(Rank.DRAFT, self._pass(upto, draft=True))
        self._draft = ask

        def done(result: asyncio.Future[Transcript]) -> None:
            self._draft = None
            took = asyncio.get_running_loop().time() - began
            gap = max(self._pace.draft_every, took * DRAFT_REST)
            self._draft_due = self._gate.spoken + int(gap * HEARING_RATE)
            self._rest_after(result)
            if self._open == part:
                self._show(result, upto)
            self._consider()

        ask.result.add_done_callback(done)

    def _make_guess(self, rank: Rank, upto: int) -> _Guess:
        return _Guess(self._scheduler.ask(rank, self._pass(upto)), upto, self._gate.spoken)

    def _guess_done(self, guess: _Guess, result: asyncio.Future[Transcript]) -> None:
        if not _failed(result):
            self._understood_spoken = guess.spoken
        self._show(result, guess.upto)
        if self._guess is guess:
            if _failed(result):
                self._guess = None  # if it was overtaken and the pause goes on, it is made again
                self._rest_after(result)
            elif self._is_wordless(result):
                self._on_wordless(True)
        self._consider()

    def _is_wordless(self, result: asyncio.Future[Transcript]) -> bool:
        if self._state != "listening" or self._settled or not result.done():
            return False
        return not _failed(result) and not result.result().text

    def _revoke(self, guess: _Guess) -> None:
        """Speech went on after a guess. In a long utterance it may settle what came before."""
        self._guess = None
        length = self._open_seconds(guess.upto)
        result = guess.ask.result
        if self._is_wordless(result):
            self._on_wordless(False)
        ended = (
            result.done() and not _failed(result) and result.result().text.endswith(SENTENCE_END)
        )
        paused = self._pace.pause + (len(self._audio) - guess.upto) / SECOND - NOTICED_AFTER
        clear = paused >= self._pace.clear_pause
        if clear and length >= (self._pace.settle_sentence if ended else self._pace.settle_any):
            self._settle_later(guess)
        else:
            self._forget(guess.ask)

    def _settle_later(self, guess: _Guess) -> None:
        self._settling = guess
        guess.ask.result.add_done_callback(lambda _: self._settle(guess))

    def _settle(self, guess: _Guess) -> None:
        """The pass over an early part is done: close that part."""
        if self._settling is not guess:
            return
        self._settling = None
        self._rest_after(guess.ask.result)
        if not _failed(guess.ask.result):
            heard = guess.ask.result.result()
            self._settled.append(heard)
            self._open = guess.upto
            if self._state == "listening":
                self._on_partial(self._agreement.settle(heard.text))
        self._consider()

    def _rest_after(self, result: asyncio.Future[Transcript]) -> None:
        """Don't ask a recognizer that can't answer over and over; the final will tell why."""
        if result.cancelled() or isinstance(result.exception(), (Overtaken, DraftNotMade)):
            return
        if result.exception() is not None:
            self._rest_until = self._gate.spoken + HEARING_RATE

    def _show(self, result: asyncio.Future[Transcript], upto: int) -> None:
        if self._state == "listening" and not _failed(result) and result.result().text:
            self._understood_bytes = upto
            self._on_partial(self._agreement.hear(result.result().text))

    # At the end: the rest, with everything else out of its way.

    async def _finish_settling(self) -> None:
        settling = self._settling
        if settling is not None:
            settling.ask.promote(Rank.FINAL)
            await asyncio.wait([settling.ask.result])
            self._settle(settling)

    async def _last_part(self) -> Transcript:
        guess = self._guess
        if guess is not None and self._gate.spoken == guess.spoken:
            guess.ask.promote(Rank.FINAL)
            with contextlib.suppress(Overtaken, SpeechError):
                return await self._scheduler.result(guess.ask, self._tell_busy)
        else:
            self._forget(guess.ask if guess else None)
        ask = self._scheduler.ask(Rank.FINAL, self._pass(len(self._audio)))
        return await self._scheduler.result(ask, self._tell_busy)

    def _pass(self, upto: int, *, draft: bool = False) -> Work:
        """A pass over the open audio up to a point. The audio is kept until it is understood."""
        audio = bytes(self._audio[self._open : upto])
        prompt = " ".join(part.text for part in self._settled if part.text)

        async def work() -> Transcript:
            return await self._recognizer_with_retries.ask(audio, prompt, draft=draft)

        return work

    def _tell_busy(self) -> None:
        self._recognizer_with_retries.on_trouble(BUSY)

    def _open_seconds(self, upto: int) -> float:
        return (upto - self._open) / SECOND

    def _quietest_place(self) -> int:
        shortest = int(self._pace.shortest_piece * HEARING_RATE)
        samples = from_pcm(bytes(self._audio[self._open :]))
        return self._open + 2 * quietest_cut(samples, shortest, len(samples) - HEARING_RATE)

    def _forget(self, ask: Ask | None) -> None:
        if ask is not None:
            self._scheduler.forget(ask)


def _failed(result: asyncio.Future[Transcript]) -> bool:
    return result.cancelled() or result.exception() is not None
