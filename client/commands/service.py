"""`sayso service`: Sayso listens in the background of this desktop, from login on.

    sayso service install --wake "okay nabu"   begins now, and at every login
    sayso service status
    sayso service uninstall

On Linux it is a unit of the person's own systemd, on macOS an agent of launchd. What must be seen
(a question for approval, a reminder) comes as a notification of the desktop.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from sayso.audio.errors import AudioError
from sayso.client.background import UNIT, launchd_list, service_file, systemd_unit
from sayso.client.errors import ClientError
from sayso.client.hands_free import NO_WORD
from sayso.client.hands_free_options import add_hands_free
from sayso.client.options import add_server

CONTROL_SECONDS = 20.0
"""For systemctl or launchctl to answer; a start takes them a second."""


class NoService(ClientError):
    """The service can't be installed, asked or removed. The sentence says what to do."""


class Service:
    """See the module."""

    summary = "let Sayso listen in the background of this desktop"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("verb", choices=("install", "status", "uninstall"))
        add_server(parser)
        add_hands_free(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        path = service_file(Path.home(), _config())
        match arguments.verb:
            case "install":
                return _install(path, arguments)
            case "uninstall":
                return _uninstall(path)
            case _:
                return _status(path)


def _install(path: Path, arguments: argparse.Namespace) -> int:
    if arguments.wake != NO_WORD:
        from sayso.audio.wake import find_wake_word

        try:
            find_wake_word(arguments.wake)
        except AudioError as error:
            raise NoService(str(error)) from error
    talk = ["talk", "--hands-free", "--background", "--server", arguments.server]
    choices = ["--wake", arguments.wake, "--echo", arguments.echo]
    command = [sys.executable, "-m", "sayso.client.command", *talk, *choices]
    make = launchd_list if sys.platform == "darwin" else systemd_unit
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make(command, os.environ), encoding="utf-8")
    except OSError as error:
        raise NoService(f"{path} cannot be written: {error.strerror}.") from error
    if sys.platform == "darwin":
        _control("launchctl", "bootout", _domain(), str(path), must=False)
        _control("launchctl", "bootstrap", _domain(), str(path))
    else:
        _control("systemctl", "--user", "daemon-reload")
        _control("systemctl", "--user", "enable", UNIT)
        _control("systemctl", "--user", "restart", UNIT)
    print(f"Sayso listens in the background now, and after each login ({path}).")
    return 0


def _status(path: Path) -> int:
    if not path.exists():
        print("Sayso does not listen in the background: `sayso service install` changes that.")
        return 1
    if sys.platform == "darwin":
        runs = _control("launchctl", "print", f"{_domain()}/{path.stem}", must=False)
    else:
        runs = _control("systemctl", "--user", "is-active", "--quiet", UNIT, must=False)
    if runs:
        print("Sayso listens in the background.")
        return 0
    log = "" if sys.platform == "darwin" else f": `journalctl --user -u {UNIT}` tells why"
    print(f"The service is installed, but does not run{log}.")
    return 1


def _uninstall(path: Path) -> int:
    if not path.exists():
        print("There is no service to remove.")
        return 0
    if sys.platform == "darwin":
        _control("launchctl", "bootout", _domain(), str(path), must=False)
    else:
        _control("systemctl", "--user", "disable", "--now", UNIT, must=False)
    try:
        path.unlink()
    except OSError as error:
        raise NoService(f"{path} cannot be removed: {error.strerror}.") from error
    if sys.platform != "darwin":
        _control("systemctl", "--user", "daemon-reload", must=False)
    print("Sayso listens in the background no more.")
    return 0


def _control(*command: str, must: bool = True) -> bool:
    """Asks the system's manager of services. False: it said no."""
    program = shutil.which(command[0])
    if program is None:
        if not must:
            return False
        raise NoService(
            f"There is no {command[0]} here to run a service with: "
            "start `sayso talk --hands-free --background` with your desktop's own autostart."
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


def _config() -> Path:
    given = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return given if given.is_absolute() else Path.home() / ".config"


def _domain() -> str:
    return f"gui/{os.getuid()}"


command = Service()
