"""Nothing approves itself: ways in which what Sayso does at a screen could say yes to Sayso."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sayso.client.desktop.accessibility.parts import Part
from sayso.client.desktop.errors import Refused
from sayso.client.desktop.hands.consequences import (
    chord_consequence,
    chord_hindrance,
    chord_keys,
    consequence,
)
from sayso.client.desktop.hands.reach import Own, Reach
from sayso.client.desktop.hands.screen import Screen as ScreenHere
from sayso.client.desktop.process import Told
from sayso.client.desktop.requests import SETTLES_S, DesktopRequests
from sayso.client.desktop.x11.connection import Connection
from sayso.client.desktop.x11.windows import Place, Window, Windows
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.session.session import NOT_YOURS, Session
from sayso.client.terminal.events import Notice
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import ActRequest, Approve, Conversation
from tests.client.desktop.rig import (
    HERE,
    SERVER,
    SYSTEM_PYTHON,
    Desktop,
    Hands,
    effect,
    hands,
    problem,
)
from tests.client.desktop.typing_errors import window_of

NOWHERE = Place(0, 0, 1, 1)


def window(app: str, program: str = "", pid: int = 1) -> Window:
    return Window(1, app, program or app, pid, "", NOWHERE, True, False)


@pytest.mark.parametrize(
    "app",
    [
        "xterm", "gnome-terminal-server", "konsole", "kitty", "alacritty", "foot", "tilix",
        "rofi", "dmenu", "krunner", "ulauncher", "xfce4-appfinder",
        "keepassxc", "bitwarden", "polkit-gnome-authentication-agent-1", "pinentry-gtk-2",
        "xdg-desktop-portal-gtk", "i3lock", "gnome-control-center", "systemsettings",
    ],
)  # fmt: skip
def test_what_is_a_way_around_is_out_of_reach_by_its_name_or_its_program(app: str) -> None:
    reach = Reach(Own(os.getpid(), SERVER))
    assert reach.name_hindrance(window(app))
    assert reach.name_hindrance(window("harmless", app))


def test_ones_own_window_and_what_has_no_owner_are_out_of_reach() -> None:
    reach = Reach(Own(os.getpid(), SERVER), ["thunderbird"])
    assert "Sayso itself" in reach.hindrance(window("editor", pid=os.getpid()))
    assert "Sayso itself" in reach.hindrance(window("editor", pid=os.getppid()))
    assert "not clear" in reach.hindrance(window("editor", pid=0))
    assert "owner said" in reach.hindrance(window("thunderbird", pid=2))


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8765/", "http://localhost:8765/x", "https://house.lan:8766/",
        "chrome://settings", "devtools://devtools/x", "javascript:1", "", "http://[",
    ],
)  # fmt: skip
def test_pages_of_sayso_and_of_the_browser_itself_are_out_of_reach(address: str) -> None:
    reach = Reach(Own(os.getpid(), SERVER))
    assert reach.page_hindrance(address)
    assert not reach.page_hindrance("https://library.example/")
    assert reach.page_hindrance("https://house.example/", "Sayso")
    assert reach.page_hindrance("https://house.example/", "(12) Sayso")
    assert not reach.page_hindrance("https://house.example/", "Sayso, a review")


@pytest.mark.parametrize(
    "chord",
    [
        "super",
        "super+r",
        "alt+f2",
        "ctrl+alt+t",
        "alt+tab",
        "ctrl+escape",
        "win+x",
        "alt+f1",
        "shift+alt+tab",
        "alt+shift+tab",
        "ctrl+shift+esc",
        "t+alt+ctrl",
        "tab+enter",
        "option+f2",
    ],
)
def test_keys_of_the_desktop_are_never_pressed(chord: str) -> None:
    assert chord_hindrance(chord)
    assert not chord_hindrance("ctrl+s")
    assert not chord_hindrance("shift+alt+s")


@pytest.mark.parametrize(
    "chord",
    ["shift+enter", "enter+shift", "shift+space", "return + ctrl", "shift+ctrl+delete", "Shift+Del",
     "ctrl+shift+w", "shift+ctrl+q", "w+control", "alt+shift+f4"],
)  # fmt: skip
def test_keys_that_press_or_close_are_asked_about_in_any_order(chord: str) -> None:
    assert chord_consequence(chord)
    assert not chord_consequence("ctrl+s")
    assert not chord_consequence("enter")  # what that means is seen by what has it


def test_what_changes_other_keys_goes_down_before_them() -> None:
    assert chord_keys("S+Shift+control") == ("ctrl", "shift", "s")
    assert chord_keys("enter+enter+return") == ("enter",)


def test_buttons_that_say_yes_are_asked_about() -> None:
    for name in ("Allow", "Yes, delete", "_Send", "Approve", "Jetzt kaufen", "Installieren"):
        assert consequence("button", name)
    assert not consequence("button", "Show")


def test_a_button_is_read_as_a_person_reads_it() -> None:
    for name in ("De\u200blete", "\uff24elete", "\u2060Pa\u00ady", "S_e_n_d"):
        assert consequence("button", name)


@pytest.mark.parametrize(
    "app",
    ["palemoon", "pale moon", "seamonkey", "icecat", "mullvadbrowser", "yandex-browser", "thorium",
     "otter-browser", "iridium-browser", "helium", "surf", "dillo", "min", "firefox"],
)  # fmt: skip
def test_browsers_are_known_by_their_names_and_others_are_none(app: str) -> None:
    reach = Reach(Own(os.getpid(), SERVER))
    assert reach.is_browser(window(app))
    for other in ("pgadmin4", "gnome-mines", "admin", "surface"):
        assert not reach.is_browser(window(other))
    assert not reach.name_hindrance(window("footballmanager"))
    assert reach.name_hindrance(window("footclient"))


@pytest.mark.parametrize("address", ["http://127.0.0.1:8765/", "https://house.example/"])
def test_a_page_of_sayso_is_out_of_reach_in_any_program(address: str) -> None:
    part = Part(("a", "b"), ("", ""), "document", "(1) Sayso", 0, frozenset())
    other = replace(part, name="A letter")
    screen: Any = SimpleNamespace(
        reach=Reach(Own(os.getpid(), SERVER)), tree=SimpleNamespace(address=lambda _: address)
    )
    with pytest.raises(Refused, match="Sayso's own server"):
        ScreenHere.check_pages(screen, window("unheard-of"), [part])
    screen.tree.address = lambda _: "vscode-file://app/"
    ScreenHere.check_pages(screen, window("unheard-of"), [other])
    ScreenHere.check_pages(screen, window("unheard-of"), [])
    with pytest.raises(Refused, match="own"):
        ScreenHere.check_pages(screen, window("firefox"), [other])


class SlowScreen:
    """Acts until it is told to be done."""

    def __init__(self) -> None:
        self.done = asyncio.Event()
        self.stops: list[object] = []
        self.attempts: list[object] = []

    async def ask(self, method: str, args: dict[str, Any], attempt: tuple[int, ...]) -> Told:
        self.attempts.append(attempt)
        await self.done.wait()
        return Told({"effect": "confirmed"})

    def stop(self, attempt: tuple[int, ...] | None = None) -> None:
        self.stops.append(attempt)
        self.done.set()

    async def close(self) -> None:
        pass


class Line:
    def __init__(self) -> None:
        self.sent: list[object] = []
        self._more = asyncio.Event()

    async def until(self, count: int) -> None:
        while len(self.sent) < count:
            self._more.clear()
            await self._more.wait()

    def send(self, message: object) -> None:
        self.sent.append(message)
        self._more.set()

    def send_picture(self, stream: int, content: bytes) -> None:
        self.sent.append((stream, content))


class Screen:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def show(self, seen: object) -> None:
        self.seen.append(seen)


class Silence:
    """No loudspeaker is needed to be asked."""

    def start(self, *_: object) -> None: ...


async def test_no_yes_is_taken_while_sayso_types_nor_a_moment_later() -> None:
    now = [100.0]
    screen, line, process = Screen(), Line(), SlowScreen()
    asked: Any = process
    desktop = DesktopRequests(asked, line, lambda: now[0])
    link: Any = line
    speaker: Any = Silence()
    session = Session(link, speaker, screen, desktop=desktop)
    yes = Approve("q1", "n1", "yes")
    session.send(yes)
    assert line.sent == [yes]
    desktop.asked(ActRequest("a1", "desktop.act", 5.0, 1), (1, 0))
    await asyncio.sleep(0)
    session.send(yes)
    assert line.sent == [yes]
    assert Notice(NOT_YOURS) in screen.seen
    process.done.set()
    await line.until(2)
    session.send(yes)
    assert line.sent.count(yes) == 1
    now[0] += SETTLES_S + 0.01
    session.send(yes)
    assert line.sent.count(yes) == 2
    await desktop.close()


async def test_a_request_is_done_once_and_stops_with_its_attempt_and_the_line() -> None:
    line, process = Line(), SlowScreen()
    asked: Any = process
    desktop = DesktopRequests(asked, line)
    request = ActRequest("a1", "desktop.act", 5.0, 1)
    desktop.moved_on((1, 0))
    desktop.asked(request, (1, 0))
    desktop.asked(request, (1, 0))
    await asyncio.sleep(0)
    desktop.moved_on((1, 1))
    assert process.stops == [(0, 1, 0)]
    await line.until(1)
    await desktop.close()
    assert len(line.sent) == 1
    process.done.clear()
    desktop.asked(ActRequest("a2", "desktop.act", 5.0, 1), (1, 1))
    await asyncio.sleep(0)
    desktop.cut()
    assert process.stops[-1] is None
    await desktop.close()


async def test_in_another_conversation_nothing_of_the_last_one_goes_on() -> None:
    """Its turns are counted from the beginning."""
    screen, line, process = Screen(), Line(), SlowScreen()
    asked: Any = process
    link: Any = line
    speaker: Any = Silence()
    desktop = DesktopRequests(asked, line)
    session = Session(link, speaker, screen, desktop=desktop)
    request = ActRequest("a1", "desktop.act", 5.0, 1)
    session._take(Envelope(request, turn=57, gen=1))
    await asyncio.sleep(0)
    session._take(Envelope(Conversation("c2", ""), turn=1, gen=0))
    assert process.stops[0] == (0, 57, 1)
    await line.until(1)
    session._take(Envelope(replace(request, id="a2"), turn=2, gen=0))
    await asyncio.sleep(0)
    assert process.attempts == [(0, 57, 1), (1, 2, 0)]
    session._take(LinkChange(LinkState.UP, session="anew"))
    session._take(Envelope(replace(request, id="a3"), turn=1, gen=0))
    await asyncio.sleep(0)
    assert process.attempts[-1] == (2, 1, 0)
    await desktop.close()


@pytest.fixture
async def at(
    here: Desktop, allowed: object, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Hands]:
    async with hands(here, monkeypatch, ("fixture", "xterm")) as made:
        yield made


@pytest.mark.slow
async def test_a_terminal_under_another_name_is_known(here: Desktop, at: Hands) -> None:
    process = here.start(SYSTEM_PYTHON, str(HERE / "terminal_window.py"), "Harmless")
    here.shows("Harmless")
    for told in (
        await at("look", window="Harmless"),
        await at.act("write", text="y\n", window="Harmless"),
        await at.act("press", keys="enter", window="Harmless"),
        await at.act("click", target="x", window="Harmless"),
    ):
        assert effect(told) == "refused"
        assert "terminals are out of reach" in problem(told)
    process.terminate()
    process.wait()


@pytest.mark.slow
async def test_the_window_in_which_the_client_runs_is_out_of_reach(
    here: Desktop, allowed: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program with a window starts the process at the screen, as a terminal starts the client."""
    app = here.open_gtk("Started from")
    reach = Reach(Own(app.process.pid, SERVER))
    connection = Connection(here.display)
    mine = next(each for each in Windows(connection).all() if each.title == "Started from")
    assert "Sayso itself" in reach.hindrance(mine)
    other = Reach(Own(os.getpid(), SERVER))
    assert not other.hindrance(mine)
    connection.close()
    app.close()


