"""Figures of repeated measurements."""

import os
import statistics
import subprocess
from collections.abc import Sequence
from typing import TypedDict


class Spread(TypedDict):
    """A time's usual and unusual value."""

    median: float
    p95: float


def spread(values: Sequence[float], decimals: int = 1) -> Spread:
    """Median and 95th percentile (nearest rank), rounded for reading."""
    return Spread(
        median=round(statistics.median(values), decimals), p95=percentile(values, 95, decimals)
    )


def percentile(values: Sequence[float], percent: int, decimals: int = 1) -> float:
    """By nearest rank, rounded for reading."""
    return round(sorted(values)[-(-percent * len(values) // 100) - 1], decimals)


def resident_kb() -> int:
    """Kilobytes of memory that this process has now."""
    asked = ("ps", "-o", "rss=", "-p", str(os.getpid()))
    return int(subprocess.run(asked, capture_output=True, check=True).stdout)
