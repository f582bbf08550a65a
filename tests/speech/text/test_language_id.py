"""What language a reply is in, told from its words."""

import pytest

from sayso.server.speech.text.language_id import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The train leaves at nine, and it is on time.", "en"),
        ("Der Zug fährt um neun Uhr, und er ist pünktlich.", "de"),
        ("Le train part à neuf heures, et il est à l'heure.", "fr"),
        ("Le train part à neuf heures,", "fr"),
        ("Ich habe es gefunden,", "de"),
        ("No hay nada aquí,", "es"),
        ("El tren sale a las nueve y llega a la hora.", "es"),
        ("Il treno parte alle nove ed è in orario, come sempre, per Roma.", "it"),
        ("O comboio parte às nove e não está atrasado.", "pt"),
        ("De trein vertrekt om negen uur en hij is op tijd.", "nl"),
        ("Поезд отправляется в девять часов.", "ru"),
        ("Потяг їде швидко.", "uk"),
        ("Καλημέρα σας.", "el"),
        ("列车九点出发。", "zh"),
        ("電車は九時に出発します。", "ja"),
        ("기차는 아홉 시에 출발합니다.", "ko"),
        ("القطار يغادر في الساعة التاسعة.", "ar"),
    ],
)
def test_a_sentence_tells_its_language(text: str, language: str) -> None:
    assert language_of(text, "en") == language


@pytest.mark.parametrize(
    "text",
    [
        "Okay.",
        "Ja.",
        "Schubert wrote Die Winterreise in 1827.",
        "In German you say guten Morgen.",
        "It is in Los Angeles, near La Brea.",
        "The word is привет.",
        "He ordered a café au lait et un croissant.",
        "42",
        "",
    ],
)
def test_a_foreign_name_or_word_does_not_change_the_language(text: str) -> None:
    assert language_of(text, "en") == "en"


def test_a_short_sentence_stays_in_the_language_of_those_before() -> None:
    assert language_of("Gute Reise!", "de") == "de"


def test_a_script_that_several_languages_share_is_that_of_the_expected_one() -> None:
    assert language_of("Воз полази данас.", "sr") == "sr"
    assert language_of("九時出発", "ja") == "ja"
