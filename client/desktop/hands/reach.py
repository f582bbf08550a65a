"""Which windows are out of reach at this screen, whatever a server asks for.

Terminals, because what is typed there is code that no sandbox holds; launchers and what asks for
passwords; and all that Sayso's own questions could be answered in: the terminal that this client
runs in, and pages of its server. A name can be chosen by anybody, so a terminal is known by what it
has open: the other end of a console.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from sayso.client.desktop.x11.windows import Window
from sayso.protocol.home import DEFAULT_NETWORK_PORT, DEFAULT_PORT, DEFAULT_TRUST_PORT

_TERMINAL: Final = "terminals are out of reach: what is typed there is code without a sandbox"
_CLASSES: Final = (
    (
        re.compile(
            r"term(inal)?\b|xterm|konsole|kitty|alacritty|tilix|guake|yakuake|wezterm|"
            r"\bfoot(client)?\b"
        ),
        _TERMINAL,
    ),
    (
        re.compile(r"rofi|dmenu|krunner|ulauncher|albert|synapse|xfrun|gmrun|xfce4-appfinder"),
        "launchers are out of reach",
    ),
    (
        re.compile(r"keepass|bitwarden|1password|seahorse|kwallet|secrets|enpass|gnome-keyring"),
        "password managers are out of reach",
    ),
    (
        re.compile(r"polkit|pinentry|ssh-askpass|xdg-desktop-portal|gcr-prompter|ksshaskpass|sudo"),
        "what asks for passwords or permissions is the person's alone",
    ),
    (
        re.compile(
            r"xscreensaver|i3lock|slock|xlock|gnome-screensaver|light-locker|xsecurelock|greeter"
        ),
        "the screen is locked",
    ),
    (
        re.compile(r"gnome-control-center|systemsettings|xfce4-settings|lxappearance|obconf"),
        "the system's settings are out of reach",
    ),
)
_BROWSERS: Final = re.compile(
    r"chrom(e|ium)|firefox|librewolf|brave|vivaldi|opera|msedge|microsoft-edge|epiphany|falkon|"
    r"qutebrowser|midori|konqueror|navigator|waterfox|floorp|zen-browser|\bmin\b|nyxt|tor ?browser|"
    r"pale ?moon|seamonkey|icecat|iceweasel|basilisk|mullvad|yandex|thorium|\botter|\biridium|"
    r"\bhelium|\bsurf\b|netsurf|dillo|luakit|vimb|eolie|ladybird"
)
_USUAL_PORTS: Final = (DEFAULT_PORT, DEFAULT_NETWORK_PORT, DEFAULT_TRUST_PORT)
_OWN_TITLE: Final = re.compile(r"(\(\d+\) )?Sayso")
"""With the number of what is unseen in it."""
_OWN_PAGE: Final = "it shows a page of Sayso's own server"
_OPEN_SCHEMES: Final = ("http", "https")
_MOST_DESCENDANTS: Final = 512
_MOST_ANCESTORS: Final = 64
_NOT_NAMED: Final = "it is not clear which program that window is of"


@dataclass(frozen=True, slots=True)
class Own:
    """What is Sayso's own at this screen."""

    pid: int
    """A process of this client's; its ancestors include the terminal that it runs in."""
    server: str = ""
    """The address of its server."""


class Reach:
    """Decides over windows, one look at a time."""

    def __init__(self, own: Own, never: Iterable[str] = ()) -> None:
        self._own = own
        self._never = frozenset(never)
        self._ports = {urlsplit(own.server).port, *_USUAL_PORTS}
        self._ours = {own.pid, *ancestors(own.pid)}

    def hindrance(self, window: Window) -> str:
        """Why nothing is done or seen in a window, as a clause; empty if it may be."""
        if not window.pid or not window.program:
            return _NOT_NAMED
        if window.pid in self._ours:
            return "it is the window in which Sayso itself runs"
        return self.name_hindrance(window) or (_TERMINAL if is_terminal(window.pid) else "")

    def name_hindrance(self, window: Window) -> str:
        """The same, as far as names tell: of what is not running yet."""
        names = f"{window.app} {window.program}".lower()
        if any(each in (window.app, window.program.lower()) for each in self._never):
            return f"{window.app} is out of reach here, as its owner said"
        for named, why in _CLASSES:
            if named.search(names):
                return why
        return ""

    def is_browser(self, window: Window) -> bool:
        """Whether pages are shown in it."""
        return bool(_BROWSERS.search(f"{window.app} {window.program}".lower()))

    def page_hindrance(self, address: str, title: str = "") -> str:
        """Why nothing is done in a browser that shows this page; empty if it may be."""
        if why := self.own_page(address, title):
            return why
        parts = urlsplit(address)
        if parts.scheme in ("about", "file", "data"):
            return ""
        if parts.scheme not in _OPEN_SCHEMES:
            return "it shows a page of the browser's own"
        return ""

    def own_page(self, address: str, title: str = "") -> str:
        """Why nothing is done where a page may be one of Sayso's, whatever program shows it; empty
        if it is none."""
        if _OWN_TITLE.fullmatch(title.strip()):  # whatever port leads to it
            return _OWN_PAGE
        try:
            parts = urlsplit(address)
            port = parts.port or 0
        except ValueError:
            return "its page has no address that could be read"
        return _OWN_PAGE if parts.scheme in _OPEN_SCHEMES and port in self._ports else ""


def ancestors(pid: int) -> Iterator[int]:
    """The processes that a process was started by, but for the first of all."""
    for _ in range(_MOST_ANCESTORS):
        pid = _parent(pid)
        if pid <= 1:
            return
        yield pid


def is_terminal(pid: int) -> bool:
    """Whether a process, or one below it, holds the other end of a console."""
    return any(_holds_console(each) for each in (pid, *_descendants(pid)))


def _holds_console(pid: int) -> bool:
    try:
        with os.scandir(f"/proc/{pid}/fd") as open_:
            return any(_is_console(each.path) for each in open_)
    except PermissionError:
        return True  # nobody can tell, so it is closed
    except OSError:
        return False  # it has ended


def _is_console(path: str) -> bool:
    try:
        return Path(path).readlink().name == "ptmx"
    except OSError:
        return False


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    waiting = [pid]
    while waiting and len(found) < _MOST_DESCENDANTS:
        one = waiting.pop()
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                children = [int(each) for each in task.read_text().split()]
            except (OSError, ValueError):
                continue
            found += children
            waiting += children
    return found
