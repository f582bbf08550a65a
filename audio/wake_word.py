"""Detects the wake word that makes the device listen. All of it happens on the device.

    frames ──▶ voice? ──no──▶ ring of 500 ms
                 │ yes: the ring first
                 ▼
               model, 80 ms at a time ──▶ heard ──▶ settling ──▶ Woken

The model costs 4 % of a core, so it is only fed while there is a voice. It knows the word from
0.4 s before its end, if a pause follows, to 0.4 s after it, if speech goes on. Hence the settling:
a pause just after the word means that what is meant begins later, and nothing of the word is handed
on; otherwise what followed the word is.
"""

import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sayso.audio.errors import BadSound, NotInstalled
from sayso.audio.pcm import FRAME_MS, SILENCE_DB, level

SURE = 0.5
"""The model's probability that counts: what its authors recommend."""
CHUNK_BYTES = 2560
"""80 ms: what the model takes at a time."""
PRE_ROLL_FRAMES = 25
"""500 ms from before the voice gate opened: soft beginnings, and the model's sense of context."""
LINGER_FRAMES = 30
"""The model is fed 600 ms beyond the voice: it is sure up to 0.4 s after the word."""
SETTLE_FRAMES = 25
"""500 ms after the word was heard it is clear whether speech goes on."""
PAUSE_FRAMES = 9
"""180 ms as quiet as this are a pause; the stops of consonants are up to 120 ms long."""
PAUSE_DB = 20.0
"""So far below the loudest of the word, a frame holds no speech."""
TAIL_MS = 250
"""How much of the sound before the moment of hearing is handed on when speech goes on."""

Score = Callable[[bytes], float]
"""Takes `CHUNK_BYTES` of sound, gives the probability that the word has just been said."""


@dataclass(frozen=True, slots=True)
class WakeWord:
    """A word and what its model needs to know."""

    name: str
    model: Path
    tail_ms: int = TAIL_MS
    longest_ms: int = 1_000
    """A word said by itself is hardly longer; what is, holds more than the word."""


@dataclass(frozen=True, slots=True)
class Woken:
    """The word was said."""

    sound: bytes
    """What was heard after it until now; under a second."""
    goes_on: bool
    """The person went on without a pause."""


_TAILS_MS = {"okay nabu": 420, "alexa": 220}
_LONGEST_MS = {"alexa": 800}
"""Where a word differs: measured with piper-made speech, the word followed by five commands."""


def wake_words() -> list[str]:
    """The names of the words whose models are installed. Raises `NotInstalled`."""
    stems = {path.stem for path in _models().glob("*.tflite")} - _NO_WORDS
    return sorted(stem.replace("_", " ") for stem in stems)


_NO_WORDS = {"embedding_model", "melspectrogram"}
"""What all words' models share."""


def find_wake_word(wanted: str) -> WakeWord:
    """Finds an installed word by name, or a model of the person's own by the path of its file."""
    name = " ".join(wanted.lower().replace("_", " ").split())
    if name in wake_words():
        return WakeWord(
            name,
            _models() / f"{name.replace(' ', '_')}.tflite",
            _TAILS_MS.get(name, TAIL_MS),
            _LONGEST_MS.get(name, 1_000),
        )
    path = Path(wanted).expanduser()
    if path.suffix != ".tflite" and not path.is_file():
        names = ", ".join(f'"{known}"' for known in wake_words())
        raise BadSound(
            f'There is no wake word "{wanted}"; there are {names}, or give the path of a model.'
        )
    try:
        with path.open("rb") as file:
            begin = file.read(8)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadSound(f"{path} cannot be read: {reason}; check the path.") from error
    if begin[4:] != b"TFL3":
        raise BadSound(f"{path} is no wake-word model: it must be a .tflite of openWakeWord.")
    return WakeWord(path.stem.replace("_", " "), path)


