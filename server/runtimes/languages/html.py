"""HTML: shown on the person's screens, not run."""

from collections.abc import AsyncGenerator

from sayso.server.runtimes.kernels.outputs import RICH_MOST_BYTES
from sayso.server.runtimes.language import Place
from sayso.server.runtimes.runtime import Ending, Output


class Html:
    """Shows code on the screens, as a page, and runs nothing."""

    name = "html"
    aliases = ("htm",)

    def runtime(self, place: Place) -> "Shown":
        return Shown()


class Shown:
    """Hands code on as it is."""

    language = "html"
    used = False
    """There are no variables to lose."""

    def prepare(self) -> None:
        """There is nothing to start."""

    async def run(self, code: str) -> AsyncGenerator[Output | Ending]:
        page = code.encode(errors="replace")
        if len(page) > RICH_MOST_BYTES:
            yield Ending("error", 0.0, "The page is too large to show; show less of it.")
            return
        lines = code.count("\n") + 1
        words = "1 line" if lines == 1 else f"{lines} lines"
        yield Output("display", f"[HTML of {words}, shown]", "text/html", page)
        yield Ending("ok", 0.0)

    async def interrupt(self) -> None:
        """It is over at once."""

    async def close(self) -> None:
        """Nothing was started."""
