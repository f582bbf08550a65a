"""Listens for a global push-to-talk hotkey on the desktop, by pynput.

It works where a program may see keys that go to other programs: X11, macOS (which asks for
permission once) and Windows. Wayland does not let programs do that, by design.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from sayso.client.errors import ClientError


class NoHotkey(ClientError):
    """The key cannot be listened for. The sentence says why, and what to do."""


class Listener(Protocol):
    """What we need of pynput's."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Hotkey:
    """Tells, in the event loop, when the key goes down and when it comes up."""

    def __init__(
        self, name: str, pressed: Callable[[], object], released: Callable[[], object]
    ) -> None:
        """`name` is one character, or pynput's name of a key: `f9`, `ctrl_r`, `pause`."""
        _may_listen()
        try:
            from pynput import keyboard
        except ModuleNotFoundError as error:
            raise NoHotkey(
                f"A key for the whole desktop needs the Python package {error.name}: "
                "run `pip install 'sayso[hotkey]'`."
            ) from error
        except ImportError as error:
            raise NoHotkey(
                "There is no desktop here whose keys could be listened to (no X display answers): "
                "start this in a terminal on the desktop, or leave --hotkey out."
            ) from error
        try:
            wanted = (
                keyboard.KeyCode.from_char(name.lower())
                if len(name) == 1
                else keyboard.Key[name.lower()]
            )
        except KeyError:
            raise NoHotkey(
                f"There is no key named {name}: try f9, pause, ctrl_r or a single character."
            ) from None
        loop = asyncio.get_running_loop()
        self._down = False

        def soon(what: Callable[[], object]) -> None:
            with suppress(RuntimeError):  # The loop is closed: nobody talks any more.
                loop.call_soon_threadsafe(what)

        def press(key: object) -> None:
            # A key that is held is reported as pressed again and again.
            if key == wanted and not self._down:
                self._down = True
                soon(pressed)

        def release(key: object) -> None:
            if key == wanted and self._down:
                self._down = False
                soon(released)

        self._listener: Listener = keyboard.Listener(on_press=press, on_release=release)
        self._listener.start()

    def close(self) -> None:
        self._listener.stop()


def _may_listen() -> None:
    """Raises NoHotkey on a desktop that would never tell us."""
    if sys.platform == "linux" and os.environ.get("WAYLAND_DISPLAY"):
        raise NoHotkey(
            "Wayland does not tell programs of keys that are pressed elsewhere: leave --hotkey out "
            "and press space here, or use --hands-free."
        )
