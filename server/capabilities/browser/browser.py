"""The browser of one conversation: starts when it is wanted, has tabs, and ends by itself.

One profile is one browser's at a time: where another conversation of the same person wants it and
this one is idle, it gets it.
"""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final
from weakref import WeakSet

from sayso.server.capabilities.browser.cdp import Cdp, Fields
from sayso.server.capabilities.browser.chromium import (
    find_chromium,
    how_to_get_it,
)
from sayso.server.capabilities.browser.errors import BrowserError, BrowserGoneError, RefusedError
from sayso.server.capabilities.browser.launch import RunningChromium
from sayso.server.capabilities.browser.leases import Leases
from sayso.server.capabilities.browser.page import Page
from sayso.server.capabilities.browser.profile import take
from sayso.server.capabilities.browser.transfers import FILE_MOST_BYTES, FILES
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.network.addresses import Whereabouts
from sayso.server.runtimes.network.proxy import Proxy
from sayso.server.runtimes.network.traffic_record import Transfer
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.sandbox.sandbox import Sandbox

TABS_MOST: Final = 8
IDLE_S: Final = 900.0
"""A browser that nobody uses for a quarter of an hour ends; its cookies stay in the profile."""
TAB_S: Final = 10.0
DOWNLOADS_MOST: Final = 5
"""That are under way or not told of yet: a page needs nobody to begin one."""


@dataclass(frozen=True, slots=True)
class Looks:
    """The language model that answers now, as far as pictures go."""

    sees: bool = True
    beyond_home: str = ""
    """Its name, if what it is sent leaves the house."""


@dataclass(frozen=True, slots=True)
class BrowserPlace:
    """What a conversation's browser is made of."""

    folder: Path
    """The person's, with the profile."""
    sandbox: Callable[[], Sandbox | None]
    workspace: Callable[[], Path]
    leases: Leases
    note: Callable[[str, Iterable[Transfer]], Awaitable[None]]
    """Writes down what went over the network in a run."""
    whereabouts: Whereabouts | None = None
    identity: Callable[[], Identity | None] = lambda: None
    """Which folder the workspace must be."""
    looks: Callable[[], Looks] = Looks
    """Who looks at pictures of pages."""


