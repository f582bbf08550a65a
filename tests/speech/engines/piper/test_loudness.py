"""One gain for all that a voice says, and nothing beyond what there is room for."""

import numpy as np
import pytest

from sayso.protocol.messages import Word
from sayso.server.speech.engines.piper.lead import LEAD_S, without_lead
from sayso.server.speech.engines.piper.loudness import KNEE, SCALE, USUAL_PEAK, as_pcm, gain_for

RATE = 22_050


def samples(pcm: bytes) -> list[int]:
    return list(np.frombuffer(pcm, "<i2"))


def test_the_usual_sentence_is_brought_to_where_it_should_lie() -> None:
    assert gain_for([0.2, 0.4, 0.5]) == pytest.approx(USUAL_PEAK / 0.4)


@pytest.mark.parametrize("peaks", [[], [0.0], [0.001, 0.001]])
def test_what_is_silent_is_not_made_loud(peaks: list[float]) -> None:
    assert gain_for(peaks) == 1.0


def test_below_the_knee_samples_stay_what_they_are() -> None:
    quiet = np.linspace(-KNEE, KNEE, 99, dtype=np.float32)
    assert samples(as_pcm(quiet, 1.0)) == [int(each * SCALE) for each in quiet]


def test_above_it_they_are_bent_in_order_and_none_is_beyond() -> None:
    loud = np.linspace(0, 5, 999, dtype=np.float32)
    both = np.concatenate((-loud[::-1], loud))
    found = np.array(samples(as_pcm(both, 1.0)), dtype=int)
    assert (np.diff(found) >= 0).all()
    assert abs(found).max() <= SCALE
    assert (found == -found[::-1]).all()


def tone(seconds: float) -> bytes:
    return (np.sin(np.arange(round(seconds * RATE)) / 9) * 9000).astype("<i2").tobytes()


def silence(seconds: float) -> bytes:
    return bytes(2 * round(seconds * RATE))


def test_silence_before_the_first_word_is_left_out_however_it_comes() -> None:
    sound = silence(0.3) + tone(0.5)
    words = (Word("one", 0, RATE // 2), Word("two", RATE // 2, len(sound) // 2))
    for size in (500, 4000, len(sound)):
        blocks = [sound[at : at + size] for at in range(0, len(sound), size)]
        found = list(without_lead(blocks, RATE, words))
        length = sum(len(each.pcm) for each in found) // 2
        assert length == pytest.approx((0.5 + LEAD_S) * RATE, abs=3)
        assert found[0].words[0].start == 0
        assert found[0].words[-1].end == length
        assert all(each.words == () for each in found[1:])


def test_what_was_left_out_before_counts_for_the_words() -> None:
    [found] = without_lead([tone(0.2)], RATE, (Word("one", 0, 9000),), left_out=1000)
    assert found.words[0].end == 8000


def test_what_is_never_audible_comes_whole() -> None:
    [found] = without_lead([silence(0.1), silence(0.1)], RATE, ())
    assert len(found.pcm) == 2 * round(0.2 * RATE)
