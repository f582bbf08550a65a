"""Runs Piper: a loaded voice that speaks chunks, window by window. Lives in the worker.

piper-tts is under the GPL; only this file and the process that runs it touch it.
"""

import contextlib
import json
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from piper import PiperVoice
from piper.config import PiperConfig, SynthesisConfig
from piper.const import BOS, EOS, PAD

from sayso.protocol.messages import Word
from sayso.server.speech.engines.piper.cut_cache import CutCache
from sayso.server.speech.engines.piper.lead import LEAD_S, without_lead
from sayso.server.speech.engines.piper.loudness import as_pcm, gain_for
from sayso.server.speech.engines.piper.plan import Plan, Unsplittable
from sayso.server.speech.engines.piper.voice_parts import PartsLoader, session_options
from sayso.server.speech.engines.piper.windows import Array, CutVoiceDecoder, Encoded
from sayso.server.speech.errors import ModelBroken, ModelMissing
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.speech.synthesis.word_times import Group, place

log = logging.getLogger(__name__)

KNOWN_WORDS: Final = 4096
"""Words whose phonemes are remembered: most of what is ever said."""

MEAN_FRAMES: Final = 1.29
"""Frames that a phoneme lasts before rounding, on average, at a medium voice's natural speed."""

SHORTEST_SCALE: Final = 0.2
"""Under it piper swallows sounds."""

PAUSES: Final = frozenset({" ", ",", ".", "!", "?", ":", ";", PAD, BOS, EOS})
"""Not sounds of a word; they belong to the word before them."""

PROBES: Final = ("1, 2, 3, 4.", "60 90 70 80!", "5 000, 12, 100.")
"""What a voice says once when it is cut, to nobody: figures, which it reads in its own language."""

INEXACT: Final = 1e-3
"""Of 1: a difference that is far from what another order of the same sums makes."""

