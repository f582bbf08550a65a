"""The browser of one conversation. Where no code runs there is none, and before a conversation has
one nothing of it is imported."""

import hashlib
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.protocol.health import Finding, split_remedy
from sayso.protocol.home import Home
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.tools.tool import Tool
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.network.traffic_record import Transfer
from sayso.server.store.decisions import NetworkUsed

OWNER: Final = "owner"
NAME_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class OpenBrowser:
    """One that can be used; it starts when it is."""

    tools: Iterable[Tool]
    close: Callable[[], Awaitable[None]]
    """Ends it. It may be used again."""


def browser_folder(home: Home, person: str) -> Path:
    """Where a person's browser keeps its profile; without a name it is the owner's."""
    name = hashlib.sha256(person.encode()).hexdigest()[:NAME_CHARS] if person else OWNER
    return home.data / "browser" / name


def open_browser(
    folder: Path | None,
    permissions: Permissions,
    journal: Journal,
    code_runner: Callable[[], CodeRunner],
) -> OpenBrowser | None:
    """A browser with the profile in this folder; None without one."""
    if folder is None:
        return None
    from sayso.server.capabilities.browser.browser import Browser, BrowserPlace
    from sayso.server.capabilities.browser.leases import Leases
    from sayso.server.capabilities.browser.tools import browser_tools

    async def note(run: str, passages: Iterable[Transfer]) -> None:
        for each in passages:
            used = NetworkUsed(run, each.host, each.port, each.verdict, each.sent, each.received)
            await journal.note("runtime", used)

    browser = Browser(
        BrowserPlace(
            folder,
            lambda: code_runner().sandbox,
            lambda: Path(code_runner().where),
            Leases(permissions),
            note,
            identity=lambda: code_runner().identity,
        )
    )
    return OpenBrowser(browser_tools(browser), browser.close)


def examine() -> Iterator[Finding]:
    """Looks whether Sayso has a browser of its own here."""
    from sayso.server.capabilities.browser.chromium import find_chromium, how_to_get_it

    if sys.platform != "linux":
        yield Finding("browser", "poor", "Sayso's own browser runs on Linux alone.")
    elif (chromium := find_chromium()) is None:
        yield Finding("browser", "poor", *split_remedy(how_to_get_it()))
    elif shutil.which("bwrap") is None:
        detail = f"{chromium.program} is there, and is not started without bubblewrap."
        yield Finding("browser", "poor", detail, "sudo apt install bubblewrap")
    else:
        yield Finding("browser", "good", f"{chromium.program}, started when it is wanted.")
