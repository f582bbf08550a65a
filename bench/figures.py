"""Figures of repeated measurements."""

import statistics
from collections.abc import Sequence
from typing import TypedDict


class Spread(TypedDict):
    """A time's usual and unusual value."""

    median: float
    p95: float


def spread(values: Sequence[float]) -> Spread:
    """Median and 95th percentile (nearest rank), rounded for reading."""
    ordered = sorted(values)
    rank = -(-95 * len(ordered) // 100) - 1
    return Spread(median=round(statistics.median(ordered), 1), p95=round(ordered[rank], 1))
