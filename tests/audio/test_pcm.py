"""How loud sound is, and how a meter shows it."""

import math
from array import array

import pytest

from sayso.audio.earcons import Earcon, earcon
from sayso.audio.pcm import FRAME_SAMPLES, RATE, SILENCE_DB, Meter, from_samples, level, silence


def sine(amplitude: float, samples: int = RATE) -> bytes:
    return from_samples(
        array("h", (int(amplitude * math.sin(2 * math.pi * n / 40)) for n in range(samples)))
    )


def test_silence_and_nothing_are_equally_silent() -> None:
    assert level(silence(100)) == level(b"") == level(b"\x01")
    assert level(b"").rms == SILENCE_DB


def test_a_full_scale_sine_lies_three_decibels_below_full_scale() -> None:
    measured = level(sine(32_767))
    assert measured.rms == pytest.approx(-3.01, abs=0.05)
    assert measured.peak == pytest.approx(0.0, abs=0.05)


def test_the_loudest_negative_sample_is_no_overflow() -> None:
    assert level(b"\x00\x80").peak == pytest.approx(0.0)


def test_halving_the_amplitude_costs_six_decibels() -> None:
    assert level(sine(16_000)).rms - level(sine(8_000)).rms == pytest.approx(6.02, abs=0.05)


def test_the_meter_rises_at_once_and_falls_calmly() -> None:
    meter = Meter()
    loud = meter.feed(sine(20_000, FRAME_SAMPLES))
    assert loud > 0.9
    falling = [meter.feed(silence(FRAME_SAMPLES)) for _ in range(100)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > 0.8 * loud
    assert falling[-1] == 0.0


@pytest.mark.parametrize("name", ["listening", "done", "error"])
@pytest.mark.parametrize("rate", [8_000, 22_050, 48_000])
def test_an_earcon_is_short_and_quiet_and_does_not_click(name: Earcon, rate: int) -> None:
    pcm = earcon(name, rate)
    samples = array("h", pcm)
    assert 0.1 < len(samples) / rate < 0.25
    assert -22 < level(pcm).peak < -12
    assert abs(samples[0]) < 50
    assert abs(samples[-1]) < 50


def test_earcons_differ() -> None:
    assert len({earcon(name, 22_050) for name in ("listening", "done", "error")}) == 3
