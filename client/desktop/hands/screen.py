"""The screen as the hands have it: what is there, who may be looked at, and what stands in it."""

import os
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from sayso.client.desktop.accessibility.bus import AccessibilityBus, NoAnswer
from sayso.client.desktop.accessibility.parts import FOCUSED, Part
from sayso.client.desktop.accessibility.tree import Tree
from sayso.client.desktop.errors import Refused
from sayso.client.desktop.hands.frames import Frames
from sayso.client.desktop.hands.hand import Hand
from sayso.client.desktop.hands.looking import described
from sayso.client.desktop.hands.reach import Own, Reach
from sayso.client.desktop.permission import DesktopPermission
from sayso.client.desktop.x11.barrier import Barrier
from sayso.client.desktop.x11.clipboard import Clipboard
from sayso.client.desktop.x11.connection import Connection
from sayso.client.desktop.x11.keyboard import Keyboard
from sayso.client.desktop.x11.person import PersonWatch
from sayso.client.desktop.x11.pictures import Camera, Shot
from sayso.client.desktop.x11.pointer import Pointer
from sayso.client.desktop.x11.sign import Sign
from sayso.client.desktop.x11.windows import Place, Window, Windows

BUS_AGAIN_S: Final = 10.0
"""Before a bus is tried again that did not answer."""
LISTED_S: Final = 1.0
"""For a window manager to list a window that is there: a busy one leaves it out for a moment."""
BEGINS_S: Final = 2.0
"""For an application to tell of a window for the first time; it takes tenths of a second."""
STEP_S: Final = 0.05
_TOLERANCE: Final = 8
"""Pixels by which a toolkit and the X server may differ on where a window is."""


