"""What the owner of this device lets Sayso do at its screen: nothing, until they say so here.

It is a file of this device and no setting of a server's: who has a server's token opens no screen.
"""

import json
import os
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from sayso.protocol.home import Home

NAME: Final = "desktop.json"
MOST_BYTES: Final = 16_384


@dataclass(frozen=True, slots=True)
class DesktopPermission:
    """What is allowed at this device."""

    look: bool = False
    act: bool = False
    clipboard: bool = False
    never: tuple[str, ...] = ()
    """Applications that are out of reach whatever anybody says."""


def permission_file(home: Home) -> Path:
    """Where it stands."""
    return home.config / NAME


def read_permission(home: Home) -> DesktopPermission:
    """What is allowed; nothing where there is no file, or one that others could have written."""
    try:
        handle = os.open(permission_file(home), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return DesktopPermission()
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        others = stat.S_IWGRP | stat.S_IWOTH
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
            return DesktopPermission()
        if about.st_mode & others:
            return DesktopPermission()
        try:
            read = json.loads(file.read(MOST_BYTES))
        except ValueError:
            return DesktopPermission()
    if not isinstance(read, dict):
        return DesktopPermission()
    never = read.get("never", [])
    return DesktopPermission(
        look=read.get("look") is True,
        act=read.get("act") is True,
        clipboard=read.get("clipboard") is True,
        never=tuple(str(each).lower() for each in never) if isinstance(never, list) else (),
    )


def write_permission(home: Home, permission: DesktopPermission) -> None:
    """Keep what is allowed from now on."""
    path = permission_file(home)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(unfinished, flags, 0o600), "w") as file:
        json.dump(asdict(permission), file)
    unfinished.replace(path)


def take_back(home: Home) -> None:
    """Allow nothing any more."""
    permission_file(home).unlink(missing_ok=True)