class Spotter:
    """Listens for one word. Frames of 20 ms go in, each with whether it holds a voice."""

    def __init__(self, word: WakeWord, score: Score, forget: Callable[[], None]) -> None:
        self.word = word
        self.score = score
        """The model itself, which must be shown everything in order."""
        self._forget = forget
        self._ring: deque[bytes] = deque(maxlen=PRE_ROLL_FRAMES)
        self._chunk = bytearray()
        self._linger = 0
        self._spoken = 0
        """Frames since the voice began."""
        self._loudest_db = SILENCE_DB
        self._tail: deque[bytes] = deque(maxlen=word.tail_ms // FRAME_MS)
        self._held: list[bytes] | None = None
        """While settling: what is handed on if speech goes on."""
        self._quiet = 0

    def take(self, frame: bytes, *, voice: bool) -> Woken | None:
        """Takes the next frame; tells when the word has been said and what follows is clear."""
        if self._held is not None:
            return self._settle(frame, level(frame).rms)
        self._tail.append(frame)
        if voice:
            self._begin_feeding()
            self._linger = LINGER_FRAMES
        if not self._linger:
            self._ring.append(frame)
            return None
        loudness = level(frame).rms
        self._linger -= 1
        self._spoken += 1
        self._loudest_db = max(self._loudest_db, loudness)
        self._count_quiet(loudness)
        if self._feed(frame):
            self._held = list(self._tail)
        return None

    def reset(self) -> None:
        """Forgets all that was heard; the word must be said anew."""
        self._ring.clear()
        self._tail.clear()
        self._chunk.clear()
        self._linger = self._spoken = 0
        self._held = None
        self._forget()

    def _begin_feeding(self) -> None:
        if self._linger:
            return
        self._spoken, self._quiet, self._loudest_db = 0, 0, SILENCE_DB
        waiting = b"".join(self._ring)
        self._ring.clear()
        self._feed(waiting)

    def _feed(self, sound: bytes) -> bool:
        self._chunk += sound
        heard = False
        while len(self._chunk) >= CHUNK_BYTES:
            heard = self.score(bytes(self._chunk[:CHUNK_BYTES])) >= SURE or heard
            del self._chunk[:CHUNK_BYTES]
        return heard

    def _count_quiet(self, loudness: float) -> None:
        self._quiet = self._quiet + 1 if loudness < self._loudest_db - PAUSE_DB else 0

    def _settle(self, frame: bytes, loudness: float) -> Woken | None:
        held = self._held or []
        held.append(frame)
        self._spoken += 1
        self._count_quiet(loudness)
        alone = (self._spoken - self._quiet) * FRAME_MS <= self.word.longest_ms
        if self._quiet >= PAUSE_FRAMES and alone:
            woken = Woken(b"".join(held[-PAUSE_FRAMES:]), goes_on=False)
        elif len(held) >= (self._tail.maxlen or 0) + SETTLE_FRAMES:
            woken = Woken(b"".join(held), goes_on=True)
        else:
            return None
        self.reset()
        return woken


def load(word: WakeWord) -> Spotter:
    """Loads a word's model: half a second of computing, so call it in a thread."""
    _models()
    from pyopen_wakeword import OpenWakeWord, OpenWakeWordFeatures

    features = OpenWakeWordFeatures.from_builtin()
    model = OpenWakeWord.from_model(word.model)

    def score(chunk: bytes) -> float:
        probabilities = [
            probability
            for embedding in features.process_streaming(chunk)
            for probability in model.process_streaming(embedding)
        ]
        return max(probabilities, default=0.0)

    score(bytes(CHUNK_BYTES))
    # What it remembers of silence: with that it begins again after each word, at once.
    audio, mels, embeddings = features.audio.copy(), features.mels.copy(), model.embeddings.copy()
    counts = features.new_audio_samples, features.new_mels, model.new_embeddings

    def forget() -> None:
        features.audio[:], features.mels[:], model.embeddings[:] = audio, mels, embeddings
        features.new_audio_samples, features.new_mels, model.new_embeddings = counts

    return Spotter(word, score, forget)


def _models() -> Path:
    try:
        import pyopen_wakeword
    except ImportError as error:
        if sys.platform != "linux":
            raise NotInstalled(
                "Wake words need the package pyopen-wakeword, which is made for Linux only: "
                "talk with a key, or give --wake none."
            ) from error
        raise NotInstalled(
            "Wake words need the package pyopen-wakeword: run `pip install 'sayso[hands-free]'`."
        ) from error
    return Path(pyopen_wakeword.__file__).parent / "models"
