"""Schedules passes of the recognizer: a bounded number runs at a time, final passes go first.

A pass that arrives while all places are taken cancels the least urgent one that runs, if that is
less urgent than itself: its asker gets Overtaken and decides whether the pass is still worth asking
for. No draft ever delays a final.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from enum import IntEnum

from sayso.server.speech.recognition.recognizer import Transcript

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


class Overtaken(Exception):
    """The pass was given up for a more urgent one."""


class Ask:
    """One request for a pass. Its rank may rise while it waits or runs."""

    def __init__(self, rank: Rank, work: Work) -> None:
        self.rank = rank
        self.work = work
        self.overtaken = False
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

    def __init__(self, at_once: int = 1) -> None:
        self._at_once = at_once
        """Passes in flight: what the recognizer takes at the same time."""
        self._waiting: list[Ask] = []
        self._running: dict[Ask, asyncio.Task[Transcript]] = {}

    def ask(self, rank: Rank, work: Work) -> Ask:
        """Ask for a pass; await its `result`, or give it up with `forget`."""
        ask = Ask(rank, work)
        self._waiting.append(ask)
        self._next()
        return ask

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
        while self._waiting and len(self._running) < self._at_once:
            urgent = min(self._waiting, key=lambda ask: ask.rank)
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
                return
            staying.remove(least)
            least.overtaken = True
            self._running[least].cancel()

    def _begin(self, ask: Ask) -> None:
        task = asyncio.create_task(ask.work(), name=f"{ask.rank.name} pass", context=ask.context)
        self._running[ask] = task
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