class Screen:
    """One X11 screen. Of one thread; the person's hand is watched from another."""

    def __init__(self, own: Own, permission: DesktopPermission, borrowed: Path) -> None:
        """Raises DesktopError where no screen answers."""
        name = os.environ.get("DISPLAY", "")
        self.connection = Connection(name)
        self.permission = permission
        self.reach = Reach(own, permission.never)
        self.windows = Windows(self.connection)
        self.camera = Camera(self.connection, self.windows)
        self.keyboard = Keyboard(self.connection, borrowed)
        self.pointer = Pointer(self.connection)
        self.sign = Sign(self.connection)
        self.clipboard = Clipboard(name)
        self.barrier = Barrier(name)
        self.hand = Hand()
        self.person = PersonWatch(name, self.hand.noticed)
        self.frames = Frames()
        self._tree: Tree | None = None
        self._silent: set[int] = set()
        """Windows that tell nothing of themselves."""
        self._tried = 0.0

    @property
    def tree(self) -> Tree | None:
        """What applications tell of themselves; None where no bus answers."""
        if self._tree is None and (not self._tried or time.monotonic() > self._tried + BUS_AGAIN_S):
            self._tried = time.monotonic()
            with suppress(NoAnswer):
                self._tree = Tree(AccessibilityBus())
        return self._tree

    # --- windows ---

    def chosen(self, wanted: str, apps: Collection[str]) -> Window:
        """The one window that is meant, of those that the lease covers. Raises Refused."""
        until = time.monotonic() + LISTED_S
        while not (named := self._named(wanted, apps)) and time.monotonic() < until:
            time.sleep(STEP_S)
        if not named:
            what = f"called {wanted!r} " if wanted else ""
            raise Refused(f"No window {what}is open of {', '.join(sorted(apps)) or 'any lease'}.")
        shown = [window for window in named if window.active] or [
            window for window in named if not window.hidden
        ]
        if len(shown or named) > 1:
            listed = "; ".join(f"w{window.id} {window.title!r}" for window in named[:8])
            raise Refused(f"{len(named)} windows could be meant: {listed}. Say which: window=w….")
        return self.checked((shown or named)[0], apps)

    def _named(self, wanted: str, apps: Collection[str]) -> list[Window]:
        open_ = [window for window in self.windows.all() if window.app in apps]
        return [window for window in open_ if _is_named(window, wanted)] if wanted else open_

    def checked(self, window: Window, apps: Collection[str]) -> Window:
        """A window, if it may be looked at and acted in now. Raises Refused."""
        if window.app not in apps:
            raise Refused(f"{window.app} is not open to Sayso.", needs=window.app)
        if why := self.reach.hindrance(window):
            raise Refused(f"Nothing is done there: {why}.")
        return window

    def now(self, window: Window, apps: Collection[str]) -> Window:
        """The same window as it is now. Raises Refused."""
        fresh = self.windows.get(window.id)
        if fresh is None or fresh.pid != window.pid:
            raise Refused("That window is gone: look again.")
        return self.checked(fresh, apps)

    # --- what stands in them ---

    def parts(self, window: Window) -> list[Part]:
        """What a window's application tells of it; nothing where it tells nothing. One that has
        only just been opened gets a moment to begin."""
        until = time.monotonic() + BEGINS_S
        while not (found := self._parts(window)) and window.id not in self._silent:
            if self.tree is None or time.monotonic() > until:
                self._silent.add(window.id)
            else:
                time.sleep(STEP_S)
        return found

    def _parts(self, window: Window) -> list[Part]:
        if self.tree is None:
            return []
        try:
            return self.tree.read(window)
        except (OSError, NoAnswer):
            self._tree = None  # the bus ended; another may be there later
            return []

    def lines(self, window: Window, parts: Sequence[Part]) -> list[str]:
        """A line for each part that matters."""
        if self.tree is None or not parts:
            return []
        told = [part for part in parts if part.is_told]
        return described(parts, self.tree.values(told), self.frames, window)

    def focused_part(self, parts: Sequence[Part]) -> Part | None:
        """The part that gets what is typed; None where that is not told."""
        found = [part for part in parts if part.has(FOCUSED) and part.role != "frame"]
        return found[-1] if found else None

    def check_pages(self, window: Window, parts: Sequence[Part]) -> None:
        """Raises Refused where a page is shown that is out of reach, and where a browser tells of
        none. A program's name tells only what is known of it: any may show pages of Sayso's."""
        browser = self.reach.is_browser(window)
        documents = [part for part in parts if part.role == "document"]
        if browser and (self.tree is None or not documents):
            raise Refused(
                "This browser does not tell which page it shows, so nothing is done in it: use"
                " Sayso's own browser, or start it with --force-renderer-accessibility."
            )
        told = self.reach.page_hindrance if browser else self.reach.own_page
        for part in documents:
            if why := told(self.tree.address(part) if self.tree else "", part.name):
                raise Refused(f"Nothing is done in this window: {why}.")

    def place_of(self, part: Part, window: Window, parts: Sequence[Part]) -> Place:
        """Where a part is on the screen, in its pixels. Raises Refused.

        GTK 4 tells places within the window, and a scaled desktop tells them in other units: both
        are seen by what is told of the window itself.
        """
        tree = self.tree
        told = tree.place(part) if tree else None
        whole = tree.place(parts[0]) if tree and parts else None
        if told is None or whole is None:
            raise Refused("Where that is on the screen is not told: look with a picture.")
        real = window.place
        scale = max(1, round(real.width / whole.width)) if whole.width else 1
        x, y = told.x * scale, told.y * scale
        moved = abs(whole.x * scale - real.x) > _TOLERANCE or (
            abs(whole.y * scale - real.y) > _TOLERANCE
        )
        if moved and abs(whole.x) <= _TOLERANCE and abs(whole.y) <= _TOLERANCE:
            x, y = x + real.x, y + real.y
        place = Place(x, y, told.width * scale, told.height * scale)
        if not real.holds(place.x + place.width // 2, place.y + place.height // 2):
            raise Refused("That is not on the screen now: scroll to it first.")
        return place

    def picture(
        self, window: Window, apps: Collection[str], parts: Sequence[Part], place: Place
    ) -> Shot:
        """A picture of a place, in which only windows of the lease are seen, without secrets."""
        seen = [
            each
            for each in self.windows.all()
            if each.app in apps and not self.reach.hindrance(each)
        ]
        black = self._secrets(window, parts)
        for each in seen:
            if each.id != window.id:
                black += self._secrets(each, self.parts(each))
        return self.camera.take(
            place, [each.id for each in seen], [each.pid for each in seen], black
        )

    def _secrets(self, window: Window, parts: Sequence[Part]) -> list[Place]:
        """Where what is secret stands; the whole window where that is not told."""
        found: list[Place] = []
        for part in parts:
            if part.secret:
                try:
                    found.append(self.place_of(part, window, parts))
                except Refused:
                    found.append(window.place)
        return found


def _is_named(window: Window, wanted: str) -> bool:
    return wanted.lower() in (f"w{window.id}", window.app) or wanted.lower() in window.title.lower()
