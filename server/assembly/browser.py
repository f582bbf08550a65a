"""The browser of one conversation. Where no code runs there is none, and before a conversation has
one nothing of it is imported."""

import hashlib
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.protocol.health import Finding, split_remedy
from sayso.protocol.home import Home
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.permissions.standing_grants import policy_of
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.tools.tool import Tool
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.network.traffic_record import Transfer
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.settings import Settings
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
    backend: Callable[[], Backend],
) -> OpenBrowser | None:
    """A browser with the profile in this folder; None without one. `backend`: which model
    answers."""
    if folder is None:
        return None
    from sayso.server.capabilities.browser.browser import Browser, BrowserPlace, Looks
    from sayso.server.capabilities.browser.leases import Leases
    from sayso.server.capabilities.browser.tools import browser_tools

    async def note(run: str, passages: Iterable[Transfer]) -> None:
        for each in passages:
            used = NetworkUsed(run, each.host, each.port, each.verdict, each.sent, each.received)
            await journal.note("runtime", used)

    def looks() -> Looks:
        model = backend().model
        return Looks(model.sees, model.name if backend().leaves_home else "")

    browser = Browser(
        BrowserPlace(
            folder,
            lambda: code_runner().sandbox,
            lambda: Path(code_runner().where),
            Leases(permissions),
            note,
            identity=lambda: code_runner().identity,
            looks=looks,
        )
    )
    return OpenBrowser(browser_tools(browser), browser.close)


async def sign_in_by_hand(home: Home, person: str, address: str) -> str:
    """Open a person's browser in a window on this display, until they close it; return what went
    wrong, in a sentence, or nothing. Raises SettingsError."""
    from sayso.server.capabilities.browser.chromium import find_chromium, how_to_get_it
    from sayso.server.capabilities.browser.display import DisplayError, find_display
    from sayso.server.capabilities.browser.errors import BrowserError
    from sayso.server.capabilities.browser.window import by_hand

    chromium = find_chromium()
    if chromium is None:
        return how_to_get_it()
    try:
        display = find_display(os.environ)
        report = await find_sandbox()
        if report.sandbox is None or report.kind != "bubblewrap":
            why = f"No browser is started without bubblewrap: {report.reason}. {report.remedy}"
            return why.strip()
        closed = policy_of(Settings.load(home)).denied_hosts
        folder = browser_folder(home, person)
        return await by_hand(
            chromium, report.sandbox, folder, display, address=address, closed=closed
        )
    except (BrowserError, DisplayError) as problem:
        return str(problem)


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
