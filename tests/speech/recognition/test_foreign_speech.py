"""A recogniser that hears one language says so, in place of nonsense."""

import pytest

from sayso.server.speech.recognition.foreign_speech import UNSURE, VERY_UNSURE, ForeignSpeech
from sayso.server.speech.recognition.recognizer import Transcript

NONSENSE = "tanced to meet zoggin baked in cake"


def heard(confidence: float, text: str = NONSENSE) -> Transcript:
    return Transcript(text, "en", confidence)


def test_a_very_unsure_sentence_is_foreign_at_once() -> None:
    speech = ForeignSpeech("en")
    assert speech.is_foreign("desk", heard(VERY_UNSURE - 0.01), "")
    assert not speech.is_foreign("phone", heard(VERY_UNSURE + 0.01), "")


def test_an_unsure_one_is_foreign_if_the_one_before_was_unsure_too() -> None:
    speech = ForeignSpeech("en")
    unsure = UNSURE - 0.01
    assert not speech.is_foreign("desk", heard(unsure), "")
    assert not speech.is_foreign("phone", heard(unsure), ""), "another device's is its own"
    assert speech.is_foreign("desk", heard(unsure), "")
    assert not speech.is_foreign("desk", heard(0.8), "")
    assert not speech.is_foreign("desk", heard(unsure), "")


@pytest.mark.parametrize(("spoken", "foreign"), [("de-DE", True), ("en-GB", False), ("", False)])
def test_whoever_says_that_they_speak_another_language_is_believed(
    spoken: str, *, foreign: bool
) -> None:
    speech = ForeignSpeech("en")
    assert speech.is_foreign("desk", heard(UNSURE - 0.01), spoken) == foreign
    assert not speech.is_foreign("desk", heard(0.8), spoken), "they may speak English as well"


def test_short_words_and_a_recogniser_of_many_languages_are_never_foreign() -> None:
    assert not ForeignSpeech("en").is_foreign("desk", heard(0.1, "stop it"), "")
    assert not ForeignSpeech("").is_foreign("desk", heard(0.1), "de")
