"""Installs, queries and removes services: by systemd (of the user or the system) or launchd."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Protocol

from sayso.client.background.service_files import HEADLESS_UNIT, LABEL, UNIT
from sayso.client.errors import ClientError

CONTROL_SECONDS = 60.0
"""For systemctl or launchctl to answer, which takes them a second, and for a person to type the
password that sudo asks for."""


class NoService(ClientError):
    """The service can't be installed, asked or removed. The sentence says what to do."""


class Manager(Protocol):
    """Keeps one service, which is described by one file."""

    path: Path
    log: str
    """The command that shows what the service wrote. Empty: there is none."""

    def install(self, text: str) -> None:
        """Describes the service so, starts it, and lets it start by itself. Raises NoService."""
        ...

    def runs(self) -> bool: ...

    def remove(self) -> None:
        """Ends the service, and forgets it. Raises NoService."""
        ...

    def signal(self, name: str) -> None:
        """Sends it a signal, like USR1. Raises NoService."""
        ...


class OwnSystemd:
    """A unit of the person's: no root is needed."""

    def __init__(self) -> None:
        self.path = _config() / "systemd" / "user" / UNIT
        self.log = f"journalctl --user -u {UNIT}"

    def install(self, text: str) -> None:
        _write(self.path, text)
        control("systemctl", "--user", "daemon-reload")
        control("systemctl", "--user", "enable", UNIT)
        control("systemctl", "--user", "restart", UNIT)

    def runs(self) -> bool:
        return control("systemctl", "--user", "is-active", "--quiet", UNIT, must=False)

    def remove(self) -> None:
        control("systemctl", "--user", "disable", "--now", UNIT, must=False)
        _remove(self.path)
        control("systemctl", "--user", "daemon-reload", must=False)

    def signal(self, name: str) -> None:
        control("systemctl", "--user", "kill", f"--signal={name}", "--kill-who=main", UNIT)


class MachineSystemd:
    """A unit of the machine's: it starts with the power. What needs root is done by sudo."""

    def __init__(self, folder: Path = Path("/etc/systemd/system")) -> None:
        self.path = folder / HEADLESS_UNIT
        self.log = f"journalctl -u {HEADLESS_UNIT}"

    @property
    def user(self) -> str:
        """As whom it is to run."""
        return pwd.getpwuid(os.getuid()).pw_name

    def install(self, text: str) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".service", encoding="utf-8") as draft:
            draft.write(text)
            draft.flush()
            self._control("install", "-m", "644", draft.name, str(self.path))
        self._control("systemctl", "daemon-reload")
        self._control("systemctl", "enable", HEADLESS_UNIT)
        self._control("systemctl", "restart", HEADLESS_UNIT)

    def runs(self) -> bool:
        return control("systemctl", "is-active", "--quiet", HEADLESS_UNIT, must=False)

    def remove(self) -> None:
        self._control("systemctl", "disable", "--now", HEADLESS_UNIT, must=False)
        self._control("rm", str(self.path))
        self._control("systemctl", "daemon-reload", must=False)

    def signal(self, name: str) -> None:
        self._control("systemctl", "kill", f"--signal={name}", "--kill-who=main", HEADLESS_UNIT)

    def _control(self, *command: str, must: bool = True) -> None:
        control(*(("sudo",) if os.geteuid() else ()), *command, must=must)


class Launchd:
    """An agent of the person's on macOS."""

    def __init__(self) -> None:
        self.path = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        self.log = ""
        self._domain = f"gui/{os.getuid()}"

    def install(self, text: str) -> None:
        _write(self.path, text)
        control("launchctl", "bootout", self._domain, str(self.path), must=False)
        control("launchctl", "bootstrap", self._domain, str(self.path))

    def runs(self) -> bool:
        return control("launchctl", "print", f"{self._domain}/{LABEL}", must=False)

    def remove(self) -> None:
        control("launchctl", "bootout", self._domain, str(self.path), must=False)
        _remove(self.path)

    def signal(self, name: str) -> None:
        control("launchctl", "kill", f"SIG{name}", f"{self._domain}/{LABEL}")


def own() -> Manager:
    """This person's."""
    return Launchd() if sys.platform == "darwin" else OwnSystemd()


def control(*command: str, must: bool = True) -> bool:
    """Asks the system. False: it said no; with `must` that is a NoService."""
    program = shutil.which(command[0])
    if program is None:
        if not must:
            return False
        raise NoService(
            f"There is no {command[0]} here to run a service with: start the same `sayso talk` "
            "with whatever starts programs on this machine."
        )
    try:
        done = subprocess.run(
            [program, *command[1:]],
            capture_output=True,
            text=True,
            timeout=CONTROL_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise NoService(f"{command[0]} does not answer: try again.") from error
    if done.returncode and must:
        said = (done.stderr or done.stdout).strip().splitlines() or ["it said no"]
        raise NoService(f"{' '.join(command[:3])} failed: {said[-1].rstrip('.')}.")
    return done.returncode == 0


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NoService(f"{path} cannot be written: {error.strerror}.") from error


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise NoService(f"{path} cannot be removed: {error.strerror}.") from error


def _config() -> Path:
    given = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return given if given.is_absolute() else Path.home() / ".config"
