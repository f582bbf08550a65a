"""The loudspeaker's sound is taken out of the microphone's, and a voice over it is kept."""

import numpy as np
import pytest
from numpy.typing import NDArray

from sayso.audio.echo import FADED_FRAMES, EchoCanceller, KalmanFilter
from sayso.audio.pcm import FRAME_BYTES, FRAME_MS, FRAME_SAMPLES, RATE, silence
from sayso.audio.playback_reference import (
    CUSHION_FRAMES,
    QUIET_FRAMES,
    TRIM_ABOVE_FRAMES,
    WATCH_FRAMES,
    Heard,
    PlaybackReference,
)

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
    assert decibels(echo[settled], words[settled]) > 20
    assert not gate[settled].any()


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


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000, 44_100, 48_000])
def test_what_is_played_keeps_its_distance_from_answer_to_answer(rate: int) -> None:
    far, step = PlaybackReference(), rate * FRAME_MS // 1_000
    click = np.zeros(step, "<i2")
    click[0] = 20_000
    # A card takes silence between answers, and of each answer we look for a click in its middle.
    answers = ([0] * 100 + [1] * 30 + [2] + [1] * 70) * 3
    hum = np.full(step, 100, "<i2")
    frames = []
    for what in answers:
        far.played((np.zeros(step, "<i2"), hum, click)[what].tobytes(), rate)
        frames.append(far.frame() or silence(FRAME_SAMPLES))
    heard = floats(b"".join(frames)).reshape(3, -1)
    moments = heard.argmax(axis=1) - 130 * FRAME_SAMPLES
    assert len(set(moments)) == 1
    assert 0 <= moments[0] <= RATE * 60 / 1_000


def test_after_one_unevenness_a_larger_one_changes_nothing() -> None:
    far = PlaybackReference()
    rhythm = [1] * 50 + [0, 2] + [1] * 50 + [0, 0, 3] + [1] * 50
    played, frames = 0, []
    for count in rhythm:
        for _ in range(count):
            played += 1
            far.played((1_000 + played).to_bytes(2, "little") * FRAME_SAMPLES, RATE)
        frames.append(far.frame() or b"")
    numbers = [int.from_bytes(frame[:2], "little") - 1_000 for frame in frames]
    assert numbers[53:] == list(range(numbers[53], numbers[-1] + 1)), "the second was not noticed"


def test_when_nothing_was_played_for_long_there_is_no_echo() -> None:
    far = PlaybackReference()
    assert far.frame() is None
    far.played(tone(3), RATE)
    frames = [far.frame() for _ in range(QUIET_FRAMES + 10)]
    assert frames[2] == tone(1)
    assert frames[-1] is None


def test_any_rate_of_the_card_becomes_ours() -> None:
    far = PlaybackReference()
    for _ in range(50):
        far.played(tone(1) * 3, 48_000)
    assert abs(far_seconds(far) - 1.0) < 0.1


def waiting_frames(far: PlaybackReference) -> int:
    """How much sound waits for the microphone: so much is given before silence."""
    return sum(1 for frame in iter(far.frame, None) if any(frame))


def far_seconds(far: PlaybackReference) -> float:
    count = 0
    far.frame()  # The cushion.
    while far.frame() is not None:
        count += 1
    return (count - QUIET_FRAMES) * FRAME_MS / 1_000


