"""Finds what an act is meant for: a window, a part, a place; nothing that is unclear or old."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sayso.client.desktop.accessibility.parts import EDITABLE, MULTI_LINE, Part
from sayso.client.desktop.errors import Refused
from sayso.client.desktop.hands.consequences import chord_keys, consequence
from sayso.client.desktop.hands.screen import Screen
from sayso.client.desktop.x11.pictures import TILE
from sayso.client.desktop.x11.windows import Place, Window

SECRETS: Final = (
    "Sayso types no passwords: the person does that themselves. Tell them, or go on without."
)
_ALIKE_TOLD: Final = 8
FOCUS_S: Final = 0.6
"""For an application to tell where its cursor is, once its window is in front."""
FOCUS_STEP_S: Final = 0.05
_ON_ENTER: Final = ("enter", "space")
FIELDS: Final = ("entry", "text", "password", "spin button", "document")
"""Parts that are written into."""
_TYPED_INTO: Final = ("entry", "text", "password", "spin button", "combo box")
"""In a document that can't be edited a key is a command."""


@dataclass(frozen=True, slots=True)
class Target:
    """What an act is aimed at."""

    window: Window
    part: Part | None = None
    at: tuple[int, int] | None = None
    """A place of the screen, in its pixels."""


class Asking:
    """What the person said yes to in one request, and what they have to be asked about."""

    def __init__(self, screen: Screen, approved: frozenset[str]) -> None:
        self._screen = screen
        self._approved = approved

    def ask(self, question: str) -> None:
        """Raises Refused, with the question, where nobody was asked yet."""
        if question and question not in self._approved:
            raise Refused(f"The person was not asked: {question}", asks=question)

    def blind(self, window: Window, what: str, parts: Sequence[Part] | None = None) -> None:
        """What stands in a window that tells nothing of itself can't be known from a password."""
        if not (self._screen.parts(window) if parts is None else parts):
            self.ask(
                f"Let Sayso {what} in {window.app}, which does not tell what stands in it, not even"
                " where a password goes?"
            )

    def typing(self, window: Window, part: Part | None) -> None:
        """What is typed where no text goes presses things: a blank does, and a letter may."""
        if part and not is_written_into(part):
            self.ask(
                f"Type in {window.app}, where {part.role} {part.name!r} gets it, and no field?"
            )

    def keys(self, window: Window, part: Part | None, chord: str) -> None:
        """Keys that press a button: the one that has them, or any of the window's."""
        field = part is not None and part.role in (*FIELDS, "combo box")
        if part and chord in _ON_ENTER and not field:
            self.ask(consequence(part.role, part.name))
        if part and part.has(MULTI_LINE) and chord in _ON_ENTER:
            return
        if (chord == "enter" and field) or "alt" in chord_keys(chord):
            found = [consequence(each.role, each.name) for each in self._screen.parts(window)]
            if question := next(filter(None, found), ""):
                self.ask(f"Press {chord} in a window where that may mean: {question}")


def is_written_into(part: Part) -> bool:
    """Whether what is typed there stands there as text."""
    return part.has(EDITABLE) or part.role in _TYPED_INTO


