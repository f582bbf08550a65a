"""The gate tells voices from other sounds, within its cost."""

import itertools
import random
from array import array
from collections.abc import Callable

import pytest

from sayso.audio.pcm import FRAME_BYTES, FRAME_SAMPLES, from_samples, silence
from sayso.audio.voice_gate import SHUT_FRAMES, WARM_FRAMES, WINDOW_BYTES, CheapGate, VoiceGate

SECOND = 50


def noise(amplitude: float, frames: int, seed: int = 1) -> list[bytes]:
    random_numbers = random.Random(seed)
    return [
        from_samples(
            array("h", (round(random_numbers.gauss(0, amplitude)) for _ in range(FRAME_SAMPLES)))
        )
        for _ in range(frames)
    ]


def scripted(probabilities: list[float]) -> tuple[Callable[[bytes], float], list[bytes]]:
    """A judge that says these probabilities, the last one for ever, and keeps what it was shown."""
    shown: list[bytes] = []

    def judge(window: bytes) -> float:
        shown.append(window)
        return probabilities[min(len(shown), len(probabilities)) - 1]

    return judge, shown


@pytest.mark.parametrize("frames", [[silence(FRAME_SAMPLES)] * SECOND, noise(20, SECOND)])
def test_silence_and_hiss_never_reach_the_second_gate(frames: list[bytes]) -> None:
    judge, shown = scripted([1.0])
    gate = VoiceGate(judge)
    assert not any(gate.hears(frame) for frame in frames)
    assert not shown


def test_loud_noise_passes_the_first_gate_and_not_the_second() -> None:
    gate = VoiceGate()
    heard = [(gate.hears(frame), gate.open) for frame in noise(3_000, 3 * SECOND)]
    assert not any(voice for voice, _ in heard)
    assert any(is_open for _, is_open in heard)


def test_the_second_gate_is_shown_what_came_just_before() -> None:
    judge, shown = scripted([0.0])
    gate = VoiceGate(judge)
    quiet, loud = noise(20, SECOND), noise(3_000, 4)
    for frame in [*quiet, *loud]:
        gate.hears(frame)
    # The first loud frame does not open the gate yet, and is among what was kept.
    kept = b"".join([*quiet, *loud])[-(WARM_FRAMES + 3) * FRAME_BYTES :]
    assert b"".join(shown) == kept[: len(kept) // WINDOW_BYTES * WINDOW_BYTES]


def test_a_voice_that_hovers_at_the_threshold_does_not_flicker() -> None:
    judge, _ = scripted([*[0.0] * 9, 0.45, 0.6, 0.4, 0.45, 0.3, 0.45])
    gate = VoiceGate(judge)
    heard = [gate.hears(frame) for frame in noise(3_000, 30)]
    changes = sum(before != after for before, after in itertools.pairwise(heard))
    assert any(heard)
    assert changes == 2


def test_the_gate_shuts_soon_after_the_last_sign_of_a_voice() -> None:
    judge, shown = scripted([1.0])
    gate = VoiceGate(judge)
    for frame in noise(3_000, SECOND):
        gate.hears(frame)
    assert gate.hears(silence(FRAME_SAMPLES))
    assert not [gate.hears(silence(FRAME_SAMPLES)) for _ in range(SHUT_FRAMES)][-1]
    count = len(shown)
    gate.hears(silence(FRAME_SAMPLES))
    assert len(shown) == count


def test_a_last_frame_that_is_too_short_is_taken_as_well() -> None:
    assert not VoiceGate().hears(b"\1\2\3")
    assert not CheapGate().opens(b"")
