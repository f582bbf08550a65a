"""Notices the person's own hand: keys, buttons and moves that no program made.

The X server says of each raw event from which device it came. What programs make comes from the
devices called XTEST, ours and others' alike; all else is a hand. A desktop that is worked at from
afar (VNC) moves by XTEST too, and its hand is not known from ours.
"""

import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from sayso.client.desktop.x11.connection import Connection

_RAW: Final = struct.Struct("<HIIH")
"""Device, time, detail and source of a raw event, after its first ten bytes."""
_HIERARCHY: Final = 11
_RAW_KEY_PRESS: Final = 13
_RAW_KEY_RELEASE: Final = 14
_RAW_BUTTON_PRESS: Final = 15
_RAW_MOTION: Final = 17
_WATCHED: Final = (_RAW_KEY_PRESS, _RAW_BUTTON_PRESS, _RAW_MOTION)
_ESCAPE: Final = 0xFF1B
_ALL_DEVICES: Final = 0
_ALL_MASTERS: Final = 1


class PersonWatch:
    """Watches from a thread of its own, so that nothing that we do holds it up."""

    def __init__(self, name: str, noticed: Callable[[bool], None]) -> None:
        """`noticed`: told at once of each move of the hand; whether it was Escape."""
        self._connection = Connection(name)
        self._noticed = noticed
        self._ours: set[int] = set()
        self._held: set[int] = set()
        self.last = 0.0
        """When the hand last moved, by the monotonic clock."""
        self._prepare()
        threading.Thread(target=self._watch, name="sayso-person", daemon=True).start()

    @property
    def holds_a_key(self) -> bool:
        """Whether a key is down that the person pressed."""
        return bool(self._held)

    def _prepare(self) -> None:
        display = self._connection.display
        escape = display.keysym_to_keycode(_ESCAPE)
        self._escape = int(escape)
        display.xinput_query_version()
        masks = [(_ALL_MASTERS, 1 << _HIERARCHY)]
        raw = 0
        for each in (*_WATCHED, _RAW_KEY_RELEASE):
            raw |= 1 << each
        masks = [(_ALL_DEVICES, 1 << _HIERARCHY), (_ALL_MASTERS, raw)]
        self._connection.root.xinput_select_events(masks)
        display.sync()
        self._know_devices()

    def _know_devices(self) -> None:
        found = self._connection.display.xinput_query_device(_ALL_DEVICES).devices
        self._ours = {int(each.deviceid) for each in found if "XTEST" in str(each.name)}

    def _watch(self) -> None:
        with suppress(Exception):  # the screen is gone, and so is the process in a moment
            while True:
                self._take(self._connection.display.next_event())

    def _take(self, event: Any) -> None:  # noqa: ANN401 - python-xlib has no types
        kind = getattr(event, "evtype", 0)
        if kind == _HIERARCHY:
            self._know_devices()
            return
        if kind not in (*_WATCHED, _RAW_KEY_RELEASE) or not isinstance(event.data, bytes):
            return
        _, _, detail, source = _RAW.unpack_from(event.data)
        if source in self._ours:
            return
        if kind == _RAW_KEY_RELEASE:
            self._held.discard(detail)
            return
        if kind == _RAW_KEY_PRESS:
            self._held.add(detail)
        self.last = time.monotonic()
        self._noticed(kind == _RAW_KEY_PRESS and detail == self._escape)
