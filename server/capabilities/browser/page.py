"""One tab: what can be read there, where something lies, and whether it is there yet."""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sayso.protocol.visible import HIDDEN
from sayso.server.capabilities.browser.cdp import Cdp, CdpError, Fields
from sayso.server.capabilities.browser.documents import FRAMES_MOST, GONE, Documents, World
from sayso.server.capabilities.browser.errors import BrowserError, RefusedError

VIEW_CHARS: Final = 6_000
"""Of one look at a page: 1,500 tokens. What is on the screen comes first."""
FOUND_MOST: Final = 8
FRAMES_DEEP: Final = 3
URL_CHARS: Final = 300

LOAD_S: Final = 15.0
TRIES: Final = 3
TRY_AGAIN_S: Final = 0.05
WHOLE_S: Final = 2.0
"""For pictures and frames, once the document itself is there."""
QUIET_MS: Final = 60
"""A page on which nothing changes for so long has settled; most answer a press within it."""
SETTLE_MS: Final = 1_500


@dataclass(slots=True)
class View:
    """What was read of a page."""

    lines: list[str] = field(default_factory=list)
    title: str = ""
    url: str = ""
    above: bool = False
    """Whether there is something above that was left out."""
    more: bool = False

    @property
    def text(self) -> str:
        """As a model is told it."""
        head = f"{self.title} ({self.url})" if self.title else self.url
        above = ["(there is more above: scroll up)"] if self.above else []
        more = (
            ["(there is more below: scroll down, find words, or read a part)"] if self.more else []
        )
        return "\n".join((head, *above, *(self.lines or ["(nothing to read)"]), *more)) + "\n"


