"""Units of measure, and how much one is in another. Pure."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final


@dataclass(frozen=True, slots=True)
class Unit:
    """So many of its kind's basic unit."""

    kind: str
    """What it measures: only units of one kind can be compared."""
    factor: Decimal
    zero: Decimal = Decimal(0)
    """Where its zero lies, in the basic unit."""


def _units(kind: str, **factors: str) -> dict[str, Unit]:
    return {name: Unit(kind, Decimal(factor)) for name, factor in factors.items()}


EXACT_PLACES: Final = 12
"""What lies behind is an error of the division by a ninth, and nothing that was asked for."""

UNITS: Final = {
    **_units("length", mm="0.001", cm="0.01", m="1", km="1000", inch="0.0254", ft="0.3048",
             yd="0.9144", mi="1609.344", nmi="1852"),
    **_units("weight", mg="0.000001", g="0.001", kg="1", t="1000", oz="0.028349523125",
             lb="0.45359237", pfund="0.5", st="6.35029318"),
    **_units("volume", ml="0.001", cl="0.01", dl="0.1", l="1", tsp="0.00492892159375",
             tbsp="0.01478676478125", floz="0.0295735295625", cup="0.2365882365",
             pint="0.473176473", quart="0.946352946", gallon="3.785411784"),
    **_units("time", s="1", min="60", h="3600", day="86400", week="604800", year="31557600"),
    **_units("speed", ms="1", kmh="0.277777777777777777777778", mph="0.44704",
             knot="0.514444444444444444444444"),
    **_units("area", cm2="0.0001", m2="1", km2="1000000", ha="10000", ft2="0.09290304",
             acre="4046.8564224"),
    **_units("energy", j="1", kj="1000", cal="4.184", kcal="4184", wh="3600", kwh="3600000"),
    **_units("data", byte="1", kb="1000", mb="1000000", gb="1000000000", tb="1000000000000"),
    "c": Unit("temperature", Decimal(1), Decimal("273.15")),
    "f": Unit("temperature", Decimal(5) / Decimal(9), Decimal("459.67") * 5 / 9),
    "k": Unit("temperature", Decimal(1)),
}  # fmt: skip
"""By the key that the languages' files use. Cups, pints and gallons are American."""


def convert(amount: Decimal, unit: str, into: str) -> Decimal | None:
    """So many of one unit in another; None if they do not measure the same."""
    here, there = UNITS.get(unit), UNITS.get(into)
    if here is None or there is None or here.kind != there.kind:
        return None
    return round((amount * here.factor + here.zero - there.zero) / there.factor, EXACT_PLACES)
