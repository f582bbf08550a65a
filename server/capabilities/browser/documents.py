"""The documents of one tab, with a script of ours in each: its own one, and those of its frames."""

import asyncio
import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from sayso.server.capabilities.browser.cdp import Cdp, CdpError, Fields
from sayso.server.capabilities.browser.errors import BrowserError, RefusedError

WORLD: Final = "sayso"
"""The name of the world in which our script runs, apart from the page's own."""

FRAMES_MOST: Final = 12
LISTENERS_MOST: Final = 300

GONE: Final = "{ref} is of an earlier page; read the page again."

_PRESSES: Final = frozenset(
    {"click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "dblclick"}
)


@functools.cache
def script() -> str:
    """Our script."""
    here = files(__package__)
    parts = (here.joinpath(name).read_text() for name in ("reading.js", "acting.js"))
    return "(() => {\nif (globalThis.sayso) return;\n" + "\n".join(parts) + "\n})();"


@dataclass(slots=True)
class World:
    """Our script in one document."""

    session: str
    context: int
    frame: str
    letters: str
    """With which the names of what is found there begin."""


class Documents:
    """Of one tab."""

    def __init__(self, cdp: Cdp, target: str, session: str) -> None:
        self.cdp = cdp
        self.target = target
        self.session = session
        self._sessions = {session}
        """Of this page and of its frames of other sites."""
        self._worlds: dict[tuple[str, int], World] = {}
        self._own_contexts: dict[tuple[str, str], int] = {}
        """Where the scripts of each document itself run, by its frame."""
        self._made = 0
        self._moved = asyncio.Event()

    # --- beginning ---

    async def prepare(self, session: str = "") -> None:
        """Listen to a session of this page, and have our script in each of its documents."""
        session = session or self.session
        ask = self.cdp.ask
        await asyncio.gather(
            ask("Page.enable", session),
            ask("Runtime.enable", session),
            ask("DOM.enable", session),
            ask(
                "Target.setAutoAttach",
                session,
                autoAttach=True,
                waitForDebuggerOnStart=False,
                flatten=True,
            ),
            ask(
                "Page.addScriptToEvaluateOnNewDocument",
                session,
                source=script(),
                worldName=WORLD,
                runImmediately=True,
            ),
        )

    # --- what happens ---

    def owns(self, session: str) -> bool:
        """Whether events of this session are this page's."""
        return session in self._sessions

    def owns_also(self, session: str) -> None:
        """A frame of another site has this session."""
        self._sessions.add(session)

    def _context_made(self, session: str, context: Fields) -> None:
        about = context.get("auxData", {})
        frame = str(about.get("frameId", ""))
        if about.get("isDefault"):
            self._own_contexts[session, frame] = int(context["id"])
        elif context.get("name") == WORLD:
            number = int(context["id"])
            self._worlds[session, number] = World(session, number, frame, self._letters())
            self._moved.set()

    def _forget(self, session: str) -> None:
        for key in [key for key in self._worlds if key[0] == session]:
            del self._worlds[key]

    def _letters(self) -> str:
        """The next of a, b, … z, aa, ab: names are never used again, so what is stale is known."""
        number, letters = self._made, ""
        self._made += 1
        while True:
            letters = chr(ord("a") + number % 26) + letters
            number = number // 26 - 1
            if number < 0:
                return letters

    # --- worlds ---

    async def main_world(self) -> World:
        """Our script in the page's own document. Raises BrowserError."""
        return await self._world(self.session, self.target)

    def other_worlds(self, world: World) -> list[World]:
        """Our script in the other documents of this tab."""
        return [one for one in self._worlds.values() if one is not world]

    async def _world(self, session: str, frame: str, seconds: float = 5.0) -> World:
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            found = [one for one in self._worlds.values() if one.frame == frame]
            if found:
                return found[-1]
            self._moved.clear()
            try:
                async with asyncio.timeout_at(deadline):
                    await self._moved.wait()
            except TimeoutError:
                raise BrowserError("The page cannot be read; open it again.") from None

    async def call(
        self,
        world: World,
        function: str,
        *arguments: object,
        handles: Sequence[str] = (),
        wait: bool = False,
        handle: bool = False,
    ) -> Any:  # noqa: ANN401 - what JSON can say
        """Call a function of our script: `handles` come last, as one list of elements. Returns its
        value, or with `handle` the id of an object. Raises BrowserError."""
        given = json.dumps(list(arguments))
        declared = (
            "function (...handles) {"
            f" sayso.letters = {json.dumps(world.letters)};"
            f" return sayso.{function}(...{given}, handles); }}"
        )
        answer = await self.cdp.ask(
            "Runtime.callFunctionOn",
            world.session,
            functionDeclaration=declared,
            executionContextId=world.context,
            arguments=[{"objectId": each} for each in handles],
            returnByValue=not handle,
            awaitPromise=wait,
        )
        if failed := answer.get("exceptionDetails"):
            about = failed.get("exception", {}).get("description", failed.get("text", ""))
            raise BrowserError(f"The page could not be worked with: {str(about)[:200]}")
        result = answer.get("result", {})
        return result.get("objectId") if handle else result.get("value")

    def world_of(self, ref: str) -> tuple[World, int]:
        """Where something that was read is, and its number there. Raises RefusedError."""
        letters = ref.rstrip("0123456789")
        for world in self._worlds.values():
            if world.letters == letters:
                return world, int(ref[len(letters) :])
        raise RefusedError(GONE.format(ref=ref))

    # --- elements ---

    def _by_frame(self, frame: str) -> World | None:
        return next((one for one in self._worlds.values() if one.frame == frame), None)

    async def _frames_of(self, world: World) -> dict[str, str]:
        """Handles of the elements in this document that hold other documents, and their frames."""
        inner = [
            one for one in self._worlds.values() if one.frame not in (world.frame, self.target)
        ][:FRAMES_MOST]
        owners = await asyncio.gather(*(self._owner(world, one.frame) for one in inner))
        return {handle: one.frame for handle, one in zip(owners, inner, strict=True) if handle}

    async def _owner(self, world: World, frame: str) -> str:
        """The element of this document that holds a frame; nothing if none does."""
        try:
            owner = await self.cdp.ask("DOM.getFrameOwner", world.session, frameId=frame)
            return await self._handle(world, int(owner["backendNodeId"]))
        except (CdpError, KeyError):
            return ""

    async def _handle(self, world: World, node: int) -> str:
        """An element of this document, for our script; nothing if it is of another one."""
        try:
            found = await self.cdp.ask(
                "DOM.resolveNode",
                world.session,
                backendNodeId=node,
                executionContextId=world.context,
            )
        except CdpError:
            return ""
        return str(found.get("object", {}).get("objectId", ""))

    async def listening(self, world: World) -> list[str]:
        """Handles of what listens to being pressed."""
        try:
            answer = await self.cdp.ask(
                "Runtime.evaluate",
                world.session,
                expression="document",
                contextId=self._own_contexts[world.session, world.frame],
            )
            told = await self.cdp.ask(
                "DOMDebugger.getEventListeners",
                world.session,
                objectId=answer["result"]["objectId"],
                depth=-1,  # and no `pierce`, over which renderers crash
            )
        except (CdpError, KeyError):
            return []
        nodes = dict.fromkeys(
            int(each["backendNodeId"])
            for each in told.get("listeners", ())
            if each.get("type") in _PRESSES and each.get("backendNodeId")
        )
        wanted = list(nodes)[:LISTENERS_MOST]
        handles = await asyncio.gather(*(self._handle(world, node) for node in wanted))
        return [handle for handle in handles if handle]

    def _was_given(self, letters: str) -> bool:
        """Whether names of a document of this tab began so."""
        number = 0
        for letter in letters:
            number = number * 26 + ord(letter) - ord("a") + 1
        return number <= self._made

    async def offset(self, world: World) -> tuple[float, float]:
        """Where a document's own corner lies in the tab. Raises RefusedError."""
        across = down = 0.0
        frame = world.frame
        for _ in range(FRAMES_MOST):
            if frame == self.target:
                return across, down
            for outer in list(self._worlds.values()):
                if outer.frame == frame or not (handle := await self._owner(outer, frame)):
                    continue
                box = await self.call_on(outer, "box", handle)
                across, down, frame = across + box["x"], down + box["y"], outer.frame
                break
            else:
                break
        raise RefusedError("The frame is gone; read the page again.")

    async def call_on(self, world: World, function: str, handle: str) -> Any:  # noqa: ANN401
        """Call a function of our script with one element."""
        answer = await self.cdp.ask(
            "Runtime.callFunctionOn",
            world.session,
            functionDeclaration=f"function (element) {{ return sayso.{function}(element); }}",
            executionContextId=world.context,
            arguments=[{"objectId": handle}],
            returnByValue=True,
        )
        return answer.get("result", {}).get("value")
