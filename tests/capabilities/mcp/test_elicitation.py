"""What an MCP server asks the person: field by field, with what it names as usual, no secrets."""

from collections.abc import Mapping
from typing import Any

import pytest

from sayso.server.capabilities.mcp.elicitation import elicited


class SomePerson:
    """Answers in this order."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def ask(self, question: str, choices: tuple[str, ...] = ()) -> str:
        self.asked.append((question, choices))
        return self.answers.pop(0)

    async def confirm(self, what: str, lines: tuple[str, ...], why: str) -> bool:
        return False


def form(fields: Mapping[str, Any], required: tuple[str, ...] = ()) -> Mapping[str, Any]:
    schema = {"type": "object", "properties": fields, "required": list(required)}
    return {"mode": "form", "message": "For the order:", "requestedSchema": schema}


USUAL: Mapping[str, Any] = {
    "name": {"type": "string", "default": "Ann"},
    "count": {"type": "integer", "default": 2},
    "gift": {"type": "boolean", "default": False},
    "size": {"type": "string", "enum": ["small", "large"], "default": "large"},
    "with": {"type": "array", "items": {"enum": ["milk", "sugar"]}, "default": ["milk", "sugar"]},
}


async def test_what_is_skipped_is_what_the_server_names_as_usual() -> None:
    person = SomePerson(*["skip"] * 5)
    answer = await elicited("shop", form(USUAL, ("name",)), person)
    assert answer == {
        "action": "accept",
        "content": {
            "name": "Ann",
            "count": 2,
            "gift": False,
            "size": "large",
            "with": ["milk", "sugar"],
        },
    }
    questions = [question for question, _ in person.asked]
    assert "(Ann, if you skip)" in questions[0]
    assert "(no, if you skip)" in questions[2]
    assert person.asked[3][1] == ("small", "large", "skip")


async def test_what_is_answered_goes_before_what_is_usual() -> None:
    person = SomePerson("Bob", "3", "yes", "small", "milk")
    answer = await elicited("shop", form(USUAL), person)
    assert answer["content"] == {
        "name": "Bob",
        "count": 3,
        "gift": True,
        "size": "small",
        "with": ["milk"],
    }


@pytest.mark.parametrize(
    "field",
    [
        {"type": "string"},
        {"type": "integer", "default": "many"},
        {"type": "string", "enum": ["a"], "default": "b"},
    ],
)
async def test_what_must_be_answered_and_has_nothing_usual_that_fits_is_not_skipped(
    field: Mapping[str, Any],
) -> None:
    person = SomePerson("a" if "enum" in field else "7")
    await elicited("shop", form({"what": field}, ("what",)), person)
    assert all("skip" not in question + str(choices) for question, choices in person.asked)


async def test_of_a_long_form_what_must_be_answered_is_asked_and_the_rest_stays() -> None:
    more = {f"more{number}": {"type": "string"} for number in range(8)}
    person = SomePerson("Ann")
    asked = form({"who": {"type": "string"}, "count": USUAL["count"], **more}, ("who",))
    answer = await elicited("shop", asked, person)
    assert answer == {"action": "accept", "content": {"count": 2, "who": "Ann"}}
    assert len(person.asked) == 1
    everything = form(more, tuple(more))
    assert (await elicited("shop", everything, SomePerson()))["action"] == "decline"


async def test_a_secret_is_declined_unasked_wherever_it_stands() -> None:
    more = {f"more{number}": {"type": "string"} for number in range(8)}
    for asked in (
        form({"password": {"type": "string"}}),
        form({"api_key": {"type": "string"}, **more}),
    ):
        person = SomePerson()
        assert (await elicited("shop", asked, person))["action"] == "decline"
        assert not person.asked
