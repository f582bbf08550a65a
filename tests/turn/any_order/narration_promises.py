"""What the narrator must never do, in whatever order things happen."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from sayso.server.turn import effects
from sayso.server.turn.during_work.narration_phrases import NARRATIONS
from sayso.server.turn.effects import Effect

_SAID: Final = re.compile(
    "|".join(
        re.escape(phrase)
        .replace(re.escape("{length}"), r"\d+ \w+")
        .replace(re.escape("{step}"), r"\d+")
        .replace(re.escape("{count}"), r"\d+")
        for phrases in NARRATIONS.values()
        for phrase in phrases.values()
    )
)

MINUTE_S: Final = 60.0
AT_MOST: Final = 3
"""Of them in one minute."""


class NarrationPromises:
    """Follows one machine."""

    def __init__(self) -> None:
        self.at: list[float] = []
        """When something was said by itself."""

    def look(self, did: Sequence[Effect], now: float, pressed: AbstractSet[str]) -> None:
        """Look at what was done at a moment, while these devices' keys were held."""
        said = [each.text.strip() for each in did if isinstance(each, effects.Speak)]
        for text in said:
            if _SAID.fullmatch(text):
                assert not pressed, "it was said over somebody"
                self.at.append(now)
        lately = [at for at in self.at if at > now - MINUTE_S]
        assert len(lately) <= AT_MOST, "too much was said by itself"
