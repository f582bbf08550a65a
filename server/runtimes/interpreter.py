"""The seam between a runtime and the interpreter in its sandbox: code in, one run at a time."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from sayso.server.runtimes.calls.channel import CallChannel
from sayso.server.runtimes.calls.registry import NOTHING, CallableFunctions
from sayso.server.runtimes.left_processes import LeftProcesses
from sayso.server.runtimes.runtime import Ending, Output

CUT_S = 1.0
"""An interpreter that ends hangs up first; one that has hung up and lives on was cut off by its own
code, is heard no more, and is ended."""

CUT = (
    "The code cut the line on which its interpreter speaks, so that was ended; its variables are"
    " lost, and the next run gets a new one."
)

SWEEP_S = 0.2
"""How long at least the end of what a stopped run has started may take: it takes 20 ms."""


class CannotStartError(Exception):
    """An interpreter did not come up; the message is a sentence."""


class Run(Protocol):
    """What one run says."""

    @property
    def ended(self) -> asyncio.Event: ...

    def pieces(self) -> AsyncGenerator[Output]:
        """Yield what comes until the run has ended."""
        ...

    def ending(self, seconds: float) -> Ending:
        """How it ended, once it has."""
        ...


class Interpreter(Protocol):
    """A living interpreter in a sandbox."""

    @property
    def calls(self) -> CallChannel | None:
        """Where its code calls functions of the server; None: it cannot."""
        ...

    @property
    def alive(self) -> bool: ...

    @property
    def ended_for(self) -> str:
        """Why it was ended by the watch, if it was: what begins a sentence."""
        ...

    @property
    def leaves(self) -> bool:
        """Whether the code of the last run told it to end."""
        ...

    @property
    def died_unnoticed(self) -> bool:
        """Whether it took variables with it and no run has told of that."""
        ...

    def left_behind(self) -> LeftProcesses | None:
        """What the last run has left running. Blocking: a thread's."""
        ...

    @property
    def ended_commands(self) -> Sequence[str]:
        """What the run that was interrupted last had started, and was ended with it."""
        ...

    async def execute(self, code: str, functions: CallableFunctions = NOTHING) -> Run:
        """Begin a run, which may call these. The one before must have ended."""
        ...

    async def interrupt(self, within: float, why: str) -> bool:
        """Ask the run to stop; return whether it did, with all that it started, within so many
        seconds.

        `why` is a sentence for the report of how it ended.
        """
        ...

    async def close(self, why: str = "The interpreter was ended.") -> None:
        """End the process with everything in its sandbox; a run in it has then died of `why`."""
        ...
