"""All languages are there at once, and each sentence is understood in the one that it is in."""

import shutil
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from sayso.server.reflexes.language_file import SENTENCES
from sayso.server.reflexes.language_set import LanguageSet, Understood, shipped_languages
from sayso.server.reflexes.reflex import Calculate, SetTimer, Stop, TellTime, Yes


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


def test_one_language_is_understood_at_once_and_the_rest_in_a_moment() -> None:
    languages = LanguageSet.load(only="de-AT")
    assert languages.match("Stopp!", "en") == Understood(Stop(), "de")
    assert languages.match("Shut up!", "en") is None
    assert languages.code("en-GB") == "en"
    languages.load_rest()
    assert languages.match("Shut up!", "en") == Understood(Stop(), "en")


def test_a_third_language_takes_a_file_and_nothing_else(tmp_path: Path) -> None:
    for file in (*SENTENCES.glob("*.yaml"), Path(__file__).with_name("nl.yaml")):
        shutil.copy(file, tmp_path)
    languages = LanguageSet.load(tmp_path)
    assert languages.match("Hoe laat is het nu?", "nl-BE") == Understood(TellTime(), "nl")
    assert languages.match("Hoe laat is het nu?", "en") == Understood(TellTime(), "nl")
    assert languages.match("Zet een theetimer op vier minuten, alsjeblieft.", "nl") == Understood(
        SetTimer(240, "thee"), "nl"
    )
    said = Calculate("Drie keer vijfentwintig", Decimal(75))
    assert languages.match("Drie keer vijfentwintig?", "nl") == Understood(said, "nl")
    assert languages.match("Zet die functie in het bestand.", "nl") is None
    now = datetime(2026, 3, 3, 18, 30, tzinfo=UTC)
    assert languages.answers("nl").plain.answer(TellTime(), now) == "Het is half zeven."
