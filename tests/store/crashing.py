"""Writes a log in processes that die at every single change of the disk, one after the other.

    LD_PRELOAD=crash_at.so python -m tests.store.crashing FOLDER     prints how many deaths

Each life is a process of its own that tells through a pipe what was acknowledged to it.
"""

import asyncio
import ctypes
import os
import shutil
import sqlite3
import sys
from pathlib import Path

from sayso.server.store.event_log import EventLog
from sayso.server.store.log_reader import read_events
from sayso.server.store.records import Asked, Event

DEATH = 137
EVENTS = 12
LONG = "and so on " * 700
"""More than a page of the database."""
FORGOTTEN = "a secret of long ago"

SHIM = ctypes.CDLL(None)


def main(folder: Path) -> int:
    """Let one die at the first change, the next at the second, until one lives to its end."""
    deaths = 0
    while True:
        home = folder / str(deaths)
        home.mkdir()
        acknowledged, status = _live(home / "log.db", deaths + 1)
        _examine(home / "log.db", acknowledged)
        shutil.rmtree(home)
        if status == 0:
            return deaths
        deaths += 1


def _live(path: Path, change: int) -> tuple[list[str], int]:
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        SHIM.crash_at(ctypes.c_long(change))
        asyncio.run(_write(path, theirs))
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        acknowledged = pipe.read().split()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, DEATH), status
    return acknowledged, status


async def _write(path: Path, pipe: int) -> None:
    log = await EventLog.open(path)
    for number in range(EVENTS):
        conversation = "old" if number % 3 == 0 else "kept"
        text = f"{FORGOTTEN} {number}" if conversation == "old" else f"{number} {LONG}"
        await log.append(Event(conversation, "person", Asked(text)))
        os.write(pipe, f"{conversation}{number} ".encode())
    await log.forget("old")
    os.write(pipe, b"forgotten ")
    await asyncio.gather(
        *(log.append(Event("kept", "person", Asked(f"{EVENTS + n} at once"))) for n in range(4))
    )
    os.write(pipe, b"together ")
    await log.close()


def _examine(path: Path, acknowledged: list[str]) -> None:
    """What was acknowledged is there, and the log goes on as if nothing had been."""
    asyncio.run(_go_on(path))
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    events = read_events(path)
    kept = [int(event.record.text.split()[0]) for event in _of(events, "kept")]  # type: ignore[union-attr]
    last = kept.pop()
    assert last == EVENTS * 10
    assert kept == sorted(kept)
    meant = [int(name[4:]) for name in acknowledged if name.startswith("kept")]
    meant += [EVENTS + number for number in range(4)] if "together" in acknowledged else []
    assert kept[: len(meant)] == meant, (kept, meant)
    if "forgotten" in acknowledged:
        assert not _of(events, "old")
        assert FORGOTTEN.encode() not in path.read_bytes()
    else:
        old = sum(name.startswith("old") for name in acknowledged)
        # It may have died between the forgetting and the word of it.
        assert len(_of(events, "old")) >= old or not _of(events, "old")


async def _go_on(path: Path) -> None:
    log = await EventLog.open(path)
    await log.append(Event("kept", "person", Asked(f"{EVENTS * 10} afterwards")))
    await log.close()


def _of(events: list[Event], conversation: str) -> list[Event]:
    return [event for event in events if event.conversation == conversation]


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))  # noqa: T201 (this is a program)