def test_a_queue_that_has_grown_for_good_is_trimmed_and_one_that_breathes_is_not() -> None:
    far = PlaybackReference()
    far.played(tone(TRIM_ABOVE_FRAMES + 20), RATE)
    for _ in range(2 * WATCH_FRAMES):
        far.played(tone(1), RATE)
        far.frame()
    assert waiting_frames(far) <= TRIM_ABOVE_FRAMES
    breathing = PlaybackReference()
    breathing.played(tone(1), RATE)
    breathing.frame()
    for _ in range(WATCH_FRAMES // 10):
        breathing.played(tone(10), RATE)
        for _ in range(10):
            assert breathing.frame() is not None
    assert waiting_frames(breathing) <= 2 * CUSHION_FRAMES


@pytest.mark.parametrize("level", [-6, -20])
def test_its_own_voice_is_no_voice_from_the_first_moment_on(level: float) -> None:
    far = speechlike(6, 1)
    gate, words = run(room(far, level, 0.1), far)
    assert not gate.any()
    assert words[:RATE].any(), "the wake word is listened for all the same"


def test_with_headphones_a_voice_is_heard_over_what_is_played() -> None:
    far, voice = speechlike(5, 1), speechlike(5, 2)
    voice[: 4 * RATE] = 0
    gate, _ = run(voice, far)
    begins = slice(4 * RATE, 4 * RATE + RATE // 4)
    assert decibels(voice[begins], gate[begins] - voice[begins]) > 10


def test_soon_after_a_sound_in_an_unknown_room_a_voice_is_heard() -> None:
    far, voice = np.zeros(2 * RATE), speechlike(2, 2)
    far[: RATE // 10] = 0.1
    gate, _ = run(voice, far)
    assert not gate[: RATE // 2].any()
    heard = slice((FADED_FRAMES + 7) * FRAME_SAMPLES, None)
    assert decibels(voice[heard], gate[heard] - voice[heard]) > 10


@pytest.mark.parametrize("ppm", [100, -100])
def test_clocks_that_run_apart_are_followed_in_pauses_too(ppm: float) -> None:
    far = speechlike(24, 1)
    pause = slice(10 * RATE, 22 * RATE)
    far[pause] = 0
    moments = np.arange(len(far)) * (1 + ppm / 1e6)
    near = np.interp(moments, np.arange(len(far)), room(far, -6, 0.05))
    filter_ = KalmanFilter()
    rest = near.copy()
    for at in range(0, len(far), FRAME_SAMPLES):
        part = slice(at, at + FRAME_SAMPLES)
        if pause.start + RATE <= at < pause.stop:
            filter_.wait()
        else:
            rest[part] = filter_.take(near[part], far[part])
    assert filter_.drift == pytest.approx(-ppm / 1e6, abs=30e-6)
    assert decibels(near[6 * RATE : 10 * RATE], rest[6 * RATE : 10 * RATE]) > 15
    assert decibels(near[22 * RATE :], rest[22 * RATE :]) > 10


def an_answer() -> Floats:
    """Of seven seconds, and one of silence."""
    far = speechlike(8, 1)
    far[7 * RATE :] = 0
    return far


def before_and_after_a_pause(before: Floats, after: Floats, far: Floats) -> Floats:
    """What decides after a pause of four minutes, where the same is played again."""
    canceller = EchoCanceller()
    gates = []
    for near in (before, after):
        for at in range(0, len(far), FRAME_SAMPLES):
            part = slice(at, at + FRAME_SAMPLES)
            gates.append(canceller.take(pcm(near[part]), pcm(far[part])).gate)
        for _ in range(240 * RATE // FRAME_SAMPLES):
            canceller.take(silence(FRAME_SAMPLES), None)
    return floats(b"".join(gates))[len(far) :]


def test_after_a_long_pause_in_which_the_clocks_ran_apart_its_own_voice_is_no_voice() -> None:
    far = an_answer()
    gate = before_and_after_a_pause(room(far, -10, 0.05), room(far, -10, 0.062), far)
    assert not gate.any()


def test_after_a_long_pause_in_the_same_room_a_voice_is_heard_at_once() -> None:
    far, voice = an_answer(), speechlike(8, 2)
    voice[: RATE // 2] = 0
    echo = room(far, -10, 0.05)
    gate = before_and_after_a_pause(echo, echo + voice, far)
    begins = slice(RATE // 2, RATE)
    assert decibels(voice[begins], gate[begins] - voice[begins]) > 10


def test_a_delay_that_jumps_is_found_again() -> None:
    far = speechlike(12, 1)
    before, after = room(far, -6, 0.07), room(far, -6, 0.02)
    echo = np.concatenate([before[: 5 * RATE], after[5 * RATE :]])
    gate, words = run(echo, far)
    assert decibels(echo[9 * RATE : 11 * RATE], words[9 * RATE : 11 * RATE]) > 12
    assert not gate[9 * RATE :].any()


def canceller_hears(canceller: EchoCanceller, near: Floats, far: Floats) -> bytes:
    """What is left for telling whether somebody speaks."""
    frames = range(0, len(near) - FRAME_SAMPLES + 1, FRAME_SAMPLES)
    heard = (
        canceller.take(pcm(near[at : at + FRAME_SAMPLES]), pcm(far[at : at + FRAME_SAMPLES]))
        for at in frames
    )
    return b"".join(one.gate for one in heard)


@pytest.mark.parametrize(("before", "after"), [(0.03, 0.18), (0.2, 0.06)])
def test_after_the_microphone_was_closed_its_own_voice_is_not_taken_for_somebodys(
    before: float, after: float
) -> None:
    far = speechlike(6, 1)
    canceller = EchoCanceller()
    canceller_hears(canceller, room(far, -13, before), far)
    canceller.begin_anew()
    assert not any(canceller_hears(canceller, room(far, -13, after), far))


def test_after_the_delay_has_jumped_its_own_voice_is_hardly_taken_for_somebodys() -> None:
    far = speechlike(12, 1)
    near = room(far, -13, 0.03)
    near[6 * RATE :] = room(far, -13, 0.14)[6 * RATE :]
    gate = floats(canceller_hears(EchoCanceller(), near, far))
    loud = np.abs(gate.reshape(-1, FRAME_SAMPLES)).max(axis=1) > 0.01
    jumped = 6 * RATE // FRAME_SAMPLES
    assert loud[jumped:].sum() * FRAME_MS < 240
    assert not loud[jumped + 50 :].any(), "after a second it is known for what it is"


def test_what_was_played_while_the_microphone_was_closed_is_not_compared_with_it() -> None:
    reference = PlaybackReference()
    for _ in range(150):
        reference.played(pcm(np.full(FRAME_SAMPLES, 0.3)), RATE)
    reference.begin_anew()
    reference.played(pcm(np.full(FRAME_SAMPLES * 4, 0.1)), RATE)
    given = reference.frame()
    assert given is not None
    assert float(np.abs(floats(given)).max()) < 0.2


def test_an_echo_that_comes_half_a_second_late_is_found_and_taken_out() -> None:
    far = speechlike(14, 1)
    near = room(far, -13, 0.03)
    late = room(far, -13, 0.56)
    near[4 * RATE :] = late[4 * RATE :]
    gate, words = run(near, far)
    assert decibels(late[10 * RATE :], words[10 * RATE : len(late)]) > 12
    assert not gate[7 * RATE :].any(), "three seconds later it is known for what it is"


def test_an_echo_that_is_no_longer_late_is_found_again() -> None:
    far = speechlike(16, 1)
    near = room(far, -13, 0.56)
    soon = room(far, -13, 0.03)
    near[7 * RATE :] = soon[7 * RATE :]
    _, words = run(near, far)
    assert decibels(soon[13 * RATE :], words[13 * RATE : len(soon)]) > 12


def test_over_an_echo_that_comes_late_a_voice_is_heard_as_over_one_that_comes_soon() -> None:
    far, voice = speechlike(14, 1), speechlike(14, 2)
    voice[: 11 * RATE] = 0

    def heard(delay: float) -> float:
        gate, _ = run(room(far, -13, delay) + voice, far)
        assert not gate[7 * RATE : 11 * RATE].any()
        return decibels(voice[11 * RATE :], gate[11 * RATE :] - voice[11 * RATE : len(gate)])

    assert heard(0.56) > heard(0.2) - 1


def test_a_delay_that_jumped_in_a_pause_is_not_taken_for_a_voice() -> None:
    far, canceller = an_answer(), EchoCanceller()
    canceller_hears(canceller, room(far, -13, 0.03), far)
    for _ in range(100):
        canceller.take(silence(FRAME_SAMPLES), None)
    assert not any(canceller_hears(canceller, room(far, -13, 0.2), far))


def test_after_a_pause_in_the_same_room_a_voice_is_heard_soon() -> None:
    far, voice, canceller = an_answer(), speechlike(8, 2), EchoCanceller()
    voice[: RATE // 2] = 0
    echo = room(far, -10, 0.05)
    canceller_hears(canceller, echo, far)
    for _ in range(100):
        canceller.take(silence(FRAME_SAMPLES), None)
    gate = floats(canceller_hears(canceller, echo + voice, far))
    begins = slice(RATE // 2, RATE)
    assert decibels(voice[begins], gate[begins] - voice[begins]) > 10
