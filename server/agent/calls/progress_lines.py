"""Shows how far a run is, in lines among its output that the model is not told of."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from sayso.protocol.visible import revealed
from sayso.server.agent.event_stream import Emit
from sayso.server.agent.events import RunOutput
from sayso.server.runtimes.runtime import Output

EVERY_S: Final = 1.0
"""Between two lines: faster than anybody reads."""

LINE_CHARS: Final = 200
"""A line of a screen that is wide."""


class ProgressLines:
    """Of one run."""

    def __init__(self, emit: Emit, quiet: Callable[[], Awaitable[None]]) -> None:
        """`quiet` returns when nothing is asked that a line would stand in the way of."""
        self._emit = emit
        self._quiet = quiet
        self._next_at = 0.0

    async def show(self, run: str, text: str, fraction: float | None) -> None:
        """Show a line, as the words of the code; what comes too soon is left out."""
        now = asyncio.get_running_loop().time()
        if now < self._next_at:
            return
        self._next_at = now + EVERY_S
        line = revealed(" ".join(text[: 4 * LINE_CHARS].split()))[:LINE_CHARS]
        share = "" if fraction is None else f" ({min(1.0, max(0.0, fraction)):.0%})"
        await self._quiet()
        await self._emit(RunOutput(run, Output("display", f"The code says: {line}{share}\n")))
