"""Acts in a window of the lease, checks each step where it happens, and tells what came of it.

lease → the one window that is meant → not out of reach → not secret → asked if it has
consequences → by the application itself, if it can → else by pointer or keys, one step at a
time, after a look at who would get it → read back
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sayso.client.desktop.accessibility.parts import EDITABLE, FOCUSED, MULTI_LINE, Part
from sayso.client.desktop.errors import Refused
from sayso.client.desktop.hands.consequences import (
    chord_consequence,
    chord_hindrance,
    chord_keys,
    consequence,
)
from sayso.client.desktop.hands.looking import changes
from sayso.client.desktop.hands.screen import Screen
from sayso.client.desktop.hands.targets import FIELDS, SECRETS, Asking, Targets, is_written_into
from sayso.client.desktop.x11.windows import Window

Effect = Literal["confirmed", "unconfirmed"]

SEEN_S: Final = 0.8
"""In which what an act changes is to be seen; most programs take a tenth of that."""
LOOK_S: Final = 0.06
MOST_STEPS: Final = 30
"""Of the wheel, in one act."""
DRAG_STEPS: Final = 8
CHANGES_TOLD: Final = 12
_LEADS_ON: Final = "\t\n\r"
"""After these another part may have the keys."""
_COVERED: Final = "Something else lies over that place now: look again."


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an act."""

    effect: Effect
    lines: tuple[str, ...] = ()
    """What is new in the window."""


