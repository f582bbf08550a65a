"""Reads how far a program is from what it prints: its last line, and a share if that names one."""

import re
from typing import Final

KEPT_CHARS: Final = 1_000
"""Of the end of an output, which hold its last line: a bar of progress is one of some hundred."""

_PERCENT: Final = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d+)?) ?%")
_OF: Final = re.compile(r"(?<![\w./])(\d{1,9}) ?(?:/|of) ?(\d{1,9})(?![\w./])")


def latest_line(output: str) -> str:
    """The last line that says anything; of one that was written over, what was written last."""
    for line in reversed(output[-KEPT_CHARS:].splitlines()):
        if said := line.strip():
            return said
    return ""


def fraction_in(line: str) -> float | None:
    """The share that a line of progress names, from 0 to 1: `40 %`, `12/40`, `12 of 40`; none if it
    names none, or several that differ."""
    shares = {float(found) / 100 for found in _PERCENT.findall(line)} or {
        int(done) / int(whole) for done, whole in _OF.findall(line) if int(whole)
    }
    share = shares.pop() if len(shares) == 1 else None
    return share if share is not None and share <= 1 else None
