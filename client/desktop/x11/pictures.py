"""Pictures of a screen, in which everything is grey that nobody may see."""

import hashlib
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from sayso.client.desktop.errors import Refused
from sayso.client.desktop.x11.connection import Connection
from sayso.client.desktop.x11.windows import Place, Windows

TILE: Final = 32
"""Pixels: what is compared around a place before it is clicked at."""
_GREY: Final = (128, 128, 128)
_BLACK: Final = (0, 0, 0)
_DEPTHS: Final = (24, 32)
_ALL_PLANES: Final = 0xFFFF_FFFF
MOST_BYTES: Final = 4 * 2**20
"""Of a picture: half of what an answer may hold."""


@dataclass(frozen=True, slots=True)
class Shot:
    """What was seen, in the screen's own pixels."""

    image: Any
    place: Place

    def tile(self, x: int, y: int, window: Place) -> str:
        """What stands in a window around a place of the screen, as a hash."""
        around = Place(x - TILE // 2, y - TILE // 2, TILE, TILE)
        seen = _box(around, window) or (0, 0, 0, 0)
        dx, dy = window.x - self.place.x, window.y - self.place.y
        piece = self.image.crop((seen[0] + dx, seen[1] + dy, seen[2] + dx, seen[3] + dy))
        return hashlib.sha256(piece.tobytes()).hexdigest()

    def encoded(self, most_width: int, most_height: int) -> tuple[bytes, float]:
        """As a PNG of at most this size, and how much smaller it is than the screen."""
        from PIL import Image

        scale = min(1.0, most_width / self.place.width, most_height / self.place.height)
        image = self.image
        if scale < 1.0:
            size = (
                max(1, round(self.place.width * scale)),
                max(1, round(self.place.height * scale)),
            )
            image = image.resize(size, Image.Resampling.LANCZOS)
        file = BytesIO()
        image.save(file, "PNG", compress_level=3)
        if file.tell() > MOST_BYTES:
            raise Refused("The picture is too large; look at one window.")
        return file.getvalue(), scale


class Camera:
    """Of one screen."""

    def __init__(self, connection: Connection, windows: Windows) -> None:
        self._connection = connection
        self._windows = windows

    def take(
        self, place: Place, seen: Collection[int], pids: Collection[int], black: Iterable[Place]
    ) -> Shot:
        """A picture of a part of the screen. `seen`: the windows that may be seen; `pids`: whose
        menus may. `black`: what is blotted out in them."""
        from PIL import Image, ImageDraw
        from Xlib import X

        screen = self._connection.display.screen()
        place = _within(place, Place(0, 0, screen.width_in_pixels, screen.height_in_pixels))
        if screen.root_depth not in _DEPTHS:
            raise Refused("The screen has too few colours to be looked at.")
        with self._connection.alone():  # so that windows are where the picture shows them
            seen_frames = {self._windows.outermost(each) for each in seen}
            layers = list(self._layers(seen_frames, pids))
            got = self._connection.root.get_image(
                place.x, place.y, place.width, place.height, X.ZPixmap, _ALL_PLANES
            )
        size = (place.width, place.height)
        data = got.data if isinstance(got.data, bytes) else str(got.data).encode("latin-1")
        whole = Image.frombuffer("RGB", size, data, "raw", "BGRX", 0, 1)
        image = Image.new("RGB", size, _GREY)
        for layer, open_ in layers:
            box = _box(layer, place)
            if box and open_:
                image.paste(whole.crop(box), box)
            elif box:
                image.paste(_GREY, box)
        draw = ImageDraw.Draw(image)
        for each in black:
            if box := _box(each, place):
                draw.rectangle(box, fill=_BLACK)
        return Shot(image, place)

    def _layers(self, seen: Collection[int], pids: Collection[int]) -> Iterable[tuple[Place, bool]]:
        """What is on the screen, from the lowest to the topmost, and whether it may be seen."""
        from Xlib import X

        for window in self._windows.on_top():
            with suppress(*self._connection.gone):
                about = window.get_attributes()
                if about.map_state != X.IsViewable or about.win_class == X.InputOnly:
                    continue
                place = self._windows.place(window)
                if place is None:
                    continue
                number = int(window.id)
                popup = bool(about.override_redirect) and self._windows.pid(number) in pids
                yield place, number in seen or popup


def _within(place: Place, screen: Place) -> Place:
    left, top = max(place.x, 0), max(place.y, 0)
    right = min(place.x + place.width, screen.width)
    bottom = min(place.y + place.height, screen.height)
    if right <= left or bottom <= top:
        raise Refused("That is outside of the screen.")
    return Place(left, top, right - left, bottom - top)


def _box(place: Place, picture: Place) -> tuple[int, int, int, int] | None:
    """Where in a picture a place of the screen is; None if it is outside."""
    left, top = max(place.x - picture.x, 0), max(place.y - picture.y, 0)
    right = min(place.x + place.width - picture.x, picture.width)
    bottom = min(place.y + place.height - picture.y, picture.height)
    return (left, top, right, bottom) if right > left and bottom > top else None