@dataclass(slots=True)
class Download:
    """A file that a page gave."""

    guid: str
    name: str
    state: str = "begun"
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Browser:
    """Of one conversation; nothing starts before it is wanted."""

    _all: ClassVar[WeakSet["Browser"]] = WeakSet()

    def __init__(self, place: BrowserPlace) -> None:
        self.place = place
        self._running: RunningChromium | None = None
        self.proxy: Proxy | None = None
        self._lock = -1
        self.pages: dict[str, Page] = {}
        """By their targets, the latest last."""
        self.current = ""
        self._numbers = 0
        self.downloads: dict[str, Download] = {}
        self._attached_one = asyncio.Event()
        self._idle: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self.busy = asyncio.Lock()
        """Held while something is done; one thing is done at a time."""
        self._all.add(self)

    # --- life ---

    @property
    def hindrance(self) -> str:
        """Why there is no browser here, in a sentence that says what to do; empty if there is."""
        return "" if find_chromium() else how_to_get_it()

    @property
    def pid(self) -> int:
        """Of the process below which it runs; 0 where it does not."""
        return self._running.pid if self._running else 0

    async def up(self) -> Cdp:
        """The connection to a browser that runs. Raises BrowserError."""
        if self._running and self._running.alive:
            return self._running.cdp
        why = self._running.ended_for if self._running else ""
        await self._end()
        if why:
            raise BrowserGoneError(f"{why}, so the browser was ended; open the page again.")
        chromium, sandbox = find_chromium(), self.place.sandbox()
        if chromium is None:
            raise BrowserError(how_to_get_it())
        if sandbox is None:
            raise BrowserError("There is no sandbox here, without which no browser is started.")
        await self._take_profile()
        self.proxy = Proxy(Grants(network=True), self.place.whereabouts)
        self.proxy.permission = self.place.leases
        try:
            self._running = await RunningChromium.start(
                chromium, sandbox, self.place.folder, self.proxy, self._happened
            )
            cdp = self._running.cdp
            await cdp.ask(
                "Browser.setDownloadBehavior",
                behavior="allowAndName",
                downloadPath=str(self.place.folder / FILES),
                eventsEnabled=True,
            )
            await cdp.ask("Target.setDiscoverTargets", discover=True)
            await cdp.ask(
                "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True
            )
        except BaseException:
            await self._end()
            raise
        return cdp

    async def _take_profile(self) -> None:
        """Have the profile for ourselves. Raises RefusedError."""
        folder = self.place.folder
        for other in list(self._all):
            if other is not self and other.uses(folder):
                if other.busy.locked():
                    raise RefusedError(
                        "Another conversation of this person is working in the browser; try again"
                        " when it is done."
                    )
                await other.close()
        self._lock = await asyncio.to_thread(take, folder)

    def uses(self, folder: Path) -> bool:
        """Whether it has the profile in this folder now."""
        return self._lock >= 0 and self.place.folder == folder

    async def close(self) -> None:
        """End it; what was open to it alone is closed."""
        self.place.leases.close()
        await self._end()

    async def _end(self) -> None:
        if self._idle:
            self._idle.cancel()
        for task in self._tasks:
            task.cancel()
        running, self._running = self._running, None
        proxy, self.proxy = self.proxy, None
        self.pages.clear()
        for download in self.downloads.values():
            download.ended.set()
        self.downloads.clear()
        self.current = ""
        if running:
            await running.close()
        if proxy:
            await proxy.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def used(self) -> None:
        """Something was done: it has its time again."""
        self._wait_for_idle()

    def _wait_for_idle(self) -> None:
        if self._idle:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._idled)

    def _idled(self) -> None:
        if self.busy.locked():
            self._wait_for_idle()
        else:
            self._begin(self._end())

    def _begin(self, work: Any) -> asyncio.Task[Any]:  # noqa: ANN401 - a coroutine
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # --- events ---

    def _happened(self, session: str, name: str, told: Fields) -> None:
        match name:
            case "Target.attachedToTarget":
                self._attached(session, told)
            case "Target.targetDestroyed":
                self.pages.pop(str(told.get("targetId", "")), None)
            case "Target.targetInfoChanged":
                info = told.get("targetInfo", {})
                if page := self.pages.get(str(info.get("targetId", ""))):
                    page.url, page.title = str(info.get("url", "")), str(info.get("title", ""))
            case "Browser.downloadWillBegin":
                self._download_begun(str(told.get("guid", "")), told)
            case "Browser.downloadProgress":
                self._progressed(told)
        for page in list(self.pages.values()):
            if page.owns(session):
                page.happened(session, name, told)

    def _attached(self, session: str, told: Fields) -> None:
        info, new = told.get("targetInfo", {}), str(told.get("sessionId", ""))
        target = str(info.get("targetId", ""))
        if info.get("type") == "page" and target not in self.pages:
            self._add(target, new, str(info.get("openerId", "")))
        elif info.get("type") == "iframe":
            for page in self.pages.values():
                if page.owns(session):
                    page.owns_also(new)
                    coming = self._begin(_unless_gone(page.prepare(new)))
                    page.coming.add(coming)
                    coming.add_done_callback(page.coming.discard)

    def _add(self, target: str, session: str, opener: str) -> None:
        if len(self.pages) >= TABS_MOST or self._running is None:
            if self._running:
                self._begin(
                    _unless_gone(self._running.cdp.ask("Target.closeTarget", targetId=target))
                )
            return
        self._numbers += 1
        page = Page(self._running.cdp, target, session, f"t{self._numbers}")
        self.pages[target] = page
        if opener in self.pages:
            self.pages[opener].opened += 1
            self.current = target
        self._attached_one.set()
        page.prepared = asyncio.ensure_future(_unless_gone(page.prepare()))

    def _download_begun(self, guid: str, told: Fields) -> None:
        if len(self.downloads) < DOWNLOADS_MOST:
            self.downloads[guid] = Download(guid, str(told.get("suggestedFilename", "")))
        else:
            self.cancel_download(guid)

    def cancel_download(self, guid: str) -> None:
        """It is not wanted any more."""
        if self._running:
            cancel = self._running.cdp.ask("Browser.cancelDownload", guid=guid)
            self._begin(_unless_gone(cancel))

    def _progressed(self, told: Fields) -> None:
        guid = str(told.get("guid", ""))
        download = self.downloads.get(guid)
        if download is None:
            return
        download.state = str(told.get("state", ""))
        size = max(float(told.get("totalBytes", 0)), float(told.get("receivedBytes", 0)))
        if size > FILE_MOST_BYTES and download.state == "inProgress":
            self.cancel_download(guid)
        if download.state in ("completed", "canceled"):
            download.ended.set()

    # --- pages ---

    async def page(self) -> Page:
        """The tab that is worked in. Raises BrowserError."""
        if self._running is None or not self._running.alive:
            if self._running:
                await self.up()  # tells why it ended
            raise RefusedError("No page is open: use open with an address.")
        page = self.pages.get(self.current) or next(reversed(self.pages.values()), None)
        if page is None:
            raise RefusedError("No page is open: use open with an address.")
        if page.crashed:
            raise BrowserGoneError("The page has crashed; open it again.")
        await page.prepared
        return page

    async def tab(self, cdp: Cdp) -> Page:
        """One to open a page in."""
        with contextlib.suppress(RefusedError, BrowserGoneError):
            page = await self.page()
            if page.dialog is None:
                return page
            # One that asks goes nowhere, and perhaps asks without an end.
            self._begin(_unless_gone(cdp.ask("Target.closeTarget", targetId=page.target)))
            self.pages.pop(page.target, None)
        made = await cdp.ask("Target.createTarget", url="about:blank")
        target = str(made.get("targetId", ""))
        async with asyncio.timeout(TAB_S):
            while target not in self.pages:
                self._attached_one.clear()
                await self._attached_one.wait()
        self.current = target
        return await self.page()

    def tabs(self) -> str:
        """Which there are."""
        listed = [
            f"{page.name}{' (this one)' if target == self.current else ''}: {page.title[:80]}"
            f" ({page.url[:120]})"
            for target, page in self.pages.items()
        ]
        return "\n".join(listed or ["No tab is open."]) + "\n"


async def _unless_gone(work: Awaitable[Any]) -> None:
    """What a page that closes meanwhile need not answer."""
    with contextlib.suppress(BrowserError):
        await work
