"""What runs below this process, seen from outside."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from tests import leaks
from tests.runtimes.sandboxes import RUN_S

_LOOK_AGAIN_S = 0.02


def below(words: str, root: int = 0) -> list[int]:
    """The processes below this one, or below `root`, in whose command line these words are."""
    children: dict[int, list[int]] = {}
    for pid in leaks.running():
        try:
            status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(status[1]), []).append(pid)
    found = []
    waiting = [root or os.getpid()]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            waiting.append(child)
            if words in command_of(child):
                found.append(child)
    return found


def command_of(pid: int) -> str:
    """How a process was started; nothing once it is dead."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


async def until(is_so: Callable[[], bool], within_s: float = RUN_S) -> None:
    """Wait for something that nobody announces."""
    async with asyncio.timeout(within_s):
        while not is_so():  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(_LOOK_AGAIN_S)
