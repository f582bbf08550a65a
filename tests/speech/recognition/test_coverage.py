"""Whether a text covers the speech that it was made from."""

from collections.abc import Callable

import pytest

from sayso.server.speech.engines.piper.engine import PiperEngine
from sayso.server.speech.recognition.coverage import is_thin, is_voiced, speaks_again, spoken_after
from sayso.server.speech.recognition.loudness import from_pcm
from sayso.server.speech.recognition.recognizer import HEARING_RATE
from tests.speech import sounds
from tests.speech.spoken_recordings import spoken

SENTENCE = "We talked about the window and the garden"


@pytest.mark.parametrize(
    ("audio", "text", "thin"),
    [
        (sounds.voice(20.0), f"{SENTENCE}.", True),
        (sounds.voice(20.0), "", True),
        (sounds.voice(20.0), f"{SENTENCE}. " * 3, False),
        (sounds.voice(3.0), "", False),
        (sounds.voice(3.0) + sounds.silence(17.0), "Well.", False),
        (sounds.silence(20.0), "", False),
        (sounds.fan(20.0), "", False),
        (sounds.voice(6.0), "\u5217\u8f66\u4e5d\u70b9\u51fa\u53d1" * 6, False),
    ],
)
def test_too_few_words_for_so_much_speech_are_noticed(audio: bytes, text: str, thin: bool) -> None:
    assert is_thin(text, from_pcm(audio)) is thin


@pytest.mark.parametrize(
    ("rest", "again"),
    [
        (b"", False),
        (sounds.voice(0.4), False),
        (sounds.silence(3.0), False),
        (sounds.voice(0.2) + sounds.silence(0.4) + sounds.voice(0.2), False),
        (sounds.silence(2.0) + sounds.voice(0.6), True),
        (sounds.voice(0.2) + sounds.silence(0.8) + sounds.voice(0.6), True),
    ],
)
def test_only_speech_after_a_pause_was_missed(rest: bytes, again: bool) -> None:
    assert speaks_again(from_pcm(rest)) is again


@pytest.mark.parametrize("noise", [sounds.music, sounds.keyboard, sounds.fan, sounds.silence])
def test_a_sound_that_is_no_voice_said_nothing(noise: Callable[[float], bytes]) -> None:
    assert not is_voiced("Thanks for watching!", from_pcm(noise(10.0)))
    assert not is_voiced("So", from_pcm(noise(3.0)))


def test_a_word_that_was_said_has_a_voice(piper: PiperEngine) -> None:
    for text in ("Thank you.", "Okay."):
        assert is_voiced(text, spoken(piper, text))


def test_speech_is_told_that_follows_a_moment() -> None:
    samples = from_pcm(sounds.voice(1.0) + sounds.silence(0.5) + sounds.voice(0.5))
    assert spoken_after(samples, 1.2) == pytest.approx(0.5, abs=0.15)
    assert spoken_after(samples[: int(1.5 * HEARING_RATE)], 1.2) == pytest.approx(0.0, abs=0.1)
