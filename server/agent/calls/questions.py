"""The questions that running code puts to the person: asked, told, answered, or given up.

They are no approvals: nothing runs and nothing is opened because of an answer, which is data for
the code that asked. They have a place, events and words of their own, so that neither is taken for
the other.
"""

import asyncio
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sayso.server.agent.event_stream import Emit
from sayso.server.agent.events import CodeAsked

ANSWER_S: Final = 120.0
"""As long as an approval waits: long enough to read what was printed, and to think."""

ANSWER_CHARS: Final = 4_000
"""Of an answer: a paragraph that is typed; nobody says more in one breath."""

_WORDS: Final = re.compile(r"\w+")


class UnansweredError(Exception):
    """Nobody answered in time."""


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str
    by: str


@dataclass(slots=True)
class _Open:
    id: str
    answer: asyncio.Future[_Answer]


class CodeQuestions:
    """Of one conversation; at most one at a time is open."""

    def __init__(self) -> None:
        self.answerable = False
        """Whether anybody takes part who could answer."""
        self.answer_s = ANSWER_S
        self._open: _Open | None = None
        self._one_at_a_time = asyncio.Lock()

    async def ask(self, text: str, choices: Sequence[str], emit: Emit) -> tuple[str, str]:
        """Ask the person; return the answer and the device that gave it. With choices it is one of
        them, and what is none is asked again. Raises UnansweredError.
        """
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(self.answer_s):
                    return await self._answered(text, choices, emit)
            except TimeoutError:
                await emit(CodeAsked())
                raise UnansweredError from None

    async def _answered(self, text: str, choices: Sequence[str], emit: Emit) -> tuple[str, str]:
        while True:
            asked = _Open(secrets.token_hex(8), asyncio.get_running_loop().create_future())
            self._open = asked
            try:
                await emit(CodeAsked(asked.id, text, tuple(choices)))
                answer = await asked.answer
            finally:
                self._open = None
            chosen = choice_in(answer.text, choices) if choices else answer.text
            if chosen or not choices:
                await emit(CodeAsked())
                return chosen, answer.by

    def answer(self, id: str, text: str, by: str) -> bool:  # noqa: A002
        """The person's answer. False if that question is not open any more."""
        if self._open is None or self._open.id != id or self._open.answer.done():
            return False
        self._open.answer.set_result(_Answer(text.strip()[:ANSWER_CHARS], by))
        return True


def choice_in(answer: str, choices: Sequence[str]) -> str:
    """Which of the choices somebody means: by its words, or by its number; empty if none."""
    words = _plain(answer)
    named = [choice for choice in choices if _plain(choice) == words]
    if not named and words.isdecimal() and 0 < int(words[:4]) <= len(choices):
        named = [choices[int(words[:4]) - 1]]
    if not named:
        named = [choice for choice in choices if f" {_plain(choice)} " in f" {words} "]
    return named[0] if len(named) == 1 else ""


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))
