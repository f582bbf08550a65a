"""Sound in any shape comes in whole: any rate, in pieces of any size, with an offset, clipped."""

import random
from array import array
from pathlib import Path

import numpy as np
import pytest

from sayso.audio.dc_offset import HARMLESS, OffsetRemover
from sayso.audio.devices.sound_cards import mixed
from sayso.audio.pcm import FRAME_SAMPLES, RATE, from_samples, level, silence, to_samples
from sayso.audio.resample import resample, resampler
from sayso.audio.wav import read_speech


def tone(rate: int, seconds: float, amplitude: int = 12_000, offset: int = 0) -> bytes:
    at = np.arange(int(rate * seconds)) / rate
    steps = np.clip(amplitude * np.sin(2 * np.pi * 300 * at) + offset, -32_768, 32_767)
    return bytes(steps.astype("<i2").tobytes())


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 48_000, 96_000, 192_000])
def test_pieces_of_any_size_become_one_sound_without_clicks(rate: int) -> None:
    whole = tone(rate, 0.5)
    sizes, stream, out = random.Random(rate), resampler(rate, RATE), b""
    at = 0
    while at < len(whole):
        size = sizes.choice([0, 1, 2, 3, 37, 640, 3_000])
        out += stream.feed(whole[at : at + size])
        at += size
    out += stream.finish()
    assert abs(len(out) // 2 - RATE // 2) <= 2
    once = np.frombuffer(resample(whole, rate, RATE), "<i2").astype(int)
    pieces = np.frombuffer(out, "<i2").astype(int)
    assert np.abs(pieces - once[: len(pieces)]).max() <= 3
    # A tone's steepest step; a click at a seam would be a steeper one.
    steepest = 12_000 * 2 * np.pi * 300 / RATE
    assert np.abs(np.diff(pieces[100:-100])).max() < 1.05 * steepest


@pytest.mark.parametrize("rate", [8_000, 16_000, 48_000])
def test_nothing_and_digital_silence_stay_what_they_are(rate: int) -> None:
    assert resample(b"", rate, RATE) == b""
    assert level(resample(silence(rate), rate, RATE)).peak < -85


def test_what_is_clipped_stays_within_bounds() -> None:
    loud = tone(48_000, 0.2, amplitude=60_000)
    assert level(resample(loud, 48_000, RATE)).peak <= 0.01
    assert level(resample(loud, 48_000, RATE)).rms > -3.1


def test_a_constant_is_taken_off_and_the_sound_stays() -> None:
    remover = OffsetRemover()
    sound = tone(RATE, 2, offset=4_000)
    size = 2 * FRAME_SAMPLES
    out = b"".join(remover.feed(sound[at : at + size]) for at in range(0, len(sound), size))
    samples = np.frombuffer(out, "<i2").astype(int)
    assert abs(samples[RATE:].mean()) < 2 * HARMLESS
    assert 11_000 < np.abs(samples[RATE:]).max() < 13_000
    assert np.abs(np.diff(samples)).max() < 1.2 * 12_000 * 2 * np.pi * 300 / RATE


def test_sound_without_a_constant_is_passed_on_untouched() -> None:
    remover = OffsetRemover()
    for piece in (b"", b"\1", tone(RATE, 0.02), silence(320)):
        assert remover.feed(piece) == piece


def test_of_two_channels_both_are_heard() -> None:
    left, right = to_samples(tone(RATE, 0.1)), array("h", [0] * (RATE // 10))
    for first, second in ((left, right), (right, left)):
        both = array("h", (value for pair in zip(first, second, strict=True) for value in pair))
        assert level(mixed(from_samples(both))).rms > -18
    assert mixed(b"") == b""


def test_a_raw_file_is_what_sayso_speaks(tmp_path: Path) -> None:
    for name in ("said.raw", "said.PCM"):
        path = tmp_path / name
        path.write_bytes(tone(RATE, 0.1) + b"\1")
        assert read_speech(path) == tone(RATE, 0.1)
