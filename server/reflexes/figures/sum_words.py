"""How numbers and sums are said in one language."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Sums:
    """How numbers and sums are said and written."""

    decimal_point: Literal[".", ","]
    """As it is written; the other of the two groups thousands."""
    point: tuple[str, ...]
    """As it is said."""
    one: tuple[str, ...]
    """Words for one beside the number's own: `a`."""
    links: tuple[str, ...]
    """What may be said between hundreds and the rest: `and`."""
    plus: tuple[str, ...]
    minus: tuple[str, ...]
    times: tuple[str, ...]
    over: tuple[str, ...]
    power: tuple[str, ...]
    percent: tuple[str, ...]
    of: tuple[str, ...]
    """Behind a percentage or a fraction."""
    squared: tuple[str, ...]
    root: tuple[str, ...]
    """Before the number."""
    parts_of: Mapping[str, str]
    """Before a number: what part of it is taken, such as `1/3`."""
    fractions: Mapping[str, str]
    """Numbers that are no whole ones: `half a` is `1/2`."""
    and_half: tuple[str, ...]
    """Behind a whole number, adds a half."""
