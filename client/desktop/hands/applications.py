"""The applications of this desktop that can be opened by name, as their desktop files say."""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from configparser import ConfigParser, Error
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.client.desktop.errors import Refused

_FIELDS: Final = re.compile(r"%[a-zA-Z]")
_NEVER: Final = ("TerminalEmulator", "Settings", "PackageManager")
MOST: Final = 400


@dataclass(frozen=True, slots=True)
class Application:
    """One that can be started."""

    id: str
    """The name of its desktop file."""
    name: str
    command: tuple[str, ...]
    app: str
    """What its windows call themselves, as far as its file tells."""
    terminal: bool


def applications() -> list[Application]:
    """Those that are shown to people, but for terminals and the system's settings."""
    found: dict[str, Application] = {}
    for folder in _folders():
        for path in sorted(folder.glob("*.desktop"))[:MOST]:
            if path.stem not in found and (application := _read(path)):
                found[path.stem] = application
    return list(found.values())


def find(name: str) -> Application:
    """The one that is meant. Raises Refused where that is none, or not clear."""
    wanted = name.strip().lower()
    known = applications()
    exact = [one for one in known if wanted in (one.id.lower(), one.name.lower(), one.app)]
    near = exact or [one for one in known if wanted and wanted in one.name.lower()]
    if len(near) > 1:
        raise Refused(f"Several are called so: {', '.join(one.name for one in near[:8])}.")
    if not near:
        raise Refused(f"No application here is called {name!r}.")
    if near[0].terminal:
        raise Refused("Terminals and the system's settings are out of reach.")
    return near[0]


def start(application: Application) -> int:
    """Start it, apart from us; returns its process."""
    try:
        process = subprocess.Popen(
            application.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd=Path.home(),
        )
    except OSError as problem:
        raise Refused(f"{application.name} can't be started: {problem}") from problem
    return process.pid


def _folders() -> Iterator[Path]:
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local/share")
    for folder in (
        data,
        *os.environ.get("XDG_DATA_DIRS", "/usr/local/share:/usr/share").split(":"),
    ):
        if folder:
            yield Path(folder) / "applications"


def _read(path: Path) -> Application | None:
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(path, encoding="utf-8")
        entry = parser["Desktop Entry"]
        command = [
            part for part in shlex.split(entry.get("Exec", "")) if not _FIELDS.fullmatch(part)
        ]
    except (Error, KeyError, ValueError, OSError):
        return None
    if entry.get("Type") != "Application" or entry.get("NoDisplay") == "true" or not command:
        return None
    kinds = entry.get("Categories", "").split(";")
    closed = entry.get("Terminal", "false") == "true" or any(each in kinds for each in _NEVER)
    app = entry.get("StartupWMClass") or Path(command[0]).name
    return Application(path.stem, entry.get("Name", path.stem), tuple(command), app.lower(), closed)
