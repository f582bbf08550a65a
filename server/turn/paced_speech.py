"""Sends one spoken answer, paced by what the device has played.

    played         sent            synthesized
      |---- ahead ---|---- waiting ----|            ahead <= the device's pace

Little is ever ahead, so an interruption has little to throw away.
"""

import array
import sys
from typing import Literal

from sayso.protocol.messages import SpeechStart, SpeechStop, Word
from sayso.server.turn.effects import Send
from sayso.server.turn.events import ChunkSpoken, Joined, SoundCame, Ticket
from sayso.server.turn.pacing import Pacing
from sayso.server.turn.phrases import is_aside, is_filler

FRAME_S = 0.04
"""Length of a frame of speech on its way down: few frames, and little waits for a whole one."""

PLAYBACK_STALL_S = 10.0
"""A device that plays nothing for so long has lost its loudspeaker; the speech is given up."""

BYTES_PER_SAMPLE = 2
FRAME_HEADER_BYTES = 12

AUDIBLE = 150
"""Of 32768: a voice at rest is quieter."""
LONGEST_REST_S = 0.6
"""Voices end a sentence with silence, which is nothing that anybody listens to: of the end of a
chunk, so much is looked through for it."""
KEPT_BACK_S = 0.02
"""A loudspeaker's filter keeps the last of the sound to itself until more comes: what it has played
but for so much counts as played."""


