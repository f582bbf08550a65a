"""The seam to a house's devices: what a sentence would do there, and then that it is done.

    words ─ plan ─▶ nothing      not understood there: for the language model
                └─▶ a plan ─ calm ──────▶ carry out ─▶ the house's own sentence is told
                           └ otherwise ─▶ for the language model, whose tools ask

A plan is what a house understood when it was asked without acting. Only what does no harm when it
was misheard (light, music, a scene) is carried out on the spot.
"""

from dataclasses import dataclass
from typing import Final, Protocol

CALM: Final = frozenset(
    {"light", "switch", "fan", "climate", "media_player", "scene", "timer", "todo", "shopping_list"}
    | {"weather", "sensor", "binary_sensor", "sun"}
)
"""Kinds of things that are set, or asked about, unasked. A lock, an alarm, a garage, a valve, a
cover, a script is none of them, and neither is a kind that is not known."""

ANSWERS_WITHIN_S: Final = 2.0
"""A house that takes longer is away."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sentence would do in the house."""

    text: str
    """As it was said."""
    language: str
    """BCP 47."""
    kinds: frozenset[str]
    """Of all things that it would touch; empty where that is not known."""
    asks_only: bool = False
    """It changes nothing."""
    handle: object = None
    """The house's own note of it."""

    @property
    def is_calm(self) -> bool:
        """Whether it may be carried out unasked. What is not known is not calm."""
        return bool(self.kinds) and self.kinds <= CALM


class HomeAwayError(Exception):
    """The house does not answer."""


class Home(Protocol):
    """A house that can be spoken to."""

    async def plan(self, text: str, language: str, device: str) -> Plan | None:
        """What these words would do, without doing it; None if they mean nothing there. `device`:
        where they were said. Raises HomeAwayError."""
        ...

    async def carry_out(self, plan: Plan) -> str:
        """Do it; returns the house's own sentence. Raises HomeAwayError."""
        ...
