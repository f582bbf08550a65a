"""The seam for a place where code runs: code in, outputs and one ending out."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol

from sayso.server.runtimes.left_processes import LeftProcesses


@dataclass(frozen=True, slots=True)
class Output:
    """A piece of output, as it comes."""

    kind: Literal["stdout", "stderr", "result", "display", "error"]
    text: str = ""
    """What a person or a model can read, without terminal escapes; for an image or a table, what
    stands for it in words."""
    mime: str = "text/plain"
    """The form of `data`, if there is any: `image/png`, `text/html`, `application/json`…"""
    data: bytes = b""
    """The rich form, for screens that can show it; text as UTF-8."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended; always the last thing that it yields."""

    status: Literal["ok", "error", "interrupted", "died"]
    """`died`: the interpreter is gone and its variables with it; the next run gets a new one."""
    seconds: float
    detail: str = ""
    """One sentence for the person and the model, where there is something to say."""
    left: LeftProcesses | None = None
    """What it has left running."""


class Runtime(Protocol):
    """An interpreter that keeps its state from run to run. One run at a time."""

    @property
    def language(self) -> str: ...

    @property
    def used(self) -> bool:
        """Whether anything was run, so that there may be variables to lose."""
        ...

    def run(self, code: str) -> AsyncGenerator[Output | Ending]:
        """Run code. Leaving the iteration early interrupts it."""
        ...

    def prepare(self) -> None:
        """Let the interpreter start in the background, so that the first run need not wait."""
        ...

    async def interrupt(self) -> None:
        """Stop what runs. It ends within 2.5 s, if need be by the interpreter's death."""
        ...

    async def close(self) -> None:
        """End the interpreter and everything that it started."""
        ...
