"""A runtime that lasts: an interpreter that keeps its state, and is replaced when it dies."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from sayso.server.log_context import log_ids_by
from sayso.server.runtimes.calls.registry import CallableFunctions, CallRegistry
from sayso.server.runtimes.finish_despite_cancel import to_the_end
from sayso.server.runtimes.interpreter import CannotStartError, Interpreter, Run
from sayso.server.runtimes.left_processes import LeftProcesses
from sayso.server.runtimes.resources.watch import ResourceWatch
from sayso.server.runtimes.runtime import Ending, Output

INTERRUPT_S = 1.25
"""How long a run may take to stop when asked: half of the 2.5 s in which it has ended. What hears
the interrupt ends within 0.1 s; the end of an interpreter that does not takes 0.1 s more, and has
taken 0.86 s on a machine where ten processes waited for each processor."""

_CANCEL_AFTER_S = 0.1
"""How long an interrupt may take before calls that the code waits for are cancelled."""

_CROWD = 256
"""Processes that one run may leave behind: half of what the sandbox lets there be. With more,
nothing else could be started beside them."""

_CROWDED = (
    "It left so many processes behind that hardly another could be started, so they were ended with"
    " its interpreter; its variables are lost, and the next run gets a new one."
)

_LOST = "Before it, the interpreter had ended and was replaced: earlier variables are lost."
_ENDED = "before this run, so its interpreter was replaced: earlier variables are lost."

_NOT_STOPPED = (
    "It did not stop when asked, so its interpreter was ended; its variables are lost, and the next"
    " run gets a new one."
)

log = logging.getLogger(__name__)


class PersistentRuntime:
    """Runs code in one interpreter, and gets a new one when that dies."""

    def __init__(
        self,
        language: str,
        start: Callable[[], Awaitable[Interpreter]],
        watch: ResourceWatch,
        calls: CallRegistry | None = None,
    ) -> None:
        """Make a runtime; nothing starts yet.

        `start` returns a new interpreter that is ready, or raises CannotStartError. `watch` stops
        what takes too much. `calls` tells which functions of the server a run may call.
        """
        self._language = language
        self._start = start
        self._watch = watch
        self._calls = calls or CallRegistry()
        self._starting: asyncio.Task[Interpreter] | None = None
        self._started_at = 0
        """When the latest interpreter began to start, in nanoseconds as files are dated."""
        self._running = False
        self._closed = False
        self._lost = ""
        """What to tell of variables that were lost between two runs."""
        self._used = False
        self._replacing = False
        self.restarts = 0
        """How often an interpreter died and was replaced."""
        self._stop_asked = asyncio.Event()
        self._stopping: asyncio.Task[None] | None = None
        self._ended_to_stop = False
        """Whether what runs could only be stopped with its interpreter."""

    @property
    def language(self) -> str:
        return self._language

    @property
    def used(self) -> bool:
        """Whether anything was run, so that there may be variables to lose."""
        return self._used

    @property
    def ended_commands(self) -> Sequence[str]:
        """What the latest run had started, and was ended with it when it was stopped."""
        interpreter = self._interpreter()
        return interpreter.ended_commands if interpreter else ()

    @property
    def runs(self) -> bool:
        """Whether code runs in it now."""
        return self._running

    @property
    def trouble(self) -> str:
        """What is wrong with it now, in a sentence; empty if nothing is."""
        interpreter, starting = self._interpreter(), self._starting
        if interpreter and not interpreter.alive and not interpreter.leaves:
            return f"The {self._language} interpreter ended; the next run gets a new one."
        if starting and starting.done() and not starting.cancelled() and starting.exception():
            return str(starting.exception())
        if self._replacing and not interpreter:
            return f"The {self._language} interpreter ended and is being replaced."
        return ""

    def prepare(self) -> None:
        """Start an interpreter in the background, so that the first run need not wait for it."""
        if (last := self._interpreter()) and not last.alive:
            if last.died_unnoticed:
                self._lost = f"{last.ended_for} {_ENDED}" if last.ended_for else _LOST
            self._replacing = not last.leaves
            self.restarts += not last.leaves
            self._starting = None
        elif self._starting and self._starting.done() and not last:
            self._starting = None
        if not self._starting and not self._closed:
            self._started_at = time.time_ns()
            with log_ids_by(self._watch.ids):  # it outlives the run that it is started for
                self._starting = asyncio.create_task(self._start_after(last))
                self._starting.add_done_callback(_look_at)

    async def renew(self, changed_at: int) -> None:
        """If nothing was run in it, and it began to start before this moment in nanoseconds, let
        the first run get a new interpreter: what was made since is not held in its sandbox."""
        starting = self._starting
        if self._used or starting is None or self._started_at > changed_at:
            return
        self._starting = None
        starting.cancel()
        await asyncio.wait([starting])
        if not starting.cancelled() and not starting.exception():
            await starting.result().close()

    async def run(self, code: str) -> AsyncGenerator[Output | Ending]:
        """Run code. Leaving the iteration early interrupts it."""
        if self._running or self._closed:
            why = "is closed" if self._closed else "still runs something; wait or stop it first"
            yield Ending("error", 0.0, f"The {self._language} interpreter {why}.")
            return
        self._running, self._used, self._ended_to_stop = True, True, False
        functions = self._calls.now
        self._stop_asked.clear()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        self._watch.began(self._stop)
        try:
            run = await self._begin(code, functions)
            if run:
                async with aclosing(run.pieces()) as pieces:
                    async for piece in pieces:
                        yield piece
                ending = run.ending(loop.time() - begun)
                if (interpreter := self._interpreter()) and interpreter.calls:
                    interpreter.calls.shut()
            else:
                ending = Ending(
                    "interrupted", loop.time() - begun, "It was stopped before it began."
                )
        except CannotStartError as error:
            ending = Ending("error", loop.time() - begun, str(error))
        finally:
            self._watch.ended(self._stop)
            await self._settle()
        if self._ended_to_stop and ending.status != "died":  # the code itself had ended
            ending, self._lost = Ending("died", ending.seconds, _NOT_STOPPED), ""
        if self._lost:
            ending = replace(ending, detail=f"{ending.detail} {self._lost}".strip())
            self._lost = ""
        left = await self._left_behind()
        if left and len(left.known) >= _CROWD:
            await self._begin_anew()
            ending = replace(ending, detail=f"{ending.detail} {_CROWDED}".strip())
        else:
            ending = replace(ending, left=left)
        yield ending  # when all is settled: a caller that has read it may run the next at once

    async def interrupt(self) -> None:
        """Stop what runs. It ends within 2.5 s, if need be by the interpreter's death."""
        self._stop_asked.set()
        await self._stop()

    async def close(self) -> None:
        """End the interpreter and everything that it started."""
        self._closed = True
        self._stop_asked.set()
        starting, self._starting = self._starting, None
        if starting is None:
            return
        if not starting.done():
            starting.cancel()
        await asyncio.wait([starting])
        if not starting.cancelled() and not starting.exception():
            await starting.result().close()

    async def _begin(self, code: str, functions: CallableFunctions) -> Run | None:
        """Begin a run in the living interpreter or a new one; None if asked to stop before."""
        self.prepare()
        starting = self._starting
        if starting is None:
            raise CannotStartError("The interpreter is closed.")
        stopping = asyncio.create_task(self._stop_asked.wait())
        try:
            await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        if not starting.done() or starting.cancelled():
            return None
        run = await starting.result().execute(code, functions)
        if self._stop_asked.is_set():
            await self._stop()
        return run

    async def _settle(self) -> None:
        """Stop what was left early; if the interpreter died, let the next one start already."""
        try:
            await self._stop()
            interpreter = self._interpreter()
            if interpreter and interpreter.calls:
                await interpreter.calls.over()
            if interpreter and interpreter.leaves:
                await interpreter.close()
        finally:
            self._running = False
            if not self._closed and self._starting and self._starting.done():
                self.prepare()

    async def _left_behind(self) -> LeftProcesses | None:
        interpreter = self._interpreter()
        return await asyncio.to_thread(interpreter.left_behind) if interpreter else None

    async def _begin_anew(self) -> None:
        """End the interpreter with all that it started, and start another."""
        if interpreter := self._interpreter():
            await interpreter.close(_CROWDED)
        self.prepare()
        self._lost = ""  # which the run that is just over tells

    async def _start_after(self, last: Interpreter | None) -> Interpreter:
        if last:
            await last.close()
        return await self._start()

    def _interpreter(self) -> Interpreter | None:
        """The interpreter that was started, dead or alive; None if none was, or is not yet."""
        started = self._starting
        if not started or not started.done() or started.cancelled() or started.exception():
            return None
        return started.result()

    async def _stop(self, why: str = "It was stopped; its variables are kept.") -> None:
        """Stop what runs; a caller that asks meanwhile waits for its end."""
        if self._stopping is None or self._stopping.done():
            self._stopping = asyncio.create_task(self._stop_now(why))
        await to_the_end(self._stopping)

    async def _stop_now(self, why: str) -> None:
        interpreter = self._interpreter()
        if interpreter is None:
            return
        stopping = asyncio.create_task(interpreter.interrupt(INTERRUPT_S, why))
        if interpreter.calls:
            # An exception of the code's own would be heard before the interrupt; a program that
            # waits for its answer hears nothing else.
            await asyncio.wait([stopping], timeout=_CANCEL_AFTER_S)
            interpreter.calls.shut(why)
        if not await stopping:
            self._ended_to_stop = True
            await interpreter.close(_NOT_STOPPED)


def _look_at(started: asyncio.Task[Interpreter]) -> None:
    """What is started ahead may fail; the run that needs it tries again and tells."""
    if not started.cancelled() and (error := started.exception()):
        log.warning("an interpreter could not be started ahead: %s", error)