SLOW_FROM: Final = 0.25
"""Seconds of one core for a second of sound from which a voice is given larger windows."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """What piper speaks in one go."""

    phonemes: Sequence[str]
    lengths: NDArray[np.int64]
    """Samples of each of its ids; none if the voice does not tell."""
    samples: int


class PiperEngine:
    """A loaded voice. What it is cut into is kept in the folder `parts`, if there is one."""

    def __init__(self, path: Path, *, threads: int, seed: int, parts: Path | None = None) -> None:
        settings = Path(f"{path}.json")
        for needed in (path, settings):
            if not needed.is_file():
                raise ModelMissing(
                    f"There is no piper voice at {needed}. "
                    "Run `sayso models` to see which voices are there."
                )
        try:
            config = PiperConfig.from_dict(json.loads(settings.read_text("utf-8")))
            # Without a session of its own it still knows phonemes.
            self._voice = PiperVoice(session=None, config=config)
            self._decoder = self._in_parts(path, PartsLoader(threads, seed), parts)
            if self._decoder is None:
                self._voice.session = _whole(path, threads, seed)
        except Exception as problem:  # onnx and onnxruntime have no narrower one in common
            raise ModelBroken(
                f"The piper voice {path} cannot be used ({problem}). "
                "Fetch it again with `sayso models get`, or choose another one."
            ) from problem
        self._alone = lru_cache(maxsize=KNOWN_WORDS)(self._phonemes_of)

    def _in_parts(
        self, path: Path, loader: PartsLoader, parts: Path | None
    ) -> CutVoiceDecoder | None:
        """The voice in parts; None if it is none that can be cut, and speaks whole chunks."""
        try:
            if parts is None:
                return loader.cut(path, self._measured)
            return CutCache(parts, loader).load(path, self._measured)
        except Exception as reason:  # noqa: BLE001 (a broken file is told of when it is loaded whole)
            log.warning("The voice %s speaks in whole chunks: %s.", path.stem, reason)
            return None

    @property
    def rate(self) -> int:
        return int(self._voice.config.sample_rate)

    @property
    def language(self) -> str:
        return str(self._voice.config.espeak_voice)

    @property
    def streams(self) -> bool:
        """Is the beginning of a chunk there before its end is computed?"""
        return self._decoder is not None

    def speak(self, text: str, *, speed: float = 1.0) -> Sound:
        """Synthesise a chunk, with the time of each of its words."""
        sounds = list(self.stream(text, speed=speed))
        return Sound(b"".join(each.pcm for each in sounds), self.rate, sounds[0].words)

    def stream(self, text: str, *, speed: float = 1.0) -> Iterator[Sound]:
        """The same piece by piece. The first has all words: their times are known before most of
        the sound is computed."""
        text = text.replace("[[", "[")  # piper would read raw phonemes between two brackets
        scale = float(self._voice.config.length_scale) * scale_for(speed)
        if self._decoder is None:
            return self._speak_whole(text, scale)
        return self._speak_in_windows(self._decoder, text, scale)

    def _speak_in_windows(
        self, decoder: CutVoiceDecoder, text: str, scale: float
    ) -> Iterator[Sound]:
        phonemes = [each for each in self._voice.phonemize(text) if each]
        encoded = [decoder.encode(self._feeds(each, scale)) for each in phonemes]
        hop = decoder.plan.hop
        sentences = [
            _Sentence(each, found.durations, found.frames * hop)
            for each, found in zip(phonemes, encoded, strict=True)
        ]
        begin = _first_frame(encoded[0], hop, self.rate) if encoded else 0

        def sounds() -> Iterator[bytes]:
            for number, each in enumerate(encoded):
                for samples in decoder.decode(each, 0 if number else begin):
                    yield as_pcm(samples, decoder.plan.gain)

        words = self._words(text, sentences)
        yield from without_lead(sounds(), self.rate, words, begin * hop)

    def _speak_whole(self, text: str, scale: float) -> Iterator[Sound]:
        """By a voice that cannot be cut."""
        wanted = SynthesisConfig(length_scale=scale)
        chunks = list(self._voice.synthesize(text, wanted, include_alignments=True))
        none = np.zeros(0, np.int64)
        sentences = []
        for each in chunks:
            lengths = none if each.phoneme_id_samples is None else each.phoneme_id_samples
            sentences.append(_Sentence(each.phonemes, lengths, len(each.audio_float_array)))
        pcm = [each.audio_int16_bytes for each in chunks]
        yield from without_lead([b"".join(pcm)], self.rate, self._words(text, sentences))

    def _feeds(self, phonemes: list[str], scale: float) -> dict[str, Array]:
        """The inputs of the stock voice, as piper makes them."""
        config = self._voice.config
        ids = self._voice.phonemes_to_ids(phonemes)
        feeds: dict[str, Array] = {
            "input": np.array([ids], np.int64),
            "input_lengths": np.array([len(ids)], np.int64),
            "scales": np.array([config.noise_scale, scale, config.noise_w_scale], np.float32),
        }
        if config.num_speakers > 1:
            feeds["sid"] = np.array([config.default_speaker_id], np.int64)
        return feeds

    def _measured(self, decoder: CutVoiceDecoder) -> Plan:
        """Have it speak a little: how loud is it, and how fast?"""
        scale = float(self._voice.config.length_scale)
        phonemes = chain.from_iterable(map(self._voice.phonemize, PROBES))
        encoded = [decoder.encode(self._feeds(each, scale)) for each in phonemes if each]
        peaks: list[float] = []
        paces: list[float] = []
        for each in encoded:
            began = time.process_time()
            samples = np.concatenate(list(decoder.decode(each)))
            paces.append((time.process_time() - began) * self.rate / len(samples))
            peaks.append(float(np.abs(samples).max()))
        if encoded and not _is_exact(decoder, encoded[-1]):
            raise Unsplittable("in windows it says something else")
        slow = bool(paces) and float(np.median(paces)) > SLOW_FROM
        return decoder.plan.measured(gain=gain_for(peaks), slow=slow)

    def _words(self, text: str, sentences: Sequence[_Sentence]) -> tuple[Word, ...]:
        """When each word is said; none if the voice does not tell."""
        groups: list[Group] = []
        for sentence in sentences:
            spoken = self._groups(sentence)
            if not spoken:
                return ()
            groups += spoken
        words = text.split()
        return place(words, [self._alone(word) for word in words], groups)

    def _phonemes_of(self, word: str) -> tuple[str, ...]:
        sentences = self._voice.phonemize(word)
        return tuple(p for sentence in sentences for p in sentence if p not in PAUSES)

    def _groups(self, sentence: _Sentence) -> list[Group]:
        """The sentence's phonemes between spaces; empty if the voice gives no lengths."""
        if not len(sentence.lengths):
            return []
        ids = self._voice.config.phoneme_id_map
        left = [int(length) for length in sentence.lengths]
        owed = sum(len(ids[mark]) for mark in (BOS, PAD))
        before, left = left[:owed], left[owed:]
        groups: list[Group] = []
        sounds: list[str] = []
        taken: list[int] = [sum(before)]
        for phoneme in sentence.phonemes:
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
        if sum(group.samples for group in groups) != sentence.samples:
            return []
        return groups


def _is_exact(decoder: CutVoiceDecoder, said: Encoded) -> bool:
    """Is it in windows what it is whole?"""
    windows = np.concatenate(list(decoder.decode(said)))
    whole = np.concatenate(list(decoder.decode(said, sizes=(said.frames,))))
    return len(windows) == len(whole) and float(np.abs(windows - whole).max()) < INEXACT


def scale_for(speed: float) -> float:
    """Piper's length scale for a speed.

    Piper rounds every phoneme up to whole frames, so a scale of 1/2 makes speech only 1.55 times
    as fast. The half frame that rounding adds on average is taken off before scaling.
    """
    return max(SHORTEST_SCALE, ((MEAN_FRAMES + 0.5) / speed - 0.5) / MEAN_FRAMES)


def _first_frame(encoded: Encoded, hop: int, rate: int) -> int:
    """The frame from which on something may be heard: what stands for the beginning is silent."""
    silent = int(encoded.durations[0]) // hop if len(encoded.durations) else 0
    return max(0, int(silent - 1 - LEAD_S * rate / hop))


def _whole(path: Path, threads: int, seed: int) -> onnxruntime.InferenceSession:
    """What PiperVoice.load does, with our own bound on threads."""
    import onnx
    from piper.patch_voice_with_alignment import add_alignment_output

    model = onnx.load(str(path))
    with contextlib.suppress(ValueError):  # it has that output already, or can't have it
        add_alignment_output(model)
    onnxruntime.set_seed(seed)
    return onnxruntime.InferenceSession(
        model.SerializeToString(),
        sess_options=session_options(threads),
        providers=["CPUExecutionProvider"],
    )
