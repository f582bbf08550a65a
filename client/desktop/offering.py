"""Whether this device offers its screen to the server, and why not."""

import os
import sys
from importlib.util import find_spec
from typing import Final

from sayso.client.desktop.permission import DesktopPermission, read_permission
from sayso.client.desktop.process import DesktopProcess
from sayso.client.desktop.requests import OFFERS, DesktopRequests, Line
from sayso.protocol.home import Home

PACKAGES: Final = {"Xlib": "python-xlib", "PIL": "pillow", "jeepney": "jeepney"}
"""What the extra `desktop` brings, as it is imported."""
_INSTALL: Final = "pip install 'sayso[desktop]'"
_OFF: Final = "It is off, until you allow it here: sayso desktop allow"


def screen_offers(home: Home) -> tuple[str, ...]:
    """The methods that the server may ask for; none where the owner allows none, or none works."""
    permission = read_permission(home)
    if hindrance(permission):
        return ()
    kept = {
        "desktop.windows": permission.look,
        "desktop.look": permission.look,
        "desktop.act": permission.look and permission.act,
        "desktop.open": permission.look and permission.act,
        "desktop.clipboard": permission.clipboard,
    }
    return tuple(name for name in OFFERS if kept[name])


def open_desktop(line: Line, server: str) -> DesktopRequests:
    """What does at this screen what the server asks for."""
    return DesktopRequests(DesktopProcess(server), line)


def hindrance(permission: DesktopPermission) -> str:
    """Why nothing is done at this screen, with what to do after a colon; empty if it may be."""
    if not (permission.look or permission.clipboard):
        return _OFF
    return unable()


def unable() -> str:
    """Why it could not be, whatever is allowed; empty if it could."""
    if sys.platform == "darwin":
        return "Screens of macOS are not worked at yet."
    missing = [name for module, name in PACKAGES.items() if find_spec(module) is None]
    if missing:
        return f"The package {missing[0]} is missing: {_INSTALL}"
    if os.environ.get("WAYLAND_DISPLAY"):
        return (
            "Wayland shows programs neither windows nor keys, so nothing is done at this screen:"
            " choose an X11 session at login"
        )
    if not os.environ.get("DISPLAY"):
        return "There is no screen here: start `sayso talk` in a terminal on the desktop"
    return ""
