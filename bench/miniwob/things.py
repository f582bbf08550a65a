"""What a script for MiniWoB++ has: the tools of a model, and what is told of a page."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol


class Hands(Protocol):
    """The tools of a model: what is done, and what it is told of it."""

    async def __call__(self, name: str, **given: str) -> str: ...


Solve = Callable[[Hands, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that can be acted on, as it was read."""

    ref: str
    role: str
    name: str
    hint: str
    rest: str


_THING: Final = re.compile(r"\[([a-z]+\d+) (\w+)(?: \"([^\"]*)\")?(?: \(([^)]*)\))?([^\]]*)\]")


def things(told: str) -> list[Thing]:
    """All of what was read."""
    return [Thing(*(part or "" for part in found)) for found in _THING.findall(told)]


def one(told: str, **wanted: str) -> str:
    """The first with these roles, names or hints."""
    return next(
        each.ref
        for each in things(told)
        if all(words.lower() in getattr(each, part).lower() for part, words in wanted.items())
    )


def quoted(wanted: str) -> list[str]:
    return re.findall(r'"([^"]*)"', wanted)


def ref(told: str, role: str, number: int = 0) -> str:
    return str(re.findall(rf"\[([a-z]+\d+) {role}", told)[number])
