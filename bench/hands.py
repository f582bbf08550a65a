"""The hands-free client's figures, from the benchmark that measures it, where it is there."""

import importlib
import importlib.util
from dataclasses import dataclass

BENCH = "bench.hands_free"


@dataclass(frozen=True, slots=True)
class HandsFree:
    """Each is None where hands-free listening is not measured."""

    false_starts: float | None = None
    stops_heard: float | None = None
    idle_core_percent: float | None = None
    tv_core_percent: float | None = None


def hands_free() -> HandsFree:
    """Measure them."""
    if importlib.util.find_spec(BENCH) is None:
        return HandsFree()
    found = importlib.import_module(BENCH).measure()
    return HandsFree(
        found["false_starts"],
        found["stops_heard"],
        found["idle_core_percent"],
        found["tv_core_percent"],
    )
