"""The loudspeaker's sound is taken out of the microphone's, and a voice over it is kept."""

import numpy as np
import pytest
from numpy.typing import NDArray

from sayso.audio.echo import LEARNING_FRAMES, EchoCanceller, KalmanFilter
from sayso.audio.far_end import (
    CUSHION_FRAMES,
    QUIET_FRAMES,
    TRIM_ABOVE_FRAMES,
    WATCH_FRAMES,
    FarEnd,
    Heard,
)
from sayso.audio.pcm import FRAME_BYTES, FRAME_MS, FRAME_SAMPLES, RATE, silence

Floats = NDArray[np.float64]


def speechlike(seconds: float, seed: int) -> Floats:
    """Noise with a voice's colour and rhythm, at -20 dB."""
    numbers = np.random.default_rng(seed)
    count = int(seconds * RATE)
    white = numbers.normal(0, 1, count + 8)
    coloured = np.convolve(white, [1, 1.6, 1.4, 0.8, 0.3], "same")[:count]
    rhythm = np.repeat(numbers.choice([0.05, 0.5, 1.0], count // 2_000 + 1), 2_000)[:count]
    sound: Floats = coloured * rhythm
    scaled: Floats = 0.1 * sound / np.sqrt(np.mean(sound**2))
    return scaled


def room(far: Floats, decibels: float, delay: float) -> Floats:
    numbers = np.random.default_rng(9)
    answer = numbers.normal(0, 1, 2_000) * 10 ** (-3 * np.arange(2_000) / 4_000)
    echo = np.convolve(far, answer / np.sqrt(np.sum(answer**2)))
    late: Floats = np.concatenate([np.zeros(int(delay * RATE)), echo])[: len(far)]
    return late * float(10 ** (decibels / 20))


def run(near: Floats, far: Floats) -> tuple[Floats, Floats]:
    canceller = EchoCanceller()
    heard = [
        canceller.take(pcm(near[at : at + FRAME_SAMPLES]), pcm(far[at : at + FRAME_SAMPLES]))
        for at in range(0, len(near) - FRAME_SAMPLES + 1, FRAME_SAMPLES)
    ]
    gate, words = b"".join(h.gate for h in heard), b"".join(h.words for h in heard)
    return floats(gate), floats(words)


def pcm(samples: Floats) -> bytes:
    return np.clip(samples * 32_768, -32_768, 32_767).astype("<i2").tobytes()


def floats(sound: bytes) -> Floats:
    return np.frombuffer(sound, "<i2") / 32_768


def decibels(before: Floats, after: Floats) -> float:
    return float(10 * np.log10(np.mean(before**2) / (np.mean(after**2) + 1e-12)))


@pytest.mark.parametrize("delay", [0.0, 0.06, 0.2])
def test_the_loudspeaker_is_taken_out(delay: float) -> None:
    far = speechlike(8, 1)
    echo = room(far, -10, delay)
    gate, words = run(echo, far)
    settled = slice(4 * RATE, 7 * RATE)
    assert decibels(echo[settled], gate[settled]) > 15
    assert decibels(echo[settled], words[settled]) > 12


def test_a_voice_over_the_loudspeaker_is_kept_whole_for_the_words() -> None:
    far, voice = speechlike(8, 1), speechlike(8, 2)
    voice[: 5 * RATE] = 0
    echo = room(far, -10, 0.05)
    _, words = run(echo + voice, far)
    over = slice(5 * RATE, 7 * RATE)
    rest = words[over] - voice[over]
    # What is wrong with the voice is far below it, and below the echo that there was.
    assert decibels(voice[over], rest) > 12
    assert decibels(echo[over], rest) > 3


def test_the_filter_does_not_unlearn_the_room_while_somebody_speaks() -> None:
    far, voice = speechlike(9, 1), speechlike(9, 2)
    voice[: 4 * RATE] = voice[6 * RATE :] = 0
    echo = room(far, -10, 0.05)
    learnt = KalmanFilter()
    out = np.concatenate(
        [
            learnt.take((echo + voice)[at : at + FRAME_SAMPLES], far[at : at + FRAME_SAMPLES])
            for at in range(0, len(far) - FRAME_SAMPLES + 1, FRAME_SAMPLES)
        ]
    )
    just_after = slice(6 * RATE, 7 * RATE)
    assert decibels(echo[just_after], out[just_after]) > 12


def test_silence_stays_silent_and_odd_frames_are_taken() -> None:
    canceller = EchoCanceller()
    heard = canceller.take(silence(FRAME_SAMPLES), silence(FRAME_SAMPLES))
    assert heard == Heard(silence(FRAME_SAMPLES), silence(FRAME_SAMPLES))
    assert len(canceller.take(b"\1\2\3", b"").words) == FRAME_BYTES


def tone(frames: int) -> bytes:
    return (1_000).to_bytes(2, "little") * FRAME_SAMPLES * frames


def test_what_was_played_comes_a_cushion_later_frame_by_frame() -> None:
    far = FarEnd()
    for _ in range(10):
        far.played(tone(1), RATE)
    frames = [far.frame() for _ in range(12)]
    assert frames[CUSHION_FRAMES:11] == [tone(1)] * 10
    assert frames[11] == silence(FRAME_SAMPLES)


def test_when_nothing_was_played_for_long_there_is_no_echo() -> None:
    far = FarEnd()
    assert far.frame() is None
    far.played(tone(3), RATE)
    frames = [far.frame() for _ in range(QUIET_FRAMES + 10)]
    assert frames[2] == tone(1)
    assert frames[-1] is None


def test_any_rate_of_the_card_becomes_ours() -> None:
    far = FarEnd()
    for _ in range(50):
        far.played(tone(1) * 3, 48_000)
    assert abs(far_seconds(far) - 1.0) < 0.1


def far_seconds(far: FarEnd) -> float:
    count = 0
    far.frame()  # The cushion.
    while far.frame() is not None:
        count += 1
    return (count - QUIET_FRAMES) * FRAME_MS / 1_000


def test_a_queue_that_has_grown_for_good_is_trimmed_and_one_that_breathes_is_not() -> None:
    far = FarEnd()
    far.played(tone(TRIM_ABOVE_FRAMES + 20), RATE)
    for _ in range(2 * WATCH_FRAMES):
        far.played(tone(1), RATE)
        far.frame()
    assert far.waiting_ms <= TRIM_ABOVE_FRAMES * FRAME_MS
    breathing = FarEnd()
    breathing.played(tone(1), RATE)
    breathing.frame()
    for _ in range(WATCH_FRAMES // 10):
        breathing.played(tone(10), RATE)
        for _ in range(10):
            assert breathing.frame() is not None
    assert breathing.waiting_ms <= 2 * CUSHION_FRAMES * FRAME_MS


def test_until_it_knows_the_room_it_takes_no_echo_for_a_voice() -> None:
    loud = np.random.default_rng(1).normal(0, 3_000, FRAME_SAMPLES).astype("<i2").tobytes()
    canceller = EchoCanceller()
    heard = [canceller.take(loud, loud) for _ in range(LEARNING_FRAMES)]
    assert all(not any(one.gate) for one in heard)
    assert any(heard[0].words), "the wake word is listened for all the same"
    quiet = bytes(len(loud))
    assert any(EchoCanceller().take(loud, quiet).gate), "without an echo there is nothing to learn"
