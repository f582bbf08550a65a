"""All languages are there at once, and each sentence is understood in the one that it is in."""

import re
from pathlib import Path

import pytest

from sayso.server.reflexes.language_file import SENTENCES
from sayso.server.reflexes.language_set import LanguageSet, Understood, shipped_languages
from sayso.server.reflexes.reflex import Stop, TellTime, Yes


@pytest.fixture(scope="module")
def languages() -> LanguageSet:
    return shipped_languages()


@pytest.mark.parametrize(
    ("text", "language", "understood_in"),
    [
        ("What time is it?", "en", "en"),
        ("What time is it?", "de-DE", "en"),
        ("Wie spät ist es?", "de", "de"),
        ("Wie spät ist es?", "en-GB", "de"),
        ("Wie spät ist es?", "fr", "de"),
    ],
)
def test_a_sentence_is_understood_whatever_its_person_usually_speaks(
    languages: LanguageSet, text: str, language: str, understood_in: str
) -> None:
    assert languages.match(text, language) == Understood(TellTime(), understood_in)


def test_a_stop_stops_in_any_language_and_a_yes_counts_in_ones_own_alone(
    languages: LanguageSet,
) -> None:
    for language in ("en", "de", "fr", ""):
        for text in ("Stop!", "Stopp!", "Hör auf!", "Shut up!"):
            understood = languages.match(text, language)
            assert understood is not None
            assert understood.reflex == Stop()
    assert languages.match("Ja, mach das.", "de") == Understood(Yes(), "de")
    assert languages.match("Ja, mach das.", "en") is None
    assert languages.match("Yes, go ahead.", "en") == Understood(Yes(), "en")
    assert languages.match("Yes, go ahead.", "de") is None


def test_a_third_language_takes_a_file_and_nothing_else(tmp_path: Path) -> None:
    english = (SENTENCES / "en.yaml").read_text(encoding="utf-8")
    (tmp_path / "en.yaml").write_text(english, encoding="utf-8")
    dutch = english
    for before, after in {
        "language: en": "language: nl",
        "how late is it [now]": "hoe laat is het [nu]",
        "It's {clock}.": "Het is {clock}.",
        "You're welcome.": "Graag gedaan.",
        "[great|perfect|nice": "[dank je wel|great|perfect|nice",
        "(thanks|thank you|": "(dankjewel|thanks|thank you|",
    }.items():
        dutch = dutch.replace(before, after)
    sentences, _, examples = dutch.partition("\nexamples:")
    figures = {"twenty-five": 25, "twenty": 20, "ninety": 90, "seven": 7, "two": 2, "three": 3}
    figures |= {"five": 5, "Ten": 10, "fifty": 50, "Twelve": 12}
    for word, figure in figures.items():
        examples = re.sub(rf"\b{word}\b", str(figure), examples)
    dutch = f"{sentences}\nexamples:{examples}"  # English number words are no Dutch ones
    (tmp_path / "nl.yaml").write_text(dutch, encoding="utf-8")
    languages = LanguageSet.load(tmp_path)
    assert languages.match("Hoe laat is het nu?", "nl-BE") == Understood(TellTime(), "nl")
    assert languages.match("Hoe laat is het nu?", "en") == Understood(TellTime(), "nl")
    assert languages.answers("nl").speaking is not languages.answers("en").speaking
    thanks = languages.match("Dankjewel!", "nl")
    assert thanks is not None
    assert thanks.language == "nl"
