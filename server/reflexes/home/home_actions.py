"""Hands sentences to the house, if there is one, and words what came of them."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.asker import Asker
from sayso.server.reflexes.home.home import ANSWERS_WITHIN_S, Home, HomeAwayError, Plan

log = logging.getLogger(__name__)

AWAY_S: Final = 30.0
"""So long after it did not answer, it is not asked about words that may not be for it at all."""


class HomeActions:
    """Of one server. Without a house nothing is understood."""

    def __init__(self, answers: Callable[[str], Answers], steady: Callable[[], float]) -> None:
        """`steady`: seconds that only go forward."""
        self._answers = answers
        self._steady = steady
        self._away_until = 0.0
        self.home: Home | None = None

    async def answer(
        self, text: str, asker: Asker, refusal: str, expected: Callable[[], bool]
    ) -> str | None:
        """Do in the house what these words ask for, and say so; None for the language model.

        `refusal`: what is said where the device may not decide; empty where it may. `expected`:
        whether the words are for a house by all that is known; asked where it does not answer.
        """
        if self.home is None or (self._steady() < self._away_until and not expected()):
            return None
        try:
            async with asyncio.timeout(ANSWERS_WITHIN_S):
                plan = await self.home.plan(text, asker.language, asker.device)
        except (HomeAwayError, TimeoutError):
            self._is_away()
            return self._answers(asker.language).home("away") if expected() else None
        if plan is None or not plan.is_calm:
            return None
        if refusal and not plan.asks_only:
            return refusal
        return await self._carried_out(self.home, plan, asker)

    async def _carried_out(self, home: Home, plan: Plan, asker: Asker) -> str:
        """What came of it. Whether it was done is not known if the house falls silent now, and it
        is not tried again."""
        try:
            async with asyncio.timeout(ANSWERS_WITHIN_S):
                return await home.carry_out(plan)
        except (HomeAwayError, TimeoutError):
            self._is_away()
            return self._answers(asker.language).home("away" if plan.asks_only else "unknown")

    def _is_away(self) -> None:
        log.warning("the house does not answer")
        self._away_until = self._steady() + AWAY_S
