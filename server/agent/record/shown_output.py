"""What of a run's output devices are told as it comes: the beginning, and the end when it is over.

What is between lies whole on the disk (run_outputs.py), and `code.end` says where it can be had.
"""

from typing import Final

from sayso.server.agent.event_stream import Emit
from sayso.server.agent.events import CodeOut
from sayso.server.runtimes.output_stream import HeadAndTail
from sayso.server.runtimes.runtime import Output

SHOWN_CHARS: Final = 1024 * 1024
"""Sent as it comes, to each device: hours of reading, and some seconds of a slow line."""


class ShownOutput:
    """Of one run."""

    def __init__(self, run: str, emit: Emit) -> None:
        self._run = run
        self._emit = emit
        self._bound = HeadAndTail(SHOWN_CHARS)

    async def take(self, output: Output) -> None:
        """Tell the next piece, or keep it for the end."""
        if passed := self._bound.take(output):
            await self._emit(CodeOut(self._run, passed))

    async def finish(self) -> None:
        """Tell the end."""
        for output in self._bound.rest(", and kept whole"):
            await self._emit(CodeOut(self._run, output))
