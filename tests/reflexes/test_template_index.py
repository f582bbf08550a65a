"""What a look at a text's two ends leaves out could not have matched."""

from itertools import chain

import pytest
from hassil import Intents, recognize_all
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.server.reflexes.language_file import read_language
from sayso.server.reflexes.template_index import TemplateIndex

TEMPLATES = {
    "Tell": ["(what|which) day [of the week] is (it|today)", "[the] date", "<when>[ please]"],
    "Timer": ["{name} timer", "set (a|an) {small} minute timer[s]", "({small} minutes; timer)"],
    "Odd": ["[a] [b]", "no. {small}", "air conditioner", "{kind} first"],
}


def made() -> Intents:
    return Intents.from_dict(
        {
            "language": "en",
            "lists": {
                "name": {"wildcard": True},
                "small": {"range": {"from": 1, "to": 99}},
                "kind": {"values": ["red [one]", {"in": "(blue|green)", "out": 1}]},
            },
            "expansion_rules": {"when": "(now|[right] then)"},
            "intents": {
                name: {"data": [{"sentences": texts}]} for name, texts in TEMPLATES.items()
            },
        }
    )


@pytest.fixture(scope="module")
def languages() -> dict[str, tuple[Intents, TemplateIndex]]:
    found = {}
    for code in ("en", "de"):
        intents = Intents.from_dict(dict(read_language(code).sentences))
        found[code] = (intents, TemplateIndex(intents))
    return found


def meanings(text: str, intents: Intents) -> list[tuple[str, list[tuple[str, object]]]]:
    return [
        (found.intent.name, [(entity.name, entity.value) for entity in found.entities_list])
        for found in recognize_all(text, intents)
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("What day is it?", 1),
        ("which day of the week is today", 1),
        ("THE DATE.", 1),
        ("egg timer", 1),
        ("set a 10 minute timer", 2),
        ("timer ten minutes", 1),
        ("ten minutes timer", 2),
        ("right then please", 1),
        ("no. 5", 0),
        ("air-conditioner", 1),
        ("green first", 1),
        ("red one first", 1),
        ("b", 1),
        ("", 1),
        ("nothing of this", 0),
    ],
)
def test_a_template_that_fits_is_found(text: str, count: int) -> None:
    intents = made()
    assert len(meanings(text, TemplateIndex(intents).fitting(text))) == count
    assert len(meanings(text, intents)) == count


def test_few_of_many_templates_are_left(
    languages: dict[str, tuple[Intents, TemplateIndex]],
) -> None:
    intents, index = languages["en"]
    data = chain.from_iterable(intent.data for intent in intents.intents.values())
    all_of_them = sum(len(each.sentences) for each in data)
    assert len(index.fitting("what day is it today").intents) < 0.25 * all_of_them


SAID = """
what time is it in tokyo set a timer for ten minutes stop add milk to my list and remind me at 7 to
call mum cancel the alarm tomorrow wie spät ist es stell einen Wecker auf acht Uhr morgen half past
Nudeltimer 7:30 pm zwei please, - ' u.s.
"""
WORDS = st.sampled_from(SAID.split())


@given(st.lists(WORDS, min_size=1, max_size=9).map(" ".join), st.sampled_from(["en", "de"]))
@settings(max_examples=60, deadline=None)
def test_whatever_is_said_it_means_the_same_as_with_all_templates(
    languages: dict[str, tuple[Intents, TemplateIndex]], text: str, code: str
) -> None:
    intents, index = languages[code]
    assert meanings(text, index.fitting(text)) == meanings(text, intents)
