"""`sayso.tell`: code shows the person how far it is."""

from collections.abc import Awaitable, Callable, Mapping

from sayso.server.agent.calls import arguments as read
from sayso.server.runtimes.calls.function import CallingRun

ShowProgress = Callable[[str, str, float | None], Awaitable[bool]]
"""Takes a run, a line of its code's own words, and a number from 0 to 1 if the code knows it. It
bounds both, and how often anybody is told."""


class Tell:
    """Passes a line of progress to what shows it."""

    name = "tell"

    def __init__(self, show: ShowProgress) -> None:
        self._show = show

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        read.only(arguments, ("text", "fraction"))
        await self._show(run.id, read.text(arguments, "text"), read.number(arguments, "fraction"))
        return None
