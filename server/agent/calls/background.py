"""`sayso.background`: code says that nobody need wait for it."""

from collections.abc import Callable, Mapping

from sayso.server.agent.calls import arguments as read
from sayso.server.runtimes.calls.function import CallingRun, CallRefusedError


class Background:
    """Lets the run that calls it go on in the background."""

    name = "background"

    def __init__(self, leave: Callable[[], str]) -> None:
        """`leave` does it, and returns why it cannot be, in a sentence."""
        self._leave = leave

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        read.only(arguments, ())
        if why := self._leave():
            raise CallRefusedError(why)
        return None