class PacedSpeech:
    """One stream of speech to one device, for one ticket."""

    def __init__(self, ticket: Ticket, device: Joined, stream: int, pace: Pacing) -> None:
        self.ticket = ticket
        self.device = device.device
        self.stream = stream
        self._expects_sound = False
        """Whether words were given to synthesis that have not come back as sound."""
        self.state: Literal["open", "finishing", "complete", "sent"] = "open"
        self._moved_at = 0.0
        self._pace = pace
        pace.pauses()
        self._frame_bytes = device.max_frame_bytes - FRAME_HEADER_BYTES
        self._rate = 0
        self._audio = bytearray()
        self._sent = 0
        self._played = 0
        self._sounds_to = 0
        """Where the last that can be heard of what is here ends."""
        self._words: list[Word] = []
        self._chunks: list[str] = []
        """The words of each, as they were given to synthesis."""
        self._asides: list[str] = []
        """What was said for others than the answer."""
        self._interjections: list[str] = []
        """What was said in between, while the answer was waited for."""
        self._interjected_at: int | None = None
        """The sample at which the latest of them begins."""
        self.asks = False
        """What was given to it last is a question."""
        self._answer_at: int | None = None
        """The sample at which the answer's own words begin, after what only fills a silence."""

    @property
    def has_sound(self) -> bool:
        return self._rate > 0

    def expect_aside(self, text: str) -> None:
        """These words come, and are no part of the answer."""
        self._asides.append(text)

    def expect_interjection(self, text: str) -> None:
        """These words come in between: the answer has not begun with them."""
        self.expect_aside(text)
        self._interjections.append(text)
        self._interjected_at = None

    @property
    def interjection_played(self) -> bool:
        """Some sound of the latest interjection was heard."""
        return self._interjected_at is not None and self._played > self._interjected_at

    def _is_aside(self, chunk: str) -> bool:
        return is_aside(chunk) or any(chunk.strip() in aside for aside in self._asides)

    def is_interjected(self, chunk: str) -> bool:
        """Whether these words were said in between."""
        return any(chunk.strip() in text for text in self._interjections)

    def expect_sound(self) -> None:
        """Words were given to synthesis."""
        self._expects_sound = True

    @property
    def is_audible(self) -> bool:
        """There is sound that was not heard yet, or words that will be sound."""
        return self._expects_sound or not self._has_played(self._sounds_to)

    @property
    def is_playing(self) -> bool:
        """The device has sound that it has not played."""
        return not self._has_played(self._sent)

    def _has_played(self, samples: int) -> bool:
        return self._played + int(KEPT_BACK_S * self._rate) >= samples

    @property
    def is_over(self) -> bool:
        """Nothing is left to be sent or played."""
        return self.state in ("complete", "sent") and self._played >= self._length

    @property
    def is_answering(self) -> bool:
        """It has, or will have, words of the answer."""
        return self._expects_sound or self._answer_at is not None

    @property
    def answer_sent(self) -> bool:
        """Some sound of the answer itself has left."""
        return self._answer_at is not None and self._sent > self._answer_at

    @property
    def answer_played(self) -> bool:
        """Some sound of the answer itself was heard."""
        return self._answer_at is not None and self._played > self._answer_at

    @property
    def deadline(self) -> float:
        """When a device that has sound to play, and plays nothing, is given up."""
        return self._moved_at + PLAYBACK_STALL_S if self.is_playing else float("inf")

    @property
    def _length(self) -> int:
        return self._sent + len(self._audio) // BYTES_PER_SAMPLE

    def add(self, chunk: ChunkSpoken) -> SpeechStart:
        """Queue a chunk; returns its announcement."""
        self._rate = self._rate or chunk.rate
        self._expects_sound = chunk.more or self.state == "finishing"
        start = self._length
        end = start + max(chunk.samples, len(chunk.pcm) // BYTES_PER_SAMPLE)
        self._audio += chunk.pcm
        self._sounds_to = start + _end_of_sound(chunk.pcm, self._rate)
        words = tuple(Word(w.text, w.start + start, w.end + start) for w in chunk.words)
        self.asks = chunk.text.rstrip().endswith("?")
        self._chunks.append(chunk.text)
        if not self._is_aside(chunk.text):
            self._words.extend(words or (Word(chunk.text, start, end),))
        if self.is_interjected(chunk.text):
            self._interjected_at = start if self._interjected_at is None else self._interjected_at
        elif not is_filler(chunk.text) and self._answer_at is None:
            self._answer_at = start
        return SpeechStart(self.stream, self._rate, chunk.text, start, words)

    def extend(self, sound: SoundCame) -> None:
        """Queue more sound of the chunk that was queued last."""
        if heard := _last_heard(sound.pcm, len(sound.pcm)):
            self._sounds_to = self._length + heard
        self._audio += sound.pcm
        self._expects_sound = sound.more or self.state == "finishing"

    def has_said(self, text: str) -> bool:
        """These words were heard, the last of them too: all of them stand in what was played."""
        if not text or self._expects_sound or not self._has_played(self._sounds_to):
            return False
        return _letters(text) in _letters("".join(self._chunks))

    def finish(self) -> None:
        """No further words come; the last of them may still become sound."""
        if self.state == "open":
            self.state = "finishing"

    def complete(self) -> None:
        """No further chunk comes."""
        if self.state in ("open", "finishing"):
            self.state = "complete"
            self._expects_sound = False

    def break_off(self) -> SpeechStop | None:
        """Nothing more comes in this stream, of which all was played; returns its end."""
        return SpeechStop(self.stream, "done", self._sent) if self._rate else None

    def played(self, samples: int, now: float, *, done: bool = False) -> None:
        """The device reports how far it has played."""
        samples = min(samples, self._sent)
        if samples > self._played:
            self._played = samples
            self._moved_at = now
            if self.is_playing:
                self._pace.reported(samples / self._rate, now)
            else:
                self._pace.pauses()
        if done and self.state == "sent":
            self._played = self._length

    def resume(self, now: float) -> None:
        """It was held; that the device played nothing meanwhile is not its fault."""
        self._moved_at = now

    def due(self, now: float) -> tuple[list[Send], SpeechStop | None]:
        """Take what may be sent now, and the stream's end when all is sent."""
        if not self.is_playing:
            self._moved_at = now
        ahead = int(self._pace.ahead_s * self._rate)
        step = BYTES_PER_SAMPLE * min(
            int(FRAME_S * self._rate), self._frame_bytes // BYTES_PER_SAMPLE, ahead
        )
        frames: list[Send] = []
        while piece := bytes(self._audio[:step]):
            samples = len(piece) // BYTES_PER_SAMPLE
            if self._sent + samples > self._played + ahead:
                break
            del self._audio[:step]
            last = self.state == "complete" and not self._audio
            frames.append(Send(self.device, self.stream, self._sent, piece, last))
            self._sent += samples
        if self.state == "complete" and not self._audio:
            self.state = "sent"
            return frames, SpeechStop(self.stream, "done", self._sent) if self._rate else None
        return frames, None

    @property
    def heard(self) -> str:
        """The words of the answer that have been played at least by half."""
        return " ".join(w.text for w in self._words if (w.start + w.end) / 2 <= self._played)


def _letters(text: str) -> str:
    """Without what synthesis may move: blanks and punctuation."""
    return "".join(character for character in text if character.isalnum())


def _end_of_sound(pcm: bytes, rate: int) -> int:
    """How many samples there are to the last one that can be heard; all where none can."""
    return _last_heard(pcm, int(LONGEST_REST_S * rate)) or len(pcm) // BYTES_PER_SAMPLE


def _last_heard(pcm: bytes, most: int) -> int:
    """The same, looking at so many of the last samples; 0 where none can be heard."""
    samples = array.array("h", pcm[: len(pcm) - len(pcm) % BYTES_PER_SAMPLE])
    if sys.byteorder == "big":
        samples.byteswap()
    first = max(0, len(samples) - most)
    heard = (at for at in range(len(samples) - 1, first - 1, -1) if abs(samples[at]) > AUDIBLE)
    return next(heard, -1) + 1
