"""Schedules passes of the recognizer: a bounded number runs at a time, final passes go first.

A pass that arrives while all places are taken cancels the least urgent one that runs, if that is
less urgent than itself: its asker gets Overtaken and decides whether the pass is still worth asking
for. No draft ever delays a final: where there are several places, drafts leave one free.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from enum import IntEnum
from typing import Protocol

from sayso.server.speech.errors import TooManySpeak
from sayso.server.speech.recognition.recognizer import Transcript

TOLD_AFTER_S = 1.5
"""A person whose words wait so long for those of others is told why …"""
REFUSED_AFTER_S = 8.0
"""… and after so long is asked to say it again: nobody waits longer than that at a loudspeaker."""

BUSY = "Several people are speaking; what you said is understood in a moment."
TOO_BUSY = "Too many people are speaking at once for this machine. Please say it again in a moment."

Work = Callable[[], Coroutine[None, None, Transcript]]
"""Begins the pass when its turn has come."""


class Rank(IntEnum):
    """The smaller, the more urgent."""

    FINAL = 0
    """Somebody waits for an answer."""
    PIECE = 1
    """A part of a long utterance, to be closed before the release."""
    GUESS = 2
    """The speaker pauses: perhaps this is already the final."""
    DRAFT = 3
    """Only to be shown."""


class Capacity(Protocol):
    """How many passes may run at the same time."""

    @property
    def places(self) -> int:
        """As many as now."""
        ...

    def crowded(self) -> None:
        """Somebody waits who should not have to: there should be more, if there can be."""
        ...


class FixedCapacity:
    """Always as many."""

    def __init__(self, places: int) -> None:
        self.places = places

    def crowded(self) -> None:
        """There are no more."""


class Overtaken(Exception):
    """The pass was given up for a more urgent one."""


class Ask:
    """One request for a pass. Its rank may rise while it waits or runs."""

    def __init__(self, rank: Rank, work: Work) -> None:
        self.rank = rank
        self.work = work
        self.overtaken = False
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.context = copy_context()
        """The asker's: what is logged about the pass is about them."""
        self.result: asyncio.Future[Transcript] = asyncio.get_running_loop().create_future()
        # An asker may have left: an error that nobody fetches is not worth a complaint.
        self.result.add_done_callback(lambda done: done.cancelled() or done.exception())

    def promote(self, rank: Rank) -> None:
        """From now on it is as urgent as that."""
        self.rank = min(self.rank, rank)


class PassScheduler:
    """The queue before the recognizer, shared by all who listen."""

    def __init__(self, capacity: Capacity) -> None:
        self._capacity = capacity
        """What the recognizer takes at the same time."""
        self._waiting: list[Ask] = []
        self._running: dict[Ask, asyncio.Task[Transcript]] = {}

    def ask(self, rank: Rank, work: Work) -> Ask:
        """Ask for a pass; await its `result`, or give it up with `forget`."""
        ask = Ask(rank, work)
        self._waiting.append(ask)
        self._next()
        return ask

    async def result(self, ask: Ask, on_busy: Callable[[], None]) -> Transcript:
        """What comes of a pass that somebody waits for; given up with its asker. `on_busy` is told
        where it has to wait long for others. Raises TooManySpeak where it waits too long."""
        try:
            if not await _begins(ask, TOLD_AFTER_S):
                on_busy()
                if not await _begins(ask, REFUSED_AFTER_S - TOLD_AFTER_S):
                    raise TooManySpeak(TOO_BUSY)
            return await ask.result
        finally:
            self.forget(ask)

    def forget(self, ask: Ask) -> None:
        """Nobody wants this any more."""
        if not ask.result.done():
            ask.result.cancel()
        if task := self._running.get(ask):
            task.cancel()
        with contextlib.suppress(ValueError):
            self._waiting.remove(ask)

    def _next(self) -> None:
        self._waiting = [ask for ask in self._waiting if not ask.result.done()]
        while self._waiting:
            urgent = min(self._waiting, key=lambda ask: ask.rank)
            if len(self._running) >= self._open_to(urgent.rank):
                break
            self._waiting.remove(urgent)
            self._begin(urgent)
        if not self._waiting:
            return
        # Who was given up leaves a place soon, which the most urgent take.
        staying = [ask for ask in self._running if not ask.result.done() and not ask.overtaken]
        leaving = len(self._running) - len(staying)
        for urgent in sorted(self._waiting, key=lambda ask: ask.rank)[leaving:]:
            least = max(staying, key=lambda ask: ask.rank, default=urgent)
            if urgent.rank >= least.rank:
                if urgent.rank < Rank.DRAFT:
                    self._capacity.crowded()
                return
            staying.remove(least)
            least.overtaken = True
            self._running[least].cancel()

    def _open_to(self, rank: Rank) -> int:
        """How many passes may run beside which one of this rank begins."""
        places = self._capacity.places
        return max(1, places - 1) if rank is Rank.DRAFT else places

    def _begin(self, ask: Ask) -> None:
        task = asyncio.create_task(ask.work(), name=f"{ask.rank.name} pass", context=ask.context)
        self._running[ask] = task
        ask.begun.set_result(None)
        task.add_done_callback(lambda done: self._done(ask, done))

    def _done(self, ask: Ask, task: asyncio.Task[Transcript]) -> None:
        """Tell the asker. Also called for a task that was cancelled before it ever ran."""
        del self._running[ask]
        if task.cancelled():
            if not ask.result.done() and not ask.overtaken:
                ask.result.cancel()
                return  # the whole server is closing: nobody is next
            if not ask.result.done():
                ask.result.set_exception(Overtaken())
        elif problem := task.exception():
            if not ask.result.done():
                ask.result.set_exception(problem)
        elif not ask.result.done():
            ask.result.set_result(task.result())
        self._next()


async def _begins(ask: Ask, within_s: float) -> bool:
    """Wait until a pass begins, or is over without that."""
    done, _ = await asyncio.wait(
        (ask.begun, ask.result), timeout=within_s, return_when=asyncio.FIRST_COMPLETED
    )
    return bool(done)
