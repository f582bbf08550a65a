"""The watch over what a conversation's code takes: memory, room on disks, numbers of files.

It looks as long as an interpreter lives: often while something runs or computes, and otherwise as
often as the machine could be brought to an end in between. What goes too far is ended, and told.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, Protocol
from weakref import WeakSet

from sayso.server.log_context import Ids, conversation_ids, current_ids, log_ids_by
from sayso.server.runtimes import processes
from sayso.server.runtimes.resources import usage

log = logging.getLogger(__name__)

DISK_RESERVE_BYTES = 1024**3
"""What code must leave free on each disk that it may write to. One file is bounded by the sandbox,
but not how many there are; a fast disk takes this much between two looks."""

_SMALL_PART: Final = 2
"""Of a disk that is smaller than twice the reserve, half must remain."""

_RESERVE_PART: Final = 10
"""Where less is free already, a tenth of the reserve may still be used: a person may tidy up."""

FILES_MOST = 500_000
"""New files that one run may leave: more than the largest installations have."""

_FILES_PART: Final = 20
"""One part of so many of all files that a disk can have must remain."""

_MEMORY_RESERVE_PART: Final = 16
_MEMORY_RESERVE_BYTES: Final = 512 * 1024**2
"""What the machine must have left: a part of its memory, but not more than this."""

_BUSY_S: Final = 0.1
_IDLE_S: Final = 5.0
"""Between two looks, at least and at most."""

_FASTEST: Final = 8 * 1024**3
"""Bytes a second that code fills, at most, of memory or a disk."""

_COUNT_S: Final = 1.0
_COUNT_PART: Final = 32
"""Processes are counted so often, and as soon as the machine has less memory by a part of what the
code may have: that takes some milliseconds."""

_COMPUTING_TICKS: Final = 3
"""Between two counts; what an interpreter that has nothing to do takes is less."""

Stop = Callable[[str], Awaitable[None]]


def held_too_much(memory: int) -> str:
    """How to tell that code held more than so many bytes: what begins a sentence."""
    return f"Its code together held more than {memory / 1024**3:.1f} GiB of memory"


class Watched(Protocol):
    """A confined process."""

    @property
    def pid(self) -> int: ...

    @property
    def alive(self) -> bool: ...

    async def end_for(self, why: str) -> None:
        """End it with everything in its sandbox; `why` begins a sentence."""
        ...


@dataclass(slots=True)
class _Charge:
    """What is known of one confined process."""

    memory: int
    """Bytes that all of the conversation's code may hold; 0 is without a bound."""
    folders: tuple[Path, ...]
    held: int = 0
    ticks: int = 0
    computes: bool = True


