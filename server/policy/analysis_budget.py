"""Caps analysis work on one piece of code, which may nest or repeat other code without end. Code
that exceeds the cap is too tangled for a person to read, too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

MOST: Final = 100_000
"""Characters: a second of reading."""

_EACH: Final = 200
"""Characters that a piece costs at least: reading none takes its time as well."""

_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


@contextmanager
def spent_on(code: str) -> Iterator[bool]:
    """Whether there is enough left to read this too. The outermost piece begins anew."""
    left = _left.get()
    outermost = left is None
    if left is None:
        left = [MOST]
        _left.set(left)
    left[0] -= len(code) + _EACH
    try:
        yield left[0] >= 0
    finally:
        if outermost:
            _left.set(None)
