"""Functions for code to call in tests, and what became of their calls."""

import asyncio
from collections.abc import Mapping

from sayso.server.runtimes.calls.function import CallFunction, CallingRun, CallRefusedError
from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.sandboxes import Told, told


async def called_in(
    language: str, code_runner: CodeRunner, code: str, *functions: CallFunction, run: str = "run"
) -> Told:
    """What comes of code that may call these functions."""
    with code_runner.offering(run, functions):
        return await told(code_runner, code, language)


class Echo:
    """Returns what it was given, and remembers who called."""

    name = "echo"

    def __init__(self) -> None:
        self.calls: list[tuple[str, Mapping[str, object]]] = []

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        self.calls.append((run.id, arguments))
        return arguments.get("value")


class Refuse:
    name = "refuse"

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        raise CallRefusedError("The person said no.")


class Picture:
    """Returns as many bytes as are wanted."""

    name = "picture"

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        return bytes(int(str(arguments["size"])))


class Wait:
    """Waits for ever, and tells when it is waited for and when nobody does any more."""

    name = "wait"

    def __init__(self, enough_at: int = 0) -> None:
        """`enough_at`: as many at once return."""
        self._enough_at = enough_at
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.at_once = 0
        self.most_at_once = 0
        self.enough = asyncio.Event()
        """Set: each returns."""

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        self.at_once += 1
        if self.at_once == self._enough_at:
            self.enough.set()
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.set()
        try:
            await self.enough.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        finally:
            self.at_once -= 1
        return arguments.get("value")