@dataclass(frozen=True, slots=True)
class _Floor:
    """What must remain free where a folder is."""

    free: int
    files: int


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a look found wrong, in words that begin a sentence; the rest is empty."""

    disk: str = ""
    memory: str = ""
    margin: int = 0
    """Bytes that are left before something may be wrong."""


@dataclass(slots=True)
class _Last:
    """What was so when processes were last counted."""

    at: float = 0.0
    available: int = 0
    start: usage.Machine | None = None
    floors: dict[Path, _Floor] = field(default_factory=dict)


class ResourceWatch:
    """Watches over the code of one conversation, in all its interpreters."""

    _all: ClassVar[WeakSet["ResourceWatch"]] = WeakSet()

    def __init__(self, reserve: int = DISK_RESERVE_BYTES, files_most: int = FILES_MOST) -> None:
        self._reserve = reserve
        self._files_most = files_most
        self._charges: dict[Watched, _Charge] = {}
        self._runs: list[Stop] = []
        self._last = _Last()
        self._stirred = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._own_ids = self._ids = conversation_ids()
        self.held = 0
        """Bytes of memory, as they were last counted."""
        self._all.add(self)

    def add(self, process: Watched, memory: int, folders: Sequence[Path]) -> None:
        """Watch over a process and all that it starts, which may write to these folders."""
        self._charges[process] = _Charge(memory, tuple(folders))
        self._last.floors.clear()
        if self._task is None or self._task.done():
            with log_ids_by(self.ids):
                self._task = asyncio.create_task(self._keep_looking())

    def ids(self) -> Ids:
        """What log lines about the interpreters carry now: those of the run, while there is one."""
        return self._ids

    def remove(self, process: Watched) -> None:
        """Watch over it no more: it has been ended."""
        self._charges.pop(process, None)
        self._stirred.set()

    async def close(self) -> None:
        """Return when nobody looks any more: all that was watched over must have been ended."""
        if self._task:
            await asyncio.wait([self._task])

    def began(self, stop: Stop) -> None:
        """A run begins; `stop` stops it for a reason."""
        self._runs.append(stop)
        self._ids = current_ids()
        self._last.floors.clear()  # what was so before is not this run's doing
        self._stirred.set()

    def ended(self, stop: Stop) -> None:
        """A run is over."""
        self._runs.remove(stop)
        if not self._runs:
            self._ids = self._own_ids

    async def _keep_looking(self) -> None:
        pause = 0.0
        while self._charges:
            self._stirred.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stirred.wait()
            for process in [each for each in self._charges if not each.alive]:
                del self._charges[process]
            if not self._charges:
                return
            try:
                seen = await self._see()
                await self._act_on(seen)
            except Exception:
                log.exception("what code takes could not be looked at")
                for process in list(self._charges):
                    await process.end_for("What it takes could not be watched")
                continue
            busy = self._runs or any(charge.computes for charge in self._charges.values())
            if seen.disk and not self._runs:
                pause = _COUNT_S  # until it shows who computes, or a person has tidied up
                continue
            pause = _BUSY_S if busy else min(_IDLE_S, max(_BUSY_S, seen.margin / 2 / _FASTEST))

    async def _see(self) -> _Seen:
        charges, now = dict(self._charges), asyncio.get_running_loop().time()
        return await asyncio.to_thread(self._look, charges, now)

    async def _act_on(self, seen: _Seen) -> None:
        if seen.memory:
            await self._end_largest(seen.memory)
        elif seen.disk:
            await self._free_disk(seen.disk)

    async def _end_largest(self, why: str) -> None:
        largest = max(self._charges, key=lambda each: self._charges[each].held, default=None)
        if largest is None:
            return
        log.warning("an interpreter is ended: %s", why)
        await largest.end_for(why)

    async def _free_disk(self, why: str) -> None:
        """Stop what runs; where nothing does, end what an earlier run has left computing."""
        if self._runs:
            self._last.floors.clear()
            for stop in list(self._runs):
                await stop(f"It was stopped because {why}; its variables are kept.")
            return
        for process in [each for each, charge in self._charges.items() if charge.computes]:
            log.warning("an interpreter is ended: %s", why)
            await process.end_for(f"What it had left running was ended because {why}")

    def _look(self, charges: Mapping[Watched, _Charge], now: float) -> _Seen:
        """Look at everything, in a thread: a disk may let wait."""
        machine = usage.machine()
        if self._last.start is None:
            self._last.start = machine
        disk, room = self._look_at_disks(charges.values())
        memory = max(charge.memory for charge in charges.values())
        reserve = min(_MEMORY_RESERVE_BYTES, machine.whole // _MEMORY_RESERVE_PART)
        less = self._last.available - machine.available
        if disk or now - self._last.at >= _COUNT_S or less > memory // _COUNT_PART:
            self._count(charges, machine, memory, now)
        self.held = sum(charge.held for charge in charges.values())
        wrong = ""
        if memory and self.held > memory:
            wrong = held_too_much(memory)
        elif memory and machine.available < reserve and self._is_largest():
            wrong = "The machine's memory was nearly used up"
        return _Seen(disk, wrong, max(0, min(machine.available - reserve, room)))

    def _is_largest(self) -> bool:
        return self.held == max(each.held for each in self._all)

    def _count(
        self,
        charges: Mapping[Watched, _Charge],
        machine: usage.Machine,
        memory: int,
        now: float,
    ) -> None:
        """Count what each process holds with all that it started, and whether it computes."""
        trees = processes.below(*(each.pid for each in charges))
        for charge, tree in zip(charges.values(), trees, strict=True):
            ticks = sum(each.ticks for each in tree.values())
            charge.computes = abs(ticks - charge.ticks) >= _COMPUTING_TICKS
            charge.ticks = ticks
            if memory:
                usage.stand_back(tree.values())
            start = self._last.start or machine
            charge.held = usage.held([*tree.values()], memory, start, machine)
        self._last.at, self._last.available = now, machine.available

    def _look_at_disks(self, charges: Iterable[_Charge]) -> tuple[str, int]:
        """Return what is wrong, if anything is, and how much more may be written at least."""
        margin = 2**62
        folders = {folder for charge in charges for folder in charge.folders}
        for folder in folders:
            room = usage.room(folder)
            if room is None:
                continue
            floor = self._last.floors.setdefault(folder, self._floor(room))
            margin = min(margin, room.free - floor.free)
            if room.free < floor.free:
                return "the disk is nearly full", 0
            if 0 <= room.files < floor.files:
                return "it makes more files than its disk should have", 0
        return "", margin

    def _floor(self, room: usage.Room) -> _Floor:
        reserve = min(self._reserve, room.whole // _SMALL_PART)
        if room.free < reserve:
            reserve = max(0, room.free - reserve // _RESERVE_PART)
        files = room.files_whole // _FILES_PART
        if room.files < files:
            files = room.files - files // _FILES_PART
        return _Floor(reserve, max(0, files, room.files - self._files_most))
