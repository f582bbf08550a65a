"""Who may ask the recognizer next: at most one pass in flight, and what is final comes first.

A pass of higher rank that arrives while a lower one runs cancels it: its asker gets Overtaken
and decides whether the pass is still worth asking for. No draft ever delays a final.
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

    def __init__(self) -> None:
        self._waiting: list[Ask] = []
        self._current: Ask | None = None
        self._task: asyncio.Task[Transcript] | None = None

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
        if ask is self._current and self._task is not None:
            self._task.cancel()
        with contextlib.suppress(ValueError):
            self._waiting.remove(ask)

    def _next(self) -> None:
        self._waiting = [ask for ask in self._waiting if not ask.result.done()]
        if not self._waiting:
            return
        urgent = min(self._waiting, key=lambda ask: ask.rank)
        if self._current is None:
            self._waiting.remove(urgent)
            self._current = urgent
            self._task = asyncio.create_task(
                urgent.work(), name=f"{urgent.rank.name} pass", context=urgent.context
            )
            self._task.add_done_callback(lambda task: self._done(urgent, task))
        elif urgent.rank < self._current.rank and self._task is not None:
            self._current.overtaken = True
            self._task.cancel()

    def _done(self, ask: Ask, task: asyncio.Task[Transcript]) -> None:
        """Tell the asker. Also called for a task that was cancelled before it ever ran."""
        self._current = self._task = None
        if task.cancelled():
            if not ask.result.done() and not ask.overtaken:
                ask.result.cancel()
                return  # the whole house is closing: nobody is next
            if not ask.result.done():
                ask.result.set_exception(Overtaken())
        elif problem := task.exception():
            if not ask.result.done():
                ask.result.set_exception(problem)
        elif not ask.result.done():
            ask.result.set_result(task.result())
        self._next()
