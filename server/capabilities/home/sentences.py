"""Sentences as Home Assistant understands them, for the reflexes: tried out, then done."""

from typing import Final

from sayso.server.capabilities.home.assistant import (
    HomeAssistant,
    HomeAwayError,
    HomeRefusedError,
)
from sayso.server.capabilities.home.domains import kinds_of, only_asks
from sayso.server.reflexes.home import home as seam

LONGEST: Final = 200
"""Characters of a sentence: what is longer is no sentence to a light."""


class HomeSentences:
    """The house behind the seam of the reflexes."""

    def __init__(self, home: HomeAssistant) -> None:
        self._home = home

    async def plan(self, text: str, language: str, device: str) -> seam.Plan | None:
        """What these words would do, without doing it; None if they mean nothing there. Raises
        HomeAwayError."""
        if len(text) > LONGEST:
            return None
        language = language.partition("-")[0] or "en"
        try:
            found = await self._home.try_out(text, language)
        except HomeAwayError as problem:
            raise seam.HomeAwayError(str(problem)) from problem
        if not found or not found.get("match"):
            return None
        return seam.Plan(text, language, kinds_of(found), only_asks(found))

    async def carry_out(self, plan: seam.Plan) -> str:
        """Do it; returns the house's own sentence. Raises HomeAwayError."""
        try:
            return await self._home.say(plan.text, plan.language) or "Done."
        except HomeRefusedError as problem:
            return str(problem)
        except HomeAwayError as problem:
            raise seam.HomeAwayError(str(problem)) from problem
