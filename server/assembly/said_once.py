"""Remembers notices that a person is shown once on this machine, not at each start."""

import contextlib
import os
from typing import Final

from sayso.protocol.home import Home

MOST_BYTES: Final = 65_536
"""Of sentences that are remembered: hundreds. What is beyond is told again."""


def is_news(home: Home, sentence: str) -> bool:
    """Whether this was never told; from now on it was. Where nothing can be remembered, it is."""
    told = home.state / "told-once"
    with contextlib.suppress(OSError):
        told.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(told, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "r+", encoding="utf-8", errors="replace") as file:
            if sentence in file.read(MOST_BYTES).splitlines():
                return False
            if file.tell() < MOST_BYTES:
                file.write(f"{sentence}\n")
    return True
