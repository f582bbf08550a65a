"""A household's requests are answered right, in English and in German."""

from fnmatch import fnmatchcase

import pytest

from sayso.server.reflexes.asker import Asker
from tests.reflexes.household_requests import ENGLISH, GERMAN, Expected
from tests.reflexes.test_time_actions import Kitchen, kitchen

__all__ = ["kitchen"]

pytestmark = pytest.mark.virtual_time(limit_s=1e6)

MOST_WRONG = 0.05
"""Of all requests: what is misunderstood now and then is said once more."""


def test_there_are_many_requests_in_both_languages() -> None:
    assert len(ENGLISH) + len(GERMAN) >= 244


@pytest.mark.parametrize(("language", "requests"), [("en", ENGLISH), ("de", GERMAN)])
async def test_what_a_household_says_is_answered_right(
    kitchen: Kitchen, language: str, requests: tuple[tuple[str, Expected], ...]
) -> None:
    wrong: list[str] = []
    async with kitchen.on(language):
        for text, expected in requests:
            got = await outcome(kitchen, text, language)
            if not is_right(got, expected):
                wrong.append(f"{text} → {got!r}, not {expected!r}")
    assert len(wrong) <= MOST_WRONG * len(requests), "\n".join(wrong)


async def outcome(kitchen: Kitchen, text: str, language: str) -> object:
    """The answer; the reflex, where the turn or the voice does it; None for the model."""
    understood = kitchen.responder.understand(text, Asker("kitchen", "family", language))
    if understood is None:
        return None
    return await kitchen.responder.answer(*understood) or understood[0]


def is_right(got: object, expected: Expected) -> bool:
    if isinstance(expected, str):
        return isinstance(got, str) and fnmatchcase(got, expected)
    return got is None if expected is None else isinstance(got, expected)