class Page(Documents):
    """A tab of the browser. Its events come by `happened`, from whoever has the connection."""

    def __init__(self, cdp: Cdp, target: str, session: str, name: str) -> None:
        super().__init__(cdp, target, session)
        self.name = name
        """As it is told: t1."""
        self.title = self.url = ""
        self.dialog: Fields | None = None
        """One that the page has opened, and that waits for an answer."""
        self.dialog_opened = asyncio.Event()
        self.crashed = False
        self.last = View()
        self.navigations = 0
        self.prepared: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when it can be worked with."""
        self.coming: set[asyncio.Task[None]] = set()
        """Frames of other sites that are made ready to be read."""
        self.opened = 0
        """How many tabs it has opened."""
        self._loaded = asyncio.Event()
        self._whole = asyncio.Event()
        self.settled()

    # --- events ---

    def happened(self, session: str, name: str, told: Fields) -> None:
        """Take an event."""
        match name:
            case "Runtime.executionContextCreated":
                self._context_made(session, told.get("context", {}))
            case "Runtime.executionContextDestroyed":
                self._worlds.pop((session, int(told.get("executionContextId", 0))), None)
            case "Runtime.executionContextsCleared":
                self._forget(session)
            case "Target.detachedFromTarget":
                gone = str(told.get("sessionId", ""))
                self._sessions.discard(gone)
                self._forget(gone)
            case "Page.javascriptDialogOpening":
                self.dialog = told
                self.dialog_opened.set()
            case "Page.javascriptDialogClosed":
                self.dialog_answered()
            case "Inspector.targetCrashed":
                self.crashed = True
            case _:
                self._load_happened(session, name, told)

    def _load_happened(self, session: str, name: str, told: Fields) -> None:
        match name:
            case "Page.frameStartedLoading" if told.get("frameId") == self.target:
                self.navigating()
                self.navigations += 1
            case "Page.frameStoppedLoading" if told.get("frameId") == self.target:
                self.settled()
            case "Page.domContentEventFired" if session == self.session:
                self._loaded.set()

    def dialog_answered(self) -> None:
        """The page waits for nobody any more."""
        self.dialog = None
        self.dialog_opened.clear()

    # --- reading ---

    async def view(self, *, part: str = "", room: int = VIEW_CHARS) -> View:
        """What can be read now, of all or of one part. Raises BrowserError."""
        if part:
            world, number = self.world_of(part)
            return await self._view_in(world, room, number)
        view = await self._whole_view(room)
        self.last, self.title, self.url = view, view.title, view.url
        return view

    async def _whole_view(self, room: int) -> View:
        for _ in range(TRIES):
            with contextlib.suppress(CdpError):
                return await self._view_in(await self.main_world(), room, 0)
            await asyncio.sleep(TRY_AGAIN_S)  # another document took its place while it was read
        return await self._view_in(await self.main_world(), room, 0)

    async def find(self, words: str) -> View:
        """The parts of all documents in which these words stand."""
        view = View(url=self.url, title=self.title)
        for world in list(self._worlds.values())[:FRAMES_MOST]:
            for number in await self.call(world, "search", words, FOUND_MOST) or ():
                part = await self._view_in(world, VIEW_CHARS // FOUND_MOST, number)
                view.lines += [line for line in part.lines if line not in view.lines]
        if not view.lines:
            view.lines.append(f"(nowhere on this page: {words})")
        return view

    async def _view_in(self, world: World, room: int, root: int, depth: int = 0) -> View:
        owners = await self._frames_of(world) if depth < FRAMES_DEEP and not root else {}
        listening = await self.listening(world)
        told = await self.cdp.ask(
            "Runtime.callFunctionOn",
            world.session,
            functionDeclaration=(
                "function (letters, options, count, ...given) { sayso.letters = letters;"
                " return sayso.view(options, given.slice(0, count), given.slice(count)); }"
            ),
            executionContextId=world.context,
            arguments=[
                {"value": world.letters},
                {"value": {"room": room, "root": root, "whole": bool(root)}},
                {"value": len(owners)},
                *({"objectId": each} for each in (*owners, *listening)),
            ],
            returnByValue=True,
        )
        seen = told.get("result", {}).get("value")
        if not isinstance(seen, Mapping):
            raise BrowserError("The page changed while it was read; read it again.")
        view = View(
            title=_plain(str(seen.get("title", ""))),
            url=str(seen.get("url", ""))[:URL_CHARS],
            above=bool(seen.get("above")),
            more=bool(seen.get("full")),
        )
        frames = list(owners.values())
        for line in seen.get("lines", ()):
            left = room - sum(len(each) + 1 for each in view.lines)
            if isinstance(line, str):
                view.lines.append(_plain(line))
            elif left > 0 and (inner := self._by_frame(frames[line["frame"]])):
                part = await self._view_in(inner, left, 0, depth + 1)
                view.lines += [f"(frame {part.url[:80]})", *part.lines, "(end of the frame)"]
                view.more = view.more or part.more
        return view

    # --- finding something to act on ---

    async def locate(self, target: str, kind: str) -> tuple[World, int, str]:
        """What is meant by a name that was read, or by words that stand on it. Raises RefusedError
        where that is nothing, or several."""
        if _is_ref(target):
            known = {one.letters for one in self._worlds.values()}
            if _letters(target) in known:
                world, number = self.world_of(target)
                return world, number, target
        hits: list[tuple[World, str, str, bool]] = []
        for world in list(self._worlds.values())[:FRAMES_MOST]:
            listening = await self.listening(world)
            told = await self.call(world, "locate", target, kind, handles=listening)
            exact = bool(told["exact"])
            hits += [
                (world, f"{world.letters}{hit['ref']}", str(hit["said"]), exact)
                for hit in told["hits"]
            ]
        if any(hit[3] for hit in hits):
            hits = [hit for hit in hits if hit[3]]
        elif _is_ref(target) and self._was_given(_letters(target)):
            raise RefusedError(GONE.format(ref=target))
        if not hits:
            raise RefusedError(
                f"Nothing here is called “{target[:80]}”; read the page for what is."
            )
        if len(hits) > 1:
            named = "; ".join(_plain(hit[2]) for hit in hits[:FOUND_MOST])
            raise RefusedError(f"{len(hits)} things are called “{target[:80]}”: {named}. Name one.")
        world, ref, _, _ = hits[0]
        return world, self.world_of(ref)[1], ref

    # --- waiting ---

    def navigating(self) -> None:
        """Another document is to come."""
        self._loaded.clear()
        self._whole.clear()

    def settled(self) -> None:
        """None comes any more."""
        self._loaded.set()
        self._whole.set()

    async def loaded(self, seconds: float = LOAD_S) -> bool:
        """Wait until the page can be read, and a moment for its frames; whether it can."""
        try:
            async with asyncio.timeout(seconds):
                await self._loaded.wait()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(WHOLE_S):
                        await self._whole.wait()
                        await asyncio.gather(*self.coming)
        except TimeoutError:
            return False
        return True


def _is_ref(target: str) -> bool:
    letters = _letters(target)
    return bool(letters) and letters.isalpha() and letters.islower() and len(letters) < len(target)


def _letters(ref: str) -> str:
    return ref.rstrip("0123456789")


def _plain(text: str) -> str:
    return HIDDEN.sub("", text)
