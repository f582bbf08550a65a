"""A desktop made of software: an X server, a window manager, a session bus, and real programs."""

import contextlib
import json
import os
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sayso.client.desktop.process import DesktopProcess, Told
from sayso.client.desktop.x11.connection import Connection
from sayso.client.desktop.x11.windows import Windows
from tests.machine import lacking, needed

SOON_S = 20.0
SYSTEM_PYTHON = "/usr/bin/python3"
HERE = Path(__file__).parent
SERVER = "ws://127.0.0.1:8765/ws"


@dataclass
class Desktop:
    """One that runs."""

    display: str
    environment: dict[str, str]
    folder: Path
    outer: str = ""
    """With a hand: the display whose keys and pointer are physical here."""
    _stack: ExitStack = field(default_factory=ExitStack)

    def start(self, *command: str, **variables: str) -> "subprocess.Popen[bytes]":
        """A program, until the desktop ends."""
        process = subprocess.Popen(
            command,
            env=self.environment | variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._stack.callback(_ended, process)
        return process

    def open_gtk(self, title: str = "Fixture", *place: int) -> "App":
        """A window that writes down what happens in it."""
        state = self.folder / f"{title}.json"
        state.unlink(missing_ok=True)
        process = self.start(
            SYSTEM_PYTHON, str(HERE / "gtk_app.py"), str(state), title, *map(str, place)
        )
        app = App(title, state, process)
        self.shows(title)
        until(lambda: bool(app.state), f"{title} is open")
        return app

    def titles(self) -> list[str]:
        """Of all windows."""
        connection = Connection(self.display)
        titles = [window.title for window in Windows(connection).all()]
        connection.close()
        return titles

    def shows(self, title: str, seconds: float = SOON_S) -> None:
        """Return once a window has this title."""
        until(lambda: title in self.titles(), f"{title} is shown", seconds)


@dataclass
class App:
    """A window in GTK."""

    title: str
    _state: Path
    process: "subprocess.Popen[bytes]"

    @property
    def state(self) -> dict[str, Any]:
        try:
            read: dict[str, Any] = json.loads(self._state.read_text())
        except (OSError, ValueError):
            return {}
        return read

    def close(self) -> None:
        _ended(self.process)


def until(is_so: Callable[[], bool], what: str, seconds: float = SOON_S) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"in vain: {what}"
        time.sleep(0.02)


def system_has(module: str, package: str) -> None:
    """Leave the test out where the system's Python lacks a module."""
    code = "import gi; gi.require_version('Gtk', '3.0'); from gi.repository import Gtk"
    code = code if module == "gtk" else f"import {module}"
    if subprocess.run([SYSTEM_PYTHON, "-c", code], capture_output=True, check=False).returncode:
        lacking(f"{module} is missing: sudo apt install {package}")


@contextmanager
def x_server(*more: str, **environment: str) -> Iterator[str]:
    """An X server without a screen; its display."""
    reading, writing = os.pipe()
    command = more or (needed("Xvfb", "xvfb"), "-screen", "0", "1280x800x24")
    server = subprocess.Popen(
        [*command, "-displayfd", str(writing), "-nolisten", "tcp"],
        pass_fds=[writing],
        env=dict(os.environ) | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def desktop(folder: Path, *, hand: bool = False) -> Iterator[Desktop]:
    """A desktop; `hand`: inside of another display, so that there are physical keys."""
    manager = needed("openbox")
    dbus = needed("dbus-daemon", "dbus")
    if not Path("/usr/libexec/at-spi-bus-launcher").exists():
        lacking("at-spi2-core is missing: sudo apt install at-spi2-core")
    with ExitStack() as stack:
        outer = ""
        display = stack.enter_context(x_server())
        if hand:
            outer = display
            nested = (needed("Xephyr", "xserver-xephyr"), "-screen", "1200x780")
            display = stack.enter_context(x_server(*nested, DISPLAY=outer))
        own = {
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_RUNTIME_DIR": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
        }
        bus = subprocess.Popen(
            [dbus, "--session", "--nofork", "--print-address=1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ) | {"DISPLAY": display} | own,
            start_new_session=True,
        )
        stack.callback(_ended, bus)
        assert bus.stdout
        with bus.stdout:
            address = bus.stdout.readline().decode().strip()
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("WAYLAND", "AT_SPI", "GTK_", "SAYSO"))
        }
        environment |= own | {
            "DISPLAY": display,
            "DBUS_SESSION_BUS_ADDRESS": address,
            "LANG": "C.UTF-8",
            "GTK_MODULES": "gail:atk-bridge",
            "QT_ACCESSIBILITY": "1",
            "NO_AT_BRIDGE": "0",
        }
        if os.environ.get("SAYSO_HOME"):
            environment["SAYSO_HOME"] = os.environ["SAYSO_HOME"]
        running = Desktop(display, environment, folder, outer)
        with running._stack:
            running.start(manager)
            yield running


@dataclass
class Hands:
    """The process at a screen, as a client has it."""

    process: DesktopProcess
    apps: tuple[str, ...] = ("fixture",)
    turn: int = 1

    async def __call__(self, method: str, **args: object) -> Told:
        given = {"apps": list(self.apps), **args}
        return await self.process.ask(f"desktop.{method}", given, (self.turn, 0))

    async def act(self, do: str, **args: object) -> Told:
        return await self("act", do=do, **args)

    async def view(self, **args: object) -> str:
        return str((await self("look", **args)).message["data"].get("text", ""))


@contextlib.asynccontextmanager
async def hands(
    here: Desktop,
    monkeypatch: pytest.MonkeyPatch,
    apps: tuple[str, ...] = ("fixture",),
    server: str = SERVER,
) -> AsyncIterator[Hands]:
    """The process, at this desktop, as its owner allowed."""
    for name in ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, here.environment[name])
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    process = DesktopProcess(server)
    try:
        yield Hands(process, apps)
    finally:
        await process.close()


def _ended(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def effect(told: Told) -> str:
    return str(told.message["effect"])


def problem(told: Told) -> str:
    return str(told.message["problem"])
