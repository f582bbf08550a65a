"""Runs Piper: a loaded voice that synthesises one chunk. Lives in the worker.

piper-tts is under the GPL; only this file and the process that runs it touch it.
"""

import contextlib
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from piper import PiperVoice
from piper.config import PiperConfig, SynthesisConfig
from piper.const import BOS, EOS, PAD
from piper.patch_voice_with_alignment import add_alignment_output
from piper.voice import AudioChunk

from sayso.protocol.messages import Word
from sayso.server.speech.errors import ModelBroken, ModelMissing
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.speech.synthesis.word_times import Group, place

KNOWN_WORDS = 4096
"""Words whose phonemes are remembered: most of what is ever said."""

MEAN_FRAMES = 1.29
"""Frames that a phoneme lasts before rounding, on average, at a medium voice's natural speed."""

SHORTEST_SCALE = 0.2
"""Under it piper swallows sounds."""

AUDIBLE = 150
"""Of 32767: a sample above it (-47 dB) belongs to speech."""

LEAD = 0.04
"""Seconds kept before the first audible sample, for soft beginnings."""

PAUSES = frozenset({" ", ",", ".", "!", "?", ":", ";", PAD, BOS, EOS})
"""Not sounds of a word; they belong to the word before them."""


class PiperEngine:
    """A loaded voice."""

    def __init__(self, path: Path, *, threads: int, seed: int) -> None:
        settings = Path(f"{path}.json")
        for needed in (path, settings):
            if not needed.is_file():
                raise ModelMissing(
                    f"There is no piper voice at {needed}. "
                    "Run `sayso models` to see which voices are there."
                )
        try:
            self._voice = _load(path, settings, threads, seed)
        except Exception as problem:  # onnx and onnxruntime have no narrower one in common
            raise ModelBroken(
                f"The piper voice {path} cannot be used ({problem}). "
                "Fetch it again with `sayso models get`, or choose another one."
            ) from problem
        self._alone = lru_cache(maxsize=KNOWN_WORDS)(self._phonemes_of)

    @property
    def rate(self) -> int:
        return int(self._voice.config.sample_rate)

    @property
    def language(self) -> str:
        return str(self._voice.config.espeak_voice)

    def speak(self, text: str, *, speed: float = 1.0) -> Sound:
        """Synthesize a chunk, with the time of each of its words."""
        text = text.replace("[[", "[")  # piper would read raw phonemes between two brackets
        config = SynthesisConfig(length_scale=self._voice.config.length_scale * scale_for(speed))
        chunks = list(self._voice.synthesize(text, config, include_alignments=True))
        pcm = b"".join(chunk.audio_int16_bytes for chunk in chunks)
        groups: list[Group] = []
        for chunk in chunks:
            spoken = self._groups(chunk)
            if not spoken:
                return without_lead(Sound(pcm, self.rate))
            groups += spoken
        words = text.split()
        placed = place(words, [self._alone(word) for word in words], groups)
        return without_lead(Sound(pcm, self.rate, placed))

    def _phonemes_of(self, word: str) -> tuple[str, ...]:
        sentences = self._voice.phonemize(word)
        return tuple(p for sentence in sentences for p in sentence if p not in PAUSES)

    def _groups(self, chunk: AudioChunk) -> list[Group]:
        """The chunk's phonemes between spaces; empty if the voice gives no lengths."""
        lengths = chunk.phoneme_id_samples
        if lengths is None or len(lengths) != len(chunk.phoneme_ids):
            return []
        ids = self._voice.config.phoneme_id_map
        left = [int(length) for length in lengths]
        owed = sum(len(ids[mark]) for mark in (BOS, PAD))
        before, left = left[:owed], left[owed:]
        groups: list[Group] = []
        sounds: list[str] = []
        taken: list[int] = [sum(before)]
        for phoneme in chunk.phonemes:
            if phoneme not in ids:
                continue
            width = len(ids[phoneme]) + len(ids[PAD])
            taken.append(sum(left[:width]))
            left = left[width:]
            if phoneme == " " and sounds:
                groups.append(Group(tuple(sounds), tuple(taken)))
                sounds, taken = [], []
            elif phoneme not in PAUSES:
                sounds.append(phoneme)
        taken += left
        if sounds:
            groups.append(Group(tuple(sounds), tuple(taken)))
        elif groups:
            last = groups.pop()
            groups.append(Group(last.phonemes, (*last.lengths, *taken)))
        if sum(group.samples for group in groups) != len(chunk.audio_float_array):
            return []
        return groups


def scale_for(speed: float) -> float:
    """Piper's length scale for a speed.

    Piper rounds every phoneme up to whole frames, so a scale of 1/2 makes speech only 1.55 times
    as fast. The half frame that rounding adds on average is taken off before scaling.
    """
    return max(SHORTEST_SCALE, ((MEAN_FRAMES + 0.5) / speed - 0.5) / MEAN_FRAMES)


def without_lead(sound: Sound) -> Sound:
    """Without the silence that piper puts before some words: up to 0.4 s that one would wait."""
    samples = np.abs(np.frombuffer(sound.pcm, "<i2").astype(np.int32))
    heard = np.flatnonzero(samples > AUDIBLE)
    cut = int(heard[0] - LEAD * sound.rate) if heard.size else 0
    if cut <= 0:
        return sound
    words = tuple(
        Word(word.text, max(0, word.start - cut), max(0, word.end - cut)) for word in sound.words
    )
    return Sound(sound.pcm[2 * cut :], sound.rate, words)


def _load(path: Path, settings: Path, threads: int, seed: int) -> PiperVoice:
    """What PiperVoice.load does, with our own bound on threads."""
    model = onnx.load(str(path))
    with contextlib.suppress(ValueError):  # it has that output already, or can't have it
        add_alignment_output(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # To plan which of thousands of results share their memory takes three quarters of a second at
    # each start, and saves 4 MB of 400.
    options.enable_mem_reuse = False
    # A thread that spins while it waits takes the core that recognition needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    onnxruntime.set_seed(seed)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), sess_options=options, providers=["CPUExecutionProvider"]
    )
    config = PiperConfig.from_dict(json.loads(settings.read_text("utf-8")))
    return PiperVoice(session=session, config=config)
