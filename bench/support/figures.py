"""Computes the figures of repeated measurements."""

import asyncio
import os
import resource
import statistics
import subprocess
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TypedDict, TypeVar

Found = TypeVar("Found")
LINUX_TELLS = Path("/proc/self/statm")


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
    if LINUX_TELLS.exists():  # at once, while others are measured
        pages = int(LINUX_TELLS.read_text().split()[1])
        return pages * resource.getpagesize() // 1_024
    asked = ("ps", "-o", "rss=", "-p", str(os.getpid()))
    return int(subprocess.run(asked, capture_output=True, check=True).stdout)


def in_fresh_process(measure: Callable[..., Coroutine[None, None, Found]], *given: object) -> Found:
    """What is measured where nothing was before: who has done much has freed memory left over."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        return fresh.submit(_run, measure, given).result()


def _run(measure: Callable[..., Coroutine[None, None, Found]], given: Sequence[object]) -> Found:
    return asyncio.run(measure(*given))
