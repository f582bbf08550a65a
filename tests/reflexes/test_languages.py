"""A language is one file, checked when it is read, and refused with a sentence if it is wrong."""

from pathlib import Path

import pytest

from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.errors import LanguageDamaged, LanguageMissing
from sayso.server.reflexes.language_file import SENTENCES, languages, read_language
from sayso.server.reflexes.matching import Reflexes
from sayso.server.reflexes.slot_reader import INTENTS

ENGLISH = (SENTENCES / "en.yaml").read_text(encoding="utf-8")


def test_sayso_comes_with_english_and_german() -> None:
    assert languages() == ("de", "en")


@pytest.mark.parametrize("language", languages())
def test_each_language_understands_its_examples_and_knows_every_reflex(language: str) -> None:
    Reflexes.load(language).check_examples()
    assert read_language(language).examples.keys() == INTENTS


@pytest.mark.parametrize("language", ["en-GB", "en_US", "en"])
def test_a_variety_of_a_language_is_served_by_the_language(language: str) -> None:
    assert Reflexes.load(language).language == "en"
    assert Answers.load(language).too_far()


@pytest.mark.parametrize("language", ["fr", "", "../en", "english"])
def test_a_language_that_is_not_there_is_said_to_be_missing(language: str) -> None:
    with pytest.raises(LanguageMissing, match="there is de, en"):
        Reflexes.load(language)


def test_a_further_language_is_one_more_file(tmp_path: Path) -> None:
    dutch = ENGLISH.replace("language: en", "language: nl").replace("(quiet|", "(stil|")
    (tmp_path / "nl.yaml").write_text(dutch, encoding="utf-8")
    assert Reflexes.load("nl", tmp_path).match("Stil!") is not None


DAMAGES = {
    "not YAML": ("language: en", "language: [en", "cannot be read"),
    "a missing section": ("doubts:", "doubt:", "the file lacks doubts"),
    "a missing phrase": ('  passed: "That', '  past: "That', "answers lacks passed"),
    "a phrase of another kind": (
        'too_far: "That is too far ahead: I can keep it in mind for a year."',
        "too_far: 7",
        "answers.too_far should hold text",
    ),
    "a strange name in braces": (
        "It's {clock}.",
        "It's {time}.",
        "answers.time may have in braces",
    ),
    "a brace too few": ("It's {clock}.", "It's {clock.", "the braces in answers.time do not match"),
    "a name that YAML takes for something else": ('  "Yes":', "  Yes:", "should be in quotes"),
    "neither 12 nor 24 hours": ('hours: "12"', 'hours: "10"', "should be one of 12, 24"),
    "a rule that is not there": ("(<duration>|<days>", "(<duratoin>|<days>", "<duratoin>"),
    "a list that is not there": ("{hour_number:hour} (o'clock", "{hours:hour} (o'clock", "{hours}"),
    "an intent that means nothing": ("  Undo:", "  Rewind:", "Rewind"),
    "a sentence with a bracket too few": (
        "(be|keep|please be) (quiet",
        "(be|keep (quiet",
        "en.yaml",
    ),
    "a list where there is one name": (
        "anywhere: [um, uh, uhm, umm, er, erm, hmm, hm, mm, ah]",
        "anywhere: um",
        "list",
    ),
}


@pytest.mark.parametrize(("good", "bad", "told"), DAMAGES.values(), ids=DAMAGES.keys())
def test_a_slip_in_a_file_is_told_with_its_place(
    tmp_path: Path, good: str, bad: str, told: str
) -> None:
    assert good in ENGLISH
    (tmp_path / "en.yaml").write_text(ENGLISH.replace(good, bad), encoding="utf-8")
    with pytest.raises(LanguageDamaged) as caught:
        Reflexes.load("en", tmp_path)
    assert told in str(caught.value)
    assert str(tmp_path / "en.yaml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_example_that_is_not_understood_is_told(tmp_path: Path) -> None:
    wrong = ENGLISH.replace('Undo: ["Undo that."', 'Undo: ["Bring it back to me."')
    (tmp_path / "en.yaml").write_text(wrong, encoding="utf-8")
    with pytest.raises(LanguageDamaged, match="Bring it back to me"):
        Reflexes.load("en", tmp_path).check_examples()


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    (tmp_path / "en.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LanguageDamaged, match="cannot be read"):
        Reflexes.load("en", tmp_path)