class Acts:
    """Of one request: what its lease covers, and what the person said yes to."""

    def __init__(self, screen: Screen, apps: frozenset[str], approved: frozenset[str]) -> None:
        self._screen = screen
        self._hand = screen.hand
        self._apps = apps
        self._targets = Targets(screen, apps, Asking(screen, approved))
        self._asking = self._targets.asking

    # --- what can be done ---

    def click(self, args: Mapping[str, Any]) -> Done:
        button, count = str(args.get("button", "left")), int(args.get("count", 1))
        target = self._targets.target(args)
        part, window = target.part, target.window
        if part:
            self._asking.ask(consequence(part.role, part.name))
        else:
            self._asking.blind(window, "click")
        before = self._before(window)
        tree = self._screen.tree
        if part and tree and (button, count) == ("left", 1):
            # What a field calls its action is Enter in it, and no click.
            if part.role in FIELDS:
                if tree.focus(part) and (now := tree.again(part)) and now.has(FOCUSED):
                    return Done("confirmed", tuple(self._new(window, before)))
            elif tree.press(part):
                return self._after(window, before)
        at = target.at or self._targets.middle(part, window)
        with self._acting():
            for _ in range(min(max(count, 1), 3)):
                self._at(window, at, lambda: self._pressed(button))
        return self._after(window, before)

    def move(self, args: Mapping[str, Any]) -> Done:
        target = self._targets.target(args)
        at = target.at or self._targets.middle(target.part, target.window)
        with self._acting():
            self._at(target.window, at, lambda: None)
        return Done("confirmed")

    def drag(self, args: Mapping[str, Any]) -> Done:
        """From one place to another of the same window."""
        begin = self._targets.target(args)
        end = self._targets.target({**args, "target": args.get("to"), **_renamed(args)})
        if begin.window.id != end.window.id:
            raise Refused("Both places must be in one window.")
        window = begin.window
        for part in (begin.part, end.part):
            if part:
                self._asking.ask(consequence(part.role, part.name))
        self._asking.blind(window, "drag")
        x0, y0 = begin.at or self._targets.middle(begin.part, window)
        x1, y1 = end.at or self._targets.middle(end.part, window)
        if (x0, y0) == (x1, y1):
            raise Refused("Both places are the same: that is a click, and no drag.")
        before = self._before(window)
        pointer = self._screen.pointer
        with self._acting():
            try:
                self._at(window, (x0, y0), lambda: pointer.press("left"))
                for step in range(1, DRAG_STEPS + 1):
                    x = x0 + (x1 - x0) * step // DRAG_STEPS
                    y = y0 + (y1 - y0) * step // DRAG_STEPS
                    self._at(window, (x, y), lambda: None)
                self._at(window, (x1, y1), lambda: pointer.release("left"))
            finally:
                pointer.let_go()
        return self._after(window, before)

    def scroll(self, args: Mapping[str, Any]) -> Done:
        target = self._targets.target(args, whole=True)
        window, way = target.window, str(args.get("way", "down"))
        at = target.at or (self._targets.middle(target.part, window) if target.part else None)
        at = at or (
            window.place.x + window.place.width // 2,
            window.place.y + window.place.height // 2,
        )
        before = self._before(window)
        with self._acting():
            for _ in range(min(max(int(args.get("steps", 3)), 1), MOST_STEPS)):
                self._at(window, at, lambda: self._screen.pointer.scroll(way))
        return self._after(window, before)

    def fill(self, args: Mapping[str, Any]) -> Done:
        """Make a text all that stands in a field."""
        target = self._targets.target(args)
        part, window, text = target.part, target.window, str(args.get("text", ""))
        if part is None:
            raise Refused("Say which field, by its name such as e12: a place is not enough.")
        if part.secret:
            raise Refused(SECRETS)
        tree = self._screen.tree
        before = self._before(window)
        if not (tree and part.has(EDITABLE) and tree.write(part, text)):
            if tree is None or not is_written_into(part) or not tree.focus(part):
                raise Refused("That can't be written into so; click it, and write.")
            if not part.has(MULTI_LINE) and any(each in text for each in _LEADS_ON):
                raise Refused("One line takes neither a tab nor the end of a line.")
            with self._acting():
                gets = self._front(window, "")
                if gets is None or gets.at != part.at:
                    raise Refused("Another part of the window gets the keys: look again.")
                self._keys(window, ("ctrl", "a"))
                self._text(window, gets, text)
        deadline = time.monotonic() + SEEN_S
        while tree.value(part) != text:
            if time.monotonic() > deadline:
                return Done("unconfirmed", tuple(self._new(window, before)))
            time.sleep(LOOK_S)
        return Done("confirmed", tuple(self._new(window, before)))

    def write(self, args: Mapping[str, Any]) -> Done:
        """Type a text where the window's keys go."""
        window, text = self._targets.window(args), str(args.get("text", ""))
        before, tree = self._before(window), self._screen.tree
        with self._acting():
            part = self._front(window, "enter" if "\n" in text or "\r" in text else "")
            self._asking.typing(window, part)
            start = tree.caret(part) if part and tree else -1
            self._text(window, part, text)
        if part and tree and start >= 0:
            deadline = time.monotonic() + SEEN_S
            while time.monotonic() < deadline:
                if tree.value(part)[start : start + len(text)] == text:
                    return Done("confirmed")
                time.sleep(LOOK_S)
        return Done("unconfirmed", tuple(self._new(window, before)))

    def press(self, args: Mapping[str, Any]) -> Done:
        """Press keys together: ctrl+s."""
        keys = chord_keys(str(args.get("keys", "")))
        chord = "+".join(keys)
        if why := chord_hindrance(chord):
            raise Refused(why)
        self._asking.ask(chord_consequence(chord))
        window = self._targets.window(args)
        before = self._before(window)
        with self._acting():
            self._front(window, chord)
            self._keys(window, keys)
        return self._after(window, before)

    def focus(self, args: Mapping[str, Any]) -> Done:
        window = self._targets.window(args)
        if not self._screen.windows.activate(window):
            return Done("unconfirmed")
        return Done("confirmed")

    def close(self, args: Mapping[str, Any]) -> Done:
        window = self._targets.window(args)
        self._asking.ask(f"Close the window {window.title!r}?")
        self._screen.windows.close(window)
        deadline = time.monotonic() + SEEN_S
        while self._screen.windows.get(window.id):
            if time.monotonic() > deadline:
                return Done("unconfirmed")
            time.sleep(LOOK_S)
        return Done("confirmed")

    # --- doing ---

    def _acting(self) -> Any:  # noqa: ANN401 - a context manager
        person = self._screen.person
        return self._hand.acting(
            lambda: person.last, lambda: person.holds_a_key, time.monotonic, time.sleep
        )

    def _at(self, window: Window, at: tuple[int, int], step: Callable[[], None]) -> None:
        """Move to a place and do one thing there, with nobody in between. Raises Refused."""
        screen = self._screen
        with screen.connection.alone():
            self._hand.check()
            there = screen.windows.outermost_at(*at)
            place = screen.windows.place(screen.connection.window(window.id))
            if place != window.place:
                raise Refused("The window has moved: look again.")
            if there != screen.windows.outermost(window.id) and (
                screen.windows.pid(there) != window.pid or not self._is_popup(there)
            ):
                raise Refused(_COVERED)
            screen.pointer.move(*at)
            step()

    def _is_popup(self, number: int) -> bool:
        about = self._screen.connection.window(number).get_attributes()
        return bool(about.override_redirect)

    def _pressed(self, button: str) -> None:
        self._screen.pointer.press(button)
        self._screen.pointer.release(button)

    def _front(self, window: Window, chord: str) -> Part | None:
        """Bring a window to the front, and find what gets its keys: only then is it told. Raises
        Refused for what is secret, and asks about what `chord` would mean there."""
        windows = self._screen.windows
        if windows.focused() != window.id:
            if not windows.activate(window):
                raise Refused("That window can't be brought to the front: look again.")
            self._screen.barrier.wait(window)  # it tells of its focus once it has read of it
        part = self._targets.into(window)
        if chord:
            self._asking.keys(window, part, chord)
        return part

    def _keys(self, window: Window, keys: Sequence[str]) -> None:
        """Press keys together, while this window has them. Raises Refused."""
        self._screen.keyboard.chord(keys, lambda: self._check_focus(window))
        self._screen.barrier.wait(window)

    def _text(self, window: Window, part: Part | None, text: str) -> None:
        """Type a text, while this window has the keys. `part`: what gets them, as far as that is
        told. What a tab led to is looked at before the next key. Raises Refused."""
        screen, rest = self._screen, text
        while rest:
            piece = rest if part is None else _piece(rest, part)
            rest = rest[len(piece) :]
            screen.keyboard.type(
                piece, lambda: self._check_focus(window), lambda: screen.barrier.wait(window)
            )
            screen.barrier.wait(window)
            if rest:
                part = self._led_to(window, part, rest)

    def _led_to(self, window: Window, before: Part | None, rest: str) -> Part | None:
        """What gets the keys after a piece of a text, if it may. Raises Refused: a question would
        come too late, since a yes begins from the start."""
        try:
            part = self._targets.into(window)
            self._screen.check_pages(window, self._screen.parts(window))
            if part and (before is None or part.at != before.at):
                self._asking.typing(window, part)
            if "\n" in rest or "\r" in rest:
                self._asking.keys(window, part, "enter")
        except Refused as why:
            raise Refused(f"{why} What came before it was typed: look again.") from None
        return part

    def _check_focus(self, window: Window) -> None:
        self._hand.check()
        focused = self._screen.windows.focused()
        if focused != window.id:
            raise Refused("Another window has the keys now, so nothing more was typed: look again.")

    # --- what came of it ---

    def _before(self, window: Window) -> tuple[list[str], set[tuple[int, str]]]:
        screen = self._screen
        lines = screen.lines(window, screen.parts(window))
        return lines, {(each.id, each.title) for each in screen.windows.all()}

    def _new(self, window: Window, before: tuple[list[str], set[tuple[int, str]]]) -> list[str]:
        screen = self._screen
        lines = screen.lines(window, screen.parts(window))
        new = changes(before[0], lines)[:CHANGES_TOLD]
        for each in screen.windows.all():
            if (each.id, each.title) not in before[1] and each.app in self._apps:
                new.append(f"window w{each.id} {each.title!r}")
        if screen.windows.get(window.id) is None:
            new.append("the window has closed")
        elif lines != before[0] and not new:
            new.append("something is there no more")
        return new

    def _after(self, window: Window, before: tuple[list[str], set[tuple[int, str]]]) -> Done:
        """Confirmed once something has changed in the window, or of it."""
        deadline = time.monotonic() + SEEN_S
        while not (new := self._new(window, before)):
            if time.monotonic() > deadline:
                return Done("unconfirmed")
            time.sleep(LOOK_S)
        return Done("confirmed", tuple(new))


def _piece(text: str, part: Part) -> str:
    """The beginning of a text, up to what may lead to another part."""
    leads_on = "\t" if part.has(MULTI_LINE) else _LEADS_ON
    end = next((at for at, each in enumerate(text) if each in leads_on), len(text))
    return text[: end + 1]


def _renamed(args: Mapping[str, Any]) -> dict[str, Any]:
    return {"x": args.get("to_x"), "y": args.get("to_y")} if args.get("frame") is not None else {}


ACTS: Final[Mapping[str, Callable[[Acts, Mapping[str, Any]], Done]]] = {
    "click": Acts.click,
    "move": Acts.move,
    "drag": Acts.drag,
    "scroll": Acts.scroll,
    "fill": Acts.fill,
    "write": Acts.write,
    "press": Acts.press,
    "focus": Acts.focus,
    "close": Acts.close,
}
