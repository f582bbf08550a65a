"""Does what can be done with the browser, each under its name (operation_list.py)."""

import asyncio
import base64
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from sayso.server.agent.tools.person import NoAnswerError
from sayso.server.agent.tools.tool import ToolContext
from sayso.server.capabilities.browser.acting import Acted, Acting
from sayso.server.capabilities.browser.browser import Browser, Download
from sayso.server.capabilities.browser.chromium import CALLS_HOME, WIDTH
from sayso.server.capabilities.browser.consequences import dialog_consequence
from sayso.server.capabilities.browser.errors import RefusedError
from sayso.server.capabilities.browser.leases import asked_as, bare, is_near, pictures_to
from sayso.server.capabilities.browser.page import LOAD_S, Page
from sayso.server.capabilities.browser.transfers import (
    harmless,
    into_workspace,
    out_of_workspace,
)

T = TypeVar("T")

WAIT_MOST_S: Final = 30.0
DOWNLOAD_S: Final = 120.0
LOOK_AGAIN_S: Final = 0.1
REFUSED_TOLD: Final = 5

_QUIET: Final = CALLS_HOME | {"accounts.google.com"}
"""Refused without a word: Chromium calls there at each start."""

_NOBODY: Final = "Nobody allowed it: {what}. {why}"


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it."""

    text: str
    picture: bytes = b""


class Operations:
    """On one conversation's browser, for one call of a tool."""

    def __init__(self, browser: Browser, context: ToolContext) -> None:
        self._browser = browser
        self._place = browser.place
        self._context = context

    async def perform(self, name: str, given: Mapping[str, Any]) -> Done:
        """Do it, alone, and write down what went over the network. Raises BrowserError."""
        browser = self._browser
        async with browser.busy:
            if name == "close":
                await browser.close()
                return Done("confirmed: the browser is closed.\n")
            try:
                done = await self._perform(name, given)
            finally:
                refused = await self._noted()
                browser.used()
            told = [done.text]
            if refused:
                told.append(f"(not reached, because they are not open: {', '.join(refused)})\n")
            told += await self._downloaded()
            return Done("".join(told), done.picture)

    async def _perform(self, name: str, given: Mapping[str, Any]) -> Done:
        if name == "open":
            return Done(await self._open(str(given["url"])))
        if name == "tabs":
            return Done(self._tabs(str(given.get("target", ""))))
        page = await self._browser.page()
        if name == "dialog":
            return Done(await self._dialog(page, str(given["target"]), str(given.get("text", ""))))
        if page.dialog is not None:
            raise RefusedError(_asked(page))
        if name in ("read", "find", "wait", "screenshot"):
            words = str(given.get("part") or given.get("text", ""))
            return await self._unless_it_asks(page, self._look(page, name, words))
        await self._may_send(page.url)
        if name == "back":
            return Done(await self._back(page))
        target, text = str(given.get("target", "")), str(given.get("text", ""))
        return Done((await self._act(Acting(page, self._allow), name, target, text)).text)

    async def _look(self, page: Page, name: str, words: str) -> Done:
        match name:
            case "read":
                return Done((await page.view(part=words)).text)
            case "find":
                return Done((await page.find(words)).text)
            case "wait":
                return Done(await self._wait(page, words))
            case _:
                return await self._screenshot(page)

    async def _screenshot(self, page: Page) -> Done:
        looks, leases = self._place.looks(), self._place.leases
        if looks.beyond_home and looks.sees and not leases.shows(looks.beyond_home):
            await self._allow(
                pictures_to(looks.beyond_home),
                (f"send pictures of pages to {looks.beyond_home}, beyond your home, for an hour",),
                "A picture shows more of a page than the text that is read.",
            )
            leases.grant_pictures(looks.beyond_home)
        text = f"A picture of {page.url[:120]}, {WIDTH} pixels wide.\n"
        if not looks.sees:
            text += "You cannot look at it, the person can: read tells you the page as text.\n"
        return Done(text, await _picture(page))

    async def _act(self, acting: Acting, name: str, target: str, text: str) -> Acted:
        match name:
            case "click":
                return await acting.click(target)
            case "fill":
                return await acting.fill(target, text)
            case "select":
                return await acting.select(target, [text])
            case "press":
                return await acting.press(text)
            case "scroll":
                return await acting.scroll(target)
            case _:
                return await self._upload(acting, target, text)

    # --- opening ---

    async def _open(self, address: str) -> str:
        url = address if "://" in address else f"https://{address}"
        try:
            parts = urlsplit(url)
            host = (parts.hostname or "").rstrip(".")
            parts.port  # noqa: B018 - raises for what is none
        except ValueError:
            raise RefusedError(f"{address[:80]} is no address of a page.") from None
        if parts.scheme not in ("http", "https") or not host or parts.username is not None:
            raise RefusedError("Only pages at http:// and https:// are opened.")
        if is_near(host):
            raise RefusedError(
                f"{host} is this machine, or in a private network, which no page is opened of."
            )
        await self._opened(host)
        await self._may_send(url)
        cdp = await self._browser.up()
        page = await self._browser.tab(cdp)
        page.navigating()
        told = await cdp.ask("Page.navigate", page.session, url=url, seconds=LOAD_S * 2)
        if why := str(told.get("errorText", "")):
            page.settled()
            if "isDownload" in told or (why == "net::ERR_ABORTED" and self._browser.downloads):
                return "confirmed: no page came, but a file.\n"
            raise RefusedError(self._why_not(host, why))
        try:
            there = await self._unless_it_asks(page, page.loaded())
            text = (await self._unless_it_asks(page, page.view())).text
        except RefusedError:
            return f"confirmed: it is open. {_asked(page)}\n"
        return text if there else f"(it is still loading)\n{text}"

    async def _opened(self, host: str) -> None:
        """See to it that a host is open to the browser. Raises RefusedError."""
        leases = self._place.leases
        if leases.check(host):
            return
        name = bare(host)
        await self._allow(
            asked_as(name),
            (
                f"open pages of {name} and what lies below it, and act there, for 15 minutes",
                "with what you are signed in to in Sayso's own browser",
            ),
            leases.why or "The model wants to use the browser.",
        )
        leases.grant(name)

    async def _may_send(self, url: str) -> None:
        """Ask ahead whether anything may be sent to the page's host, rather than while it loads."""
        host = urlsplit(url).hostname
        leases = self._place.leases
        if host and leases.reach.lets_pass(host) and (why := await leases.hindrance(host)):
            raise RefusedError(f"Nothing is sent there: {why}.")

    def _why_not(self, host: str, why: str) -> str:
        if not self._place.leases.reach.lets_pass(host):
            return f"{host} is not open to the browser any more: open it again."
        return f"{host} could not be reached ({why.removeprefix('net::')})."

    # --- the rest ---

    def _tabs(self, wanted: str) -> str:
        if wanted:
            for target, page in self._browser.pages.items():
                if page.name == wanted:
                    self._browser.current = target
                    about = f"{page.title[:80]} ({page.url[:120]})"
                    return f"confirmed: {wanted} is worked in now: {about}\n"
            raise RefusedError(f"There is no tab {wanted[:20]}.")
        return self._browser.tabs()

    async def _back(self, page: Page) -> str:
        history = await page.cdp.ask("Page.getNavigationHistory", page.session)
        at = int(history.get("currentIndex", 0))
        if at < 1:
            raise RefusedError("There is no page before this one.")
        entry = history["entries"][at - 1]
        if not str(entry.get("url", "")).startswith(("http://", "https://")):
            raise RefusedError("There is no page before this one.")
        page.navigating()
        await page.cdp.ask("Page.navigateToHistoryEntry", page.session, entryId=entry["id"])
        await page.loaded()
        return (await page.view()).text

    async def _wait(self, page: Page, text: str) -> str:
        deadline = asyncio.get_running_loop().time() + WAIT_MOST_S
        while asyncio.get_running_loop().time() < deadline:
            view = await page.find(text)
            if not view.lines[0].startswith("(nowhere"):
                return f"confirmed: it is there.\n{view.text}"
            await asyncio.sleep(LOOK_AGAIN_S)
        return f"unconfirmed: “{text[:80]}” did not come within {WAIT_MOST_S:.0f} seconds.\n"

    async def _dialog(self, page: Page, answer: str, text: str) -> str:
        dialog = page.dialog
        if dialog is None:
            raise RefusedError("The page asks nothing now.")
        message = str(dialog.get("message", ""))[:300]
        if answer == "accept":
            await self._may_send(page.url)
            if why := dialog_consequence(str(dialog.get("type", "")), message):
                await self._allow(f"say yes to “{message}”", (f"on {page.url[:120]}",), why)
        more: dict[str, Any] = {"promptText": text} if text and answer == "accept" else {}
        await page.cdp.ask(
            "Page.handleJavaScriptDialog", page.session, accept=answer == "accept", **more
        )
        page.dialog_answered()
        await asyncio.sleep(LOOK_AGAIN_S)  # what the page does then, it does at once
        done = f"confirmed: “{message}” was answered ({answer})."
        try:
            await self._unless_it_asks(page, page.loaded())
            view = await self._unless_it_asks(page, page.view())
        except RefusedError:
            return f"{done}\n{_asked(page)}\n"
        return f"{done}\n{view.text}"

    async def _unless_it_asks(self, page: Page, work: Coroutine[Any, Any, T]) -> T:
        """What comes of it, unless the page asks something before: then nothing else goes on there.
        Raises RefusedError."""
        doing = asyncio.ensure_future(work)
        asked = asyncio.ensure_future(page.dialog_opened.wait())
        try:
            await asyncio.wait({doing, asked}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done() or page.dialog is not None:
                raise RefusedError(_asked(page))
            return await doing
        finally:
            for task in (doing, asked):
                task.cancel()
            await asyncio.gather(doing, asked, return_exceptions=True)

    async def _upload(self, acting: Acting, target: str, path: str) -> Acted:
        place = self._place
        copied = await asyncio.to_thread(
            out_of_workspace, place.workspace(), path, place.folder, place.identity()
        )
        return await acting.upload(target, str(copied), path[:120])

    async def _downloaded(self) -> list[str]:
        """Put into the workspace what pages gave since the last time; what to tell of it."""
        downloads = self._browser.downloads
        with suppress(TimeoutError):
            async with asyncio.timeout(DOWNLOAD_S):
                for each in list(downloads.values()):
                    await each.ended.wait()
        return [await self._kept(downloads.pop(guid)) for guid in list(downloads)]

    async def _kept(self, download: Download) -> str:
        """Put a download into the workspace; what to tell of it."""
        named = harmless(download.name)[:80]
        if not download.ended.is_set():
            self._browser.cancel_download(download.guid)
            return f"unconfirmed: {named} was not downloaded in time.\n"
        if download.state != "completed":
            return f"refused: {named} was not downloaded whole.\n"
        place = self._place
        try:
            taken = await asyncio.to_thread(
                into_workspace,
                place.folder,
                download.guid.rpartition("/")[2],
                place.workspace(),
                download.name,
                place.identity(),
            )
        except RefusedError as problem:
            return f"refused: {problem}\n"
        return f"confirmed: downloaded to {taken} in the workspace.\n"

    # --- the person, and the log ---

    async def _allow(self, what: str, lines: tuple[str, ...], why: str) -> None:
        """Ask for one thing. Raises RefusedError."""
        if self._place.leases.unasked:
            return
        person = self._context.person
        if person is None:
            raise RefusedError(_NOBODY.format(what=what, why="Nobody can be asked here."))
        try:
            allowed = await person.confirm(what, lines, why)
        except NoAnswerError as problem:
            raise RefusedError(_NOBODY.format(what=what, why=problem)) from None
        if not allowed:
            raise RefusedError(_NOBODY.format(what=what, why="They did not say yes."))

    async def _noted(self) -> Sequence[str]:
        """Write down what went over the network; the hosts of pages that are not open."""
        proxy = self._browser.proxy
        passages = proxy.take_passages() if proxy else ()
        told = [each for each in passages if each.verdict == "passed" or each.host not in _QUIET]
        await self._place.note(self._context.run, told)
        self._place.leases.read(each.host for each in told if each.received)
        refused = dict.fromkeys(each.host for each in told if each.verdict == "refused")
        return list(refused)[:REFUSED_TOLD]


def _asked(page: Page) -> str:
    message = str((page.dialog or {}).get("message", ""))[:300]
    return f"The page asks “{message}” and waits: answer with dialog first."


async def _picture(page: Page) -> bytes:
    """What is on the screen."""
    await page.cdp.ask("Page.bringToFront", page.session)
    told = await page.cdp.ask("Page.captureScreenshot", page.session, format="png")
    return base64.b64decode(str(told.get("data", "")))
