"""What was looked at, by number: a place in a picture, or the name of a part, holds as long as what
it stood for is still so."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from sayso.client.desktop.accessibility.bus import Reference
from sayso.client.desktop.accessibility.parts import Part
from sayso.client.desktop.errors import Refused
from sayso.client.desktop.x11.pictures import Shot
from sayso.client.desktop.x11.windows import Window

FRAMES_KEPT: Final = 8
"""Looks that a model may still speak of; a picture of a screen takes six megabytes."""
NAMES_KEPT: Final = 20_000


@dataclass(frozen=True, slots=True)
class Frame:
    """One look at a window."""

    number: int
    window: Window
    shot: Shot | None = None
    scale: float = 1.0

    def on_screen(self, x: float, y: float) -> tuple[int, int]:
        """The screen's pixel that a pixel of the picture shows. Raises Refused."""
        if self.shot is None:
            raise Refused(f"Frame {self.number} has no picture: look with one first.")
        width, height = self.shot.place.width * self.scale, self.shot.place.height * self.scale
        if not (0 <= x < width and 0 <= y < height):
            raise Refused(
                f"{x:g}, {y:g} is outside of frame {self.number}, which is {width:.0f} by"
                f" {height:.0f}."
            )
        return (
            self.shot.place.x + int((x + 0.5) / self.scale),
            self.shot.place.y + int((y + 0.5) / self.scale),
        )


@dataclass(frozen=True, slots=True)
class Named:
    """A part, and the window that it was seen in."""

    part: Part
    window: Window


@dataclass
class Frames:
    """The latest looks, and the names that parts were given in them."""

    _frames: "OrderedDict[int, Frame]" = field(default_factory=OrderedDict)
    _names: dict[Reference, str] = field(default_factory=dict)
    _parts: dict[str, Named] = field(default_factory=dict)
    _count: int = 0

    def add(self, window: Window, shot: Shot | None = None, scale: float = 1.0) -> Frame:
        self._count += 1
        frame = Frame(self._count, window, shot, scale)
        self._frames[frame.number] = frame
        while len(self._frames) > FRAMES_KEPT:
            self._frames.popitem(last=False)
        return frame

    def get(self, number: int) -> Frame:
        """Raises Refused for one that is too old."""
        frame = self._frames.get(number)
        if frame is None:
            raise Refused(f"There is no frame {number} any more: look again.")
        return frame

    def name(self, part: Part, window: Window) -> str:
        """What a part is called: the same at each look."""
        if part.at not in self._names:
            if len(self._names) >= NAMES_KEPT:
                self._names.clear()
                self._parts.clear()
            self._names[part.at] = f"e{len(self._names) + 1}"
        name = self._names[part.at]
        self._parts[name] = Named(part, window)
        return name

    def part(self, name: str) -> Named:
        """Raises Refused for a name that was never given."""
        found = self._parts.get(name)
        if found is None:
            raise Refused(f"Nothing is called {name}: look first.")
        return found
