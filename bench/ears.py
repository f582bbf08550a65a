"""Measures speech recognition: the short context beside plain Whisper, on the same recordings.

Each recording is heard clean and with noise at 20 and 10 dB, by Sayso's engine and by
`WhisperModel.transcribe`, one after the other. Then noises in which nobody speaks, for what is
invented, and a hands-free client beside its own voice and a television.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from bench import hands_free, monologue
from bench.support.recordings import RATE, Recording, Samples, recordings
from bench.support.word_errors import circles, words, wrong
from sayso.protocol.home import Home
from sayso.server.models import InstalledModels
from tests.speech import sounds

STARTER = "tiny.en"
NOISES: dict[str, float | None] = {"clean": None, "noise_20_db": 20.0, "noise_10_db": 10.0}
"""The noise's distance below the speech, in decibels."""

NOBODY: dict[str, Callable[[float], bytes]] = {
    "silence": sounds.silence,
    "fan": sounds.fan,
    "keyboard": sounds.keyboard,
    "music": sounds.music,
}
"""A minute each in which nobody speaks."""

PIECES = (3.0, 10.0, 60.0)
"""Seconds of the utterances that such a minute is cut into."""

THREADS = 2


class Figures(TypedDict):
    """What `--json` prints. Rates are percent of the words that were said."""

    model: str
    recordings: int
    words: int
    wer_short: dict[str, float]
    wer_full: dict[str, float]
    time_short: float
    """As a part of the time that plain Whisper takes."""
    loops: int
    invented_words: int
    invented: dict[str, list[str]]
    monologue_wer: float
    """Of six minutes, each said in one breath and heard piece by piece."""
    monologue_wer_full: float
    """Of the same minutes, by plain Whisper."""
    false_starts: float
    stops_heard: float
    idle_core_percent: float
    tv_core_percent: float


@dataclass
class Tally:
    """Of one kind of noise."""

    said: int = 0
    short: int = 0
    full: int = 0
    loops: int = 0
    short_s: float = 0.0
    full_s: float = 0.0


@dataclass
class Hearers:
    """The two that are compared, on the same weights."""

    model: Path
    plain: Any = field(init=False)
    engine: Any = field(init=False)

    def __post_init__(self) -> None:
        from faster_whisper import WhisperModel

        from sayso.server.speech.engines.whisper.engine import WhisperEngine
        from sayso.server.speech.engines.whisper.options import WhisperOptions

        self.engine = WhisperEngine(self.model, WhisperOptions(threads=THREADS))
        self.engine.warm_up()
        self.plain = WhisperModel(
            str(self.model),
            device="cpu",
            compute_type="int8",
            cpu_threads=THREADS,
            local_files_only=True,
        )

    def short(self, samples: Samples, draft: bool = False, prompt: str = "") -> str:
        return str(self.engine.transcribe(samples, draft=draft, prompt=prompt).text)

    def full(self, samples: Samples) -> str:
        segments, _ = self.plain.transcribe(samples, beam_size=1, language="en")
        return " ".join(segment.text for segment in segments)


def measure(model: Path | None, most: int | None = None) -> Figures:
    """Hear everything; `most` bounds the recordings for a quick look."""
    whisper = model or InstalledModels(Home.find()).ready("ears", STARTER).path
    hearers = Hearers(whisper)
    heard = _spread(recordings(), most)
    tallies = {noise: _tally(hearers, heard, decibels) for noise, decibels in NOISES.items()}
    invented = {name: list(_invented(hearers, make)) for name, make in NOBODY.items()}
    minutes = monologue.measure(heard, hearers.short, hearers.full)
    hands = hands_free.measure(model)
    return Figures(
        model=model.name if model else STARTER,
        recordings=len(heard),
        words=tallies["clean"].said,
        wer_short={name: _percent(tally.short, tally.said) for name, tally in tallies.items()},
        wer_full={name: _percent(tally.full, tally.said) for name, tally in tallies.items()},
        time_short=round(
            sum(tally.short_s for tally in tallies.values())
            / sum(tally.full_s for tally in tallies.values()),
            3,
        ),
        loops=sum(tally.loops for tally in tallies.values()),
        invented_words=sum(len(words(text)) for texts in invented.values() for text in texts),
        invented=invented,
        monologue_wer=_percent(minutes.rolled, minutes.said),
        monologue_wer_full=_percent(minutes.full, minutes.said),
        false_starts=hands["false_starts"],
        stops_heard=round(hands["stops_heard"], 1),
        idle_core_percent=round(hands["idle_core_percent"], 2),
        tv_core_percent=round(hands["tv_core_percent"], 2),
    )


def table(figures: Figures) -> str:
    """For people."""
    head = f"{figures['model']}: {figures['recordings']} recordings, {figures['words']} words"
    lines = [head, "", f"{'':14}{'short':>8}{'plain':>8}   word errors, percent"]
    for noise, short in figures["wer_short"].items():
        lines.append(f"{noise:14}{short:8.2f}{figures['wer_full'][noise]:8.2f}")
    lines += ["", f"{'time':24}{figures['time_short']:8.2f} x plain"]
    counts: dict[str, float] = {
        "loops": figures["loops"],
        "invented_words": figures["invented_words"],
        "monologue_wer": figures["monologue_wer"],
        "monologue_wer_full": figures["monologue_wer_full"],
        "false_starts": figures["false_starts"],
        "stops_heard": figures["stops_heard"],
        "idle_core_percent": figures["idle_core_percent"],
        "tv_core_percent": figures["tv_core_percent"],
    }
    for name, value in counts.items():
        lines.append(f"{name:24}{value:8}")
    return "\n".join(lines)


def _tally(hearers: Hearers, heard: list[Recording], decibels: float | None) -> Tally:
    tally = Tally()
    for number, recording in enumerate(heard):
        samples = recording.samples
        if decibels is not None:
            samples = noisy(samples, decibels, seed=number)
        began = time.perf_counter()
        short = hearers.short(samples)
        between = time.perf_counter()
        full = hearers.full(samples)
        tally.full_s += time.perf_counter() - between
        tally.short_s += between - began
        said = words(recording.text)
        tally.said += len(said)
        tally.short += wrong(said, words(short))
        tally.full += wrong(said, words(full))
        tally.loops += circles(recording.text, short)
    return tally


def _spread(found: list[Recording], most: int | None) -> list[Recording]:
    """So many of them, evenly from the whole."""
    step = max(1, -(-len(found) // most)) if most else 1
    return found[::step]


def noisy(samples: Samples, decibels: float, seed: int) -> Samples:
    """With pink noise so much quieter than the speech's loud half."""
    generator = np.random.default_rng(seed)
    spectrum = np.fft.rfft(generator.standard_normal(len(samples)))
    spectrum[1:] /= np.sqrt(np.arange(1, len(spectrum)))
    noise = np.fft.irfft(spectrum, len(samples))
    frames = samples[: len(samples) // 320 * 320].reshape(-1, 320)
    power = (frames**2).mean(axis=1)
    speech = power[power >= np.median(power)].mean()
    level = np.sqrt(speech / (noise**2).mean() / 10 ** (decibels / 10))
    return np.asarray(np.clip(samples + level * noise, -1, 1), dtype=np.float32)


def _invented(hearers: Hearers, make: Callable[[float], bytes]) -> Iterator[str]:
    minute = np.frombuffer(make(60.0), "<i2").astype(np.float32) / np.float32(32_768)
    for seconds in PIECES:
        length = int(seconds * RATE)
        for at in range(0, len(minute), length):
            if text := hearers.short(minute[at : at + length]):
                yield text


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2)