@pytest.mark.slow
async def test_terminals_and_settings_are_not_opened(
    here: Desktop, at: Hands, tmp_path: Path
) -> None:
    folder = here.folder / "data" / "applications"
    folder.mkdir(parents=True, exist_ok=True)
    head = "[Desktop Entry]\nType=Application\n"
    for name, more in {
        "Shell": "Exec=sh\nTerminal=true\n",
        "Emulator": "Exec=harmless\nCategories=System;TerminalEmulator;\n",
        "Control": "Exec=gnome-control-center\nCategories=Settings;\n",
        "Hidden": "Exec=xterm\n",
    }.items():
        (folder / f"{name.lower()}.desktop").write_text(f"{head}Name={name}\n{more}")
    for name in ("Shell", "Emulator", "Control", "Hidden", "no such"):
        told = await at("open", app=name, approved=[name])
        assert effect(told) == "refused", name


@pytest.mark.thorough
@pytest.mark.browser
async def test_a_page_of_the_server_in_a_browser_is_out_of_reach(
    here: Desktop, allowed: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with window_of(here, "chromium") as page:
        server = f"ws://127.0.0.1:{page.port}/ws"
        async with hands(here, monkeypatch, ("chromium",), server) as at:
            text = page.state["text"]
            for told in (
                await at("look"),
                await at.act("write", text="y"),
                await at.act("press", keys="enter"),
                await at.act("click", target="Text"),
                await at.act("scroll", way="down"),
            ):
                assert effect(told) == "refused"
                assert "Sayso's own server" in problem(told)
            assert page.state["text"] == text