class Targets:
    """Of one request."""

    def __init__(self, screen: Screen, apps: frozenset[str], asking: Asking) -> None:
        self._screen = screen
        self._apps = apps
        self.asking = asking

    def window(self, args: Mapping[str, Any]) -> Window:
        """The window, with what is shown in it checked. Raises Refused."""
        window = self._screen.chosen(str(args.get("window", "")), self._apps)
        self._screen.check_pages(window, self._screen.parts(window))
        return window

    def target(self, args: Mapping[str, Any], *, whole: bool = False) -> Target:
        """What an act is aimed at. `whole`: a window will do. Raises Refused."""
        if args.get("frame") is not None:
            return self._pixel(args)
        target = str(args.get("target") or "")
        if not target and whole:
            return Target(self.window(args))
        if target[:1] == "e" and target[1:].isdigit():
            return self._named(target)
        return self._worded(target, args)

    def _pixel(self, args: Mapping[str, Any]) -> Target:
        frame = self._screen.frames.get(int(args["frame"]))
        window = self._screen.now(frame.window, self._apps)
        self._screen.check_pages(window, self._screen.parts(window))
        if window.place != frame.window.place:
            raise Refused("The window has moved since that frame: look again.")
        x, y = frame.on_screen(float(args.get("x", -1)), float(args.get("y", -1)))
        if not window.place.holds(x, y):
            raise Refused("That place is not in the window of the frame.")
        parts = self._screen.parts(window)
        place = Place(x - TILE, y - TILE, 2 * TILE, 2 * TILE)
        fresh = self._screen.picture(window, self._apps, parts, place)
        seen = frame.shot.tile(x, y, window.place) if frame.shot else ""
        if fresh.tile(x, y, window.place) != seen:
            raise Refused("What stands there has changed since that frame: look again.")
        for part in parts:  # a place is a way to the same button
            question = consequence(part.role, part.name)
            if question and self._may_hold(part, window, parts, (x, y)):
                self.asking.ask(question)
        return Target(window, at=(x, y))

    def _may_hold(
        self, part: Part, window: Window, parts: Sequence[Part], at: tuple[int, int]
    ) -> bool:
        try:
            return self._screen.place_of(part, window, parts).holds(*at)
        except Refused:
            return True  # nobody can tell

    def _named(self, name: str) -> Target:
        known = self._screen.frames.part(name)
        window = self._screen.now(known.window, self._apps)
        self._screen.check_pages(window, self._screen.parts(window))
        part = self._screen.tree.again(known.part) if self._screen.tree else None
        if part is None:
            raise Refused(f"{name} is gone, or became something else: look again.")
        return Target(window, self._sensible(part, name))

    def _worded(self, words: str, args: Mapping[str, Any]) -> Target:
        if not words.strip():
            raise Refused("Say at what: a name such as e12, words on it, or x and y in a frame.")
        window = self.window(args)
        parts = [part for part in self._screen.parts(window) if part.can_be_acted_on]
        wanted = words.strip().lower().rstrip("….")
        found = [part for part in parts if part.name.lower().rstrip("….") == wanted]
        found = found or [part for part in parts if wanted in part.name.lower()]
        if len(found) > 1:
            names = [self._screen.frames.name(part, window) for part in found[:_ALIKE_TOLD]]
            told = ", ".join(
                f"{name} ({part.role} {part.name!r})"
                for name, part in zip(names, found, strict=False)
            )
            raise Refused(f"{len(found)} things could be meant by {words!r}: {told}.")
        if not found:
            raise Refused(f"Nothing in {window.title!r} is called {words!r}: look at it.")
        return Target(window, self._sensible(found[0], words))

    def _sensible(self, part: Part, name: str) -> Part:
        if "disabled" in part.told_states:
            raise Refused(f"{name} is disabled now.")
        return part

    def middle(self, part: Part | None, window: Window) -> tuple[int, int]:
        if part is None:
            raise Refused("Say at what.")
        place = self._screen.place_of(part, window, self._screen.parts(window))
        return place.x + place.width // 2, place.y + place.height // 2

    def into(self, window: Window) -> Part | None:
        """What gets the keys in a window. Raises Refused for what is secret, and asks where that
        can't be seen."""
        until = time.monotonic() + FOCUS_S
        parts = self._screen.parts(window)
        while (part := self._screen.focused_part(parts)) is None and parts:
            if time.monotonic() > until:
                break
            time.sleep(FOCUS_STEP_S)
            parts = self._screen.parts(window)
        if part and part.secret:
            raise Refused(SECRETS)
        if part is None:
            self.asking.blind(window, "type", [])
        return part
