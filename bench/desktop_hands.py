"""Measures the hands at a person's screen: how soon their own key stops it, whether a window that
jumps in front gets anything, and what is typed wrongly, in each toolkit that is here."""

import asyncio
import os
import statistics
import struct
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sayso.client.desktop.permission import DesktopPermission, write_permission
from sayso.client.desktop.x11.connection import Connection
from sayso.client.desktop.x11.windows import Windows
from sayso.protocol.home import Home
from tests.client.desktop.rig import Desktop, Hands, desktop, hands
from tests.client.desktop.typing_errors import strings, toolkits, typing_errors, window_of

STOPS: Final = 8
THEFTS: Final = 8
STRINGS: Final = 30
REST_S: Final = 0.7
_LONG: Final = "The quick brown fox jumps over the lazy dog. " * 40
_SHIFT: Final = 0xFFE1
_RAW: Final = struct.Struct("<HIIH")
_KEY_PRESS: Final = 13


class Observer:
    """Sees all keys of a display, with the time and whether a program made them."""

    def __init__(self, display: str) -> None:
        self._connection = Connection(display)
        devices = self._connection.display.xinput_query_device(0).devices
        self._programs = {int(each.deviceid) for each in devices if "XTEST" in str(each.name)}
        self._connection.root.xinput_select_events([(1, 1 << _KEY_PRESS)])
        self._connection.display.sync()
        self.seen: list[tuple[float, bool]] = []
        """When, and whether it was a program's."""
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        with suppress(Exception):  # the display is gone
            while True:
                event = self._connection.display.next_event()
                if getattr(event, "evtype", 0) == _KEY_PRESS:
                    source = _RAW.unpack_from(event.data)[3]
                    self.seen.append((time.monotonic(), source in self._programs))


def measure() -> Mapping[str, float | int | str]:
    """Take all figures."""
    environment = _Environment()
    with tempfile.TemporaryDirectory() as folder:
        environment.setenv("SAYSO_HOME", folder)
        write_permission(Home.find(), DesktopPermission(look=True, act=True))
        try:
            return asyncio.run(_measure(Path(folder), environment))
        finally:
            environment.undo()


async def _measure(folder: Path, environment: "_Environment") -> Mapping[str, float | int | str]:
    pytest_like: Any = environment
    with desktop(folder, hand=True) as here:
        async with hands(here, pytest_like, ("fixture",)) as at:
            figures = {**await _stops(here, at), **await _thefts(here, at)}
    errors = {}
    for toolkit in toolkits():
        with desktop(folder) as here, window_of(here, toolkit) as app:
            async with hands(here, pytest_like, ("fixture", "chromium")) as at:
                errors[toolkit] = await typing_errors(at, app, strings(STRINGS))
    typed = {f"typing_errors_{name}": count for name, count in errors.items()}
    return {**figures, "typing_errors": sum(errors.values()), **typed}


async def _stops(here: Desktop, at: Hands) -> Mapping[str, float | int]:
    """A physical key while it types: how long until the last key that it makes, and how many."""
    observer, outer = Observer(here.display), Connection(here.outer)
    took, further = [], []
    for number in range(STOPS):
        app = here.open_gtk(f"Stop {number}")
        at.turn += 1
        await asyncio.sleep(REST_S)
        typing = asyncio.create_task(at.act("write", text=_LONG, window=app.title))
        while len(app.state.get("text", "")) < 20:  # noqa: ASYNC110 - it is told by a file
            await asyncio.sleep(0.01)
        observer.seen.clear()
        _press(outer, _SHIFT)
        await typing
        hand = next(at_ for at_, program in observer.seen if not program)
        after = [at_ for at_, program in observer.seen if program and at_ > hand]
        took.append(1_000 * (max(after, default=hand) - hand))
        further.append(len(after))
        app.close()
    outer.close()
    return {
        "stop_ms": round(max(took), 1),
        "stop_median_ms": round(statistics.median(took), 1),
        "stop_further_keys": max(further),
    }


async def _thefts(here: Desktop, at: Hands) -> Mapping[str, int]:
    """Another window takes the keys while it types: how many characters that one got."""
    wrong = 0
    for number in range(THEFTS):
        app, thief = here.open_gtk(f"Own {number}"), here.open_gtk(f"Thief {number}", 600, 50)
        at.turn += 1
        await asyncio.sleep(REST_S)
        typing = asyncio.create_task(at.act("write", text=_LONG, window=app.title))
        while len(app.state.get("text", "")) < 20:  # noqa: ASYNC110 - it is told by a file
            await asyncio.sleep(0.01)
        connection = Connection(here.display)
        windows = Windows(connection)
        windows.activate(next(each for each in windows.all() if each.title == thief.title))
        connection.close()
        await typing
        await asyncio.sleep(0.2)
        wrong += len(thief.state.get("text", ""))
        app.close()
        thief.close()
    return {"wrong_window": wrong}


def _press(connection: Connection, keysym: int) -> None:
    from Xlib import X
    from Xlib.ext import xtest

    code = connection.display.keysym_to_keycode(keysym)
    xtest.fake_input(connection.display, X.KeyPress, code)
    xtest.fake_input(connection.display, X.KeyRelease, code)
    connection.display.sync()


class _Environment:
    """Variables of this process, put back afterwards."""

    def __init__(self) -> None:
        self._before = dict(os.environ)

    def setenv(self, name: str, value: str) -> None:
        os.environ[name] = value

    def delenv(self, name: str, raising: bool = False) -> None:
        os.environ.pop(name, None)

    def undo(self) -> None:
        os.environ.clear()
        os.environ.update(self._before)
