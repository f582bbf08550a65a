"""Days of a household: what is said in them is answered right, and what is work is left alone.

The requests stand in `requests/`, one to a line with what is answered to it (as a pattern), in
scenes that begin anew. `<Stop>` is a reflex that the turn or the voice performs.
"""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from sayso.server.conversations.reflexes.reflex_responder import ReflexResponder
from sayso.server.reflexes.asker import Asker
from tests.reflexes.test_time_actions import Kitchen, kitchen

__all__ = ["kitchen"]

pytestmark = pytest.mark.virtual_time(limit_s=1e6)

REQUESTS = Path(__file__).with_name("requests")
MODEL = "(model)"
BEFORE = {
    "en": ["Set a timer for ten minutes.", "Add milk to the shopping list."],
    "de": ["Stell einen Timer auf zehn Minuten.", "Setz Milch auf die Einkaufsliste."],
}
"""What the work goes on from, seemingly."""
MOST_WRONG = 0.05
"""Of all requests: what is misunderstood now and then is said once more."""


def scenes(language: str) -> list[list[tuple[str, str]]]:
    """What is said in each scene, and what is answered."""
    found: list[list[tuple[str, str]]] = []
    for line in (REQUESTS / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            found.append([])
        elif line:
            said, _, answer = line.partition(" -> ")
            found[-1].append((said, answer))
    return found


async def answered(responder: ReflexResponder, said: str, language: str) -> str:
    """The answer as it is written in the files."""
    understood = responder.understand(said, Asker("kitchen", "family", language))
    if understood is None:
        return MODEL
    reflex, _ = understood
    told = " ".join([type(reflex).__name__, *repr(reflex).split("(", 1)[1][:-1].split(", ")])
    return await responder.answer(*understood) or f"<{told.strip()}>"


def is_right(answer: str, expected: str) -> bool:
    if expected.startswith("<") and " " not in expected:
        answer = answer.partition(" ")[0].removesuffix(">") + ">"
    return fnmatchcase(answer, expected)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
async def test_a_day_of_a_household_is_answered_right(tmp_path: Path, language: str) -> None:
    wrong: list[str] = []
    requests = 0
    for number, scene in enumerate(scenes(language)):
        kitchen = Kitchen(tmp_path / f"{number}.sqlite")
        async with kitchen.on(language):
            for said, expected in scene:
                requests += 1
                answer = await answered(kitchen.responder, said, language)
                if expected == MODEL or not is_right(answer, expected):
                    wrong.append(f"{said} -> {answer}, not {expected}")
    assert requests >= 200
    assert len(wrong) <= MOST_WRONG * requests, "\n".join(wrong)


@pytest.mark.parametrize(("language", "at_least"), [("en", 300), ("de", 70)])
async def test_what_is_work_is_left_to_the_language_model(
    kitchen: Kitchen, language: str, at_least: int
) -> None:
    work = (REQUESTS / f"for_the_model_{language}.txt").read_text(encoding="utf-8").splitlines()
    assert len(work) >= at_least
    async with kitchen.on(language):
        for before in BEFORE[language]:
            await answered(kitchen.responder, before, language)
        taken = {said: await answered(kitchen.responder, said, language) for said in work}
    assert {said: how for said, how in taken.items() if how != MODEL} == {}
