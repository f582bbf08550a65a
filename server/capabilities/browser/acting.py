"""Acts on a page, and says what came of it: confirmed, unconfirmed, or refused, and never just
"done"."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sayso.server.capabilities.browser.consequences import Facts, consequence, never
from sayso.server.capabilities.browser.documents import World
from sayso.server.capabilities.browser.errors import BrowserError, RefusedError
from sayso.server.capabilities.browser.keys import Key, keys_of
from sayso.server.capabilities.browser.page import QUIET_MS, SETTLE_MS, Page, View

Effect = Literal["confirmed", "unconfirmed"]

TEXT_MOST: Final = 20_000
"""Characters that are written into a field at once."""

CHANGED_CHARS: Final = 1_500
"""Of what is told that changed after an act."""

TRIES: Final = 5
OVER_MS: Final = 150
"""For the pointer to come to where it was sent; it takes one picture, 17."""

Allow = Callable[[str, tuple[str, ...], str], Awaitable[None]]
"""Asks the person for one act: what it is, what it touches, why they are asked. Raises
RefusedError."""

_PROBLEMS: Final = {
    "unknown": "{ref} was never read; read the page.",
    "gone": "{ref} is not there any more; read the page again.",
    "changed": "{ref} was {was} and is {now} now; read the page again.",
    "hidden": "{ref} can't be seen: scroll to it, or open what it is in.",
    "covered": "{ref} is covered by {by}; deal with that first.",
}


@dataclass(frozen=True, slots=True)
class Acted:
    """What came of an act."""

    effect: Effect
    what: str
    changed: str = ""

    @property
    def text(self) -> str:
        """As a model is told it."""
        return (
            "\n".join(filter(None, (f"{self.effect}: {self.what}", self.changed.rstrip()))) + "\n"
        )


class Acting:
    """On one page."""

    def __init__(self, page: Page, allow: Allow) -> None:
        self._page = page
        self._allow = allow

    # --- acts ---

    async def click(self, target: str) -> Acted:
        """Press something. Raises BrowserError."""
        world, number, ref = await self._page.locate(target, "click")
        _, facts = await self._ready(world, number, ref)
        if facts.get("file"):
            raise RefusedError(f"{ref} takes a file: use upload.")
        if facts.get("disabled"):
            raise RefusedError(f"{ref} ({_named(facts)}) is disabled.")
        why = await self._consent(facts, f"press {_named(facts)}")
        # The page may have put something else there while the person was asked.
        point, now = await self._ready(world, number, ref)
        if consequence(now) != why:
            raise RefusedError(f"{ref} does something else now than what was asked about.")

        async def press() -> None:
            await self._press_at(world, point)

        return await self._observed(world, number, press, f"pressed {ref}, {_named(facts)}")

    async def fill(self, target: str, text: str) -> Acted:
        """Write into a field, in place of what is there."""
        if len(text) > TEXT_MOST:
            raise RefusedError(f"No more than {TEXT_MOST} characters are written at once.")
        world, number, ref = await self._page.locate(target, "fill")
        _, facts = await self._ready(world, number, ref, point=False)
        if why := never(facts):
            raise RefusedError(why)
        if facts.get("select"):
            return await self.select(ref, [text])
        if not facts.get("writable") or facts.get("disabled") or facts.get("readOnly"):
            raise RefusedError(f"{ref} ({_named(facts)}) can't be written into.")
        before = self._page.last
        await self._page.call(world, "watch", number)
        if facts.get("atOnce"):
            await self._page.call(world, "set", number, text)
        else:
            if not await self._page.call(world, "ready", number):
                raise RefusedError(f"{ref} does not take the focus; press it first.")
            if text:
                await self._page.cdp.ask("Input.insertText", self._page.session, text=text)
            else:
                await self._key(keys_of("Delete")[0])
        await self._settled(world)
        now = await self._page.call(world, "value", number)
        same = now is not None and _same(now["value"], text)
        what = f"{_named(facts)} is {_short(now['value']) if now else 'gone'}"
        return Acted("confirmed" if same else "unconfirmed", what, await self._changes(before))

    async def select(self, target: str, options: Sequence[str]) -> Acted:
        """Choose in a list."""
        world, number, ref = await self._page.locate(target, "select")
        _, facts = await self._ready(world, number, ref, point=False)
        if not facts.get("select"):
            raise RefusedError(
                f"{ref} ({_named(facts)}) is no plain list: press it, then an option."
            )
        if facts.get("disabled"):
            raise RefusedError(f"{ref} ({_named(facts)}) is disabled.")
        before = self._page.last
        await self._page.call(world, "watch", number)
        told = await self._page.call(world, "choose", number, list(options))
        if told.get("problem"):
            known = ", ".join(told["options"])
            raise RefusedError(f"{ref} has no one option {', '.join(options)}; it has: {known}.")
        await self._settled(world)
        now = await self._page.call(world, "value", number)
        chosen = ", ".join(told["chosen"])
        same = now is not None and now["value"] == chosen
        what = f"{_named(facts)} is {_short(chosen)}"
        return Acted("confirmed" if same else "unconfirmed", what, await self._changes(before))

    async def press(self, keys: str) -> Acted:
        """Press keys, where the focus is: `Enter`, `Control+a`, several with blanks between."""
        wanted = keys_of(keys)
        world, focus = await self._focus()
        facts: Facts = focus["facts"] if focus else {}
        if any(key.text and key.text not in "\r " for key in wanted) and (why := never(facts)):
            raise RefusedError(why)
        if any(key.name in ("Enter", " ") for key in wanted) and facts:
            pressed = not facts.get("writable") and not facts.get("select")
            enters = pressed or any(key.name == "Enter" for key in wanted)
            if enters and not (facts.get("writable") and _is_text_area(facts)):
                why = await self._consent(
                    facts, f"press {keys} at {_named(facts)}", pressed=pressed
                )
                _, now = await self._focus()
                if not now or consequence(now["facts"], pressed=pressed) != why:
                    raise RefusedError("The focus is on something else now; read the page.")

        async def type_them() -> None:
            for key in wanted:
                await self._key(key)

        number = int(focus["ref"]) if focus else 0
        return await self._observed(world, number, type_them, f"pressed {keys}", keyboard=True)

    async def scroll(self, to: str) -> Acted:
        """Scroll: up, down, top, bottom, or to something."""
        before = self._page.last
        if to in ("up", "down", "top", "bottom"):
            world = await self._page.main_world()
            at = await self._page.call(world, "scroll", 0, to)
            what = f"scrolled {to}, to {at} pixels from the top"
        else:
            world, number, ref = await self._page.locate(to, "click")
            await self._page.call(world, "scroll", number, "")
            what = f"scrolled to {ref}"
        await self._settled(world)
        return Acted("confirmed", what, await self._changes(before))

    async def upload(self, target: str, path: str, name: str) -> Acted:
        """Give a file to a field that takes one: `path`, as the browser sees it."""
        world, number, ref = await self._page.locate(target, "file")
        facts = (await self._prepared(world, number, ref, scroll=False))["facts"]
        if not facts.get("file") or facts.get("disabled"):
            raise RefusedError(f"{ref} ({_named(facts)}) takes no file.")
        await self._allow(
            f"upload {name}",
            (f"give the file {name} to {self._page.url[:120]}",),
            "It leaves the house.",
        )
        before = self._page.last
        handle = await self._page.call(world, "element", number, handle=True)
        await self._page.cdp.ask(
            "DOM.setFileInputFiles", world.session, files=[path], objectId=handle
        )
        await self._settled(world)
        return Acted(
            "confirmed", f"{name} was given to {_named(facts)}", await self._changes(before)
        )

    # --- how it is done ---

    async def _prepared(self, world: World, number: int, ref: str, *, scroll: bool) -> Any:  # noqa: ANN401 - JSON
        told = await self._page.call(world, "prepare", number, scroll)
        if problem := told.get("problem"):
            words = {key: str(told.get(key, ""))[:160] for key in ("was", "now", "by")}
            raise RefusedError(_PROBLEMS[problem].format(ref=ref, **words))
        return told

    async def _ready(
        self, world: World, number: int, ref: str, *, point: bool = True
    ) -> tuple[tuple[float, float], Facts]:
        """Where something can be pressed, and what it is."""
        told = await self._prepared(world, number, ref, scroll=True)
        if told["facts"].get("file") or not point:
            return (0.0, 0.0), told["facts"]
        return (told["x"], told["y"]), told["facts"]

    async def _consent(self, facts: Facts, what: str, *, pressed: bool = True) -> str:
        """Ask where that is due; why they were asked, or nothing."""
        if why := consequence(facts, pressed=pressed):
            await self._allow(what, (f"{what}, on {self._page.url[:120]}",), why)
        return why

    async def _press_at(self, world: World, point: tuple[float, float]) -> None:
        across, down = await self._page.offset(world)
        at: dict[str, Any] = {"x": across + point[0], "y": down + point[1]}
        ask, session = self._page.cdp.ask, self._page.session
        await ask("Input.dispatchMouseEvent", session, type="mouseMoved", **at)
        if world.frame != self._page.target:
            await self._come_to(world, at)
        button: dict[str, Any] = {"button": "left", "clickCount": 1, **at}
        await ask("Input.dispatchMouseEvent", session, type="mousePressed", buttons=1, **button)
        await ask("Input.dispatchMouseEvent", session, type="mouseReleased", **button)

    async def _come_to(self, world: World, at: Mapping[str, float]) -> None:
        """Wait until the pointer is where it was sent: a frame of another site gets what is its own
        once it was drawn."""
        for number in range(TRIES):
            if await self._page.call(world, "over", OVER_MS, wait=True):
                return
            away = {"x": at["x"] + 1 - 2 * (number % 2), "y": at["y"]}
            await self._page.cdp.ask(
                "Input.dispatchMouseEvent", self._page.session, type="mouseMoved", **away
            )

    async def _key(self, key: Key) -> None:
        ask, session = self._page.cdp.ask, self._page.session
        for kind in ("rawKeyDown" if not key.text else "keyDown", "keyUp"):
            text: dict[str, Any] = {"text": key.text} if key.text and kind == "keyDown" else {}
            await ask("Input.dispatchKeyEvent", session, type=kind, **key.fields, **text)

    async def _focus(self) -> tuple[World, Any]:
        world = await self._page.main_world()
        focus = await self._page.call(world, "focused")
        if focus and focus.get("frame"):
            for other in self._page.other_worlds(world):
                if inner := await self._page.call(other, "focused"):
                    return other, inner
        return world, focus

    async def _observed(
        self,
        world: World,
        number: int,
        act: Callable[[], Awaitable[None]],
        what: str,
        *,
        keyboard: bool = False,
    ) -> Acted:
        """Do it, and look what came of it."""
        page, before, url = self._page, self._page.last, self._page.url
        navigations, tabs = page.navigations, page.opened
        await page.call(world, "watch", number)
        if not await self._unless_dialog(act()):
            message = str((page.dialog or {}).get("message", ""))[:300]
            return Acted("confirmed", f"{what}; the page asks: “{message}” (answer with dialog)")
        seen = await self._settled(world)
        if page.navigations != navigations or seen is None:
            await page.loaded()
            view = await page.view()
            if view.url != url or seen is None:
                return Acted("confirmed", f"{what}; the page is another now", view.text)
        changed = await self._changes(before)
        if page.opened != tabs:
            return Acted("confirmed", f"{what}; it opened another tab", changed)
        done = bool(seen and seen["changed"] and (keyboard or seen["arrived"])) or bool(changed)
        if done:
            return Acted("confirmed", what, changed)
        why = (
            "nothing on the page changed"
            if keyboard or (seen and seen["arrived"])
            else ("it is not sure that the press arrived")
        )
        return Acted("unconfirmed", f"{what}, but {why}; read the page")

    async def _unless_dialog(self, work: Awaitable[None]) -> bool:
        """Whether it was done before the page asked something, which stops all else."""
        acting = asyncio.ensure_future(work)
        asked = asyncio.ensure_future(self._page.dialog_opened.wait())
        try:
            await asyncio.wait({acting, asked}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                await asyncio.wait({asked}, timeout=0.01)
            if self._page.dialog is not None:
                return False
            await acting
            return True
        finally:
            for task in (acting, asked):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, BrowserError):
                    await task

    async def _settled(self, world: World) -> Any:  # noqa: ANN401 - JSON
        """What the page did; None if it is another document now."""
        waiting = asyncio.ensure_future(
            self._page.call(world, "settled", QUIET_MS, SETTLE_MS, wait=True)
        )
        asked = asyncio.ensure_future(self._page.dialog_opened.wait())
        try:
            await asyncio.wait({waiting, asked}, return_when=asyncio.FIRST_COMPLETED)
            if self._page.dialog is not None:
                return {"arrived": True, "changed": True}
            return await waiting
        except BrowserError:
            return None
        finally:
            for task in (waiting, asked):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, BrowserError):
                    await task

    async def _changes(self, before: View) -> str:
        """The lines that were not there before."""
        if self._page.dialog is not None:
            message = str(self._page.dialog.get("message", ""))[:300]
            return f"The page asks: “{message}” (answer with dialog)"
        known = set(before.lines)
        new = [line for line in (await self._page.view()).lines if line not in known]
        text = "\n".join(new)
        return text if len(text) <= CHANGED_CHARS else f"{text[:CHANGED_CHARS]}…"


def _named(facts: Facts) -> str:
    name = str(facts.get("name", ""))
    return f"{facts.get('role', 'it')} “{name}”" if name else str(facts.get("role", "it"))


def _short(text: str) -> str:
    return f"“{text[:120]}”"


def _same(value: str, text: str) -> bool:
    return " ".join(value.split()) == " ".join(text.split())


def _is_text_area(facts: Facts) -> bool:
    return facts.get("type") in ("textarea", "")
