"""`sayso service`: Sayso listens in the background of this desktop, or on a screenless device.

    sayso service install --wake "okay nabu"   begins now, and at every login
    sayso service install --headless --button gpio:17 --led gpio:18
                                               begins now, and whenever the device has power
    sayso service status
    sayso service mute                         closes the microphone; unmute opens it again
    sayso service uninstall

On Linux it is a unit of systemd (the person's own; with --headless the machine's), on macOS an
agent of launchd. What must be seen on a desktop (a question for approval, a reminder) comes as a
notification.
"""

import argparse
import os
import sys

from sayso.audio.errors import AudioError
from sayso.client.background.companion import MUTE, MUTED, UNMUTE
from sayso.client.background.service_files import headless_unit, launchd_list, systemd_unit
from sayso.client.background.services import MachineSystemd, Manager, NoService, own
from sayso.client.headless.options import add_headless, check
from sayso.client.headless.pins import ONE_COLOUR, THREE_COLOURS, pins
from sayso.client.listening.hands_free import NO_WORD
from sayso.client.listening.options import add_hands_free
from sayso.client.options import add_server, default_server

LISTENING = ("wake", "follow_up", "echo")
"""Options of listening without a key, which the service is started with."""


class Service:
    """See the module."""

    summary = "let Sayso listen in the background of this desktop, or on a device without a screen"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("verb", choices=("install", "status", "mute", "unmute", "uninstall"))
        add_server(parser)
        parser.add_argument("--mic", metavar="NAME", default="", help="as of `sayso talk`")
        parser.add_argument("--speaker", metavar="NAME", default="", help="as of `sayso talk`")
        add_hands_free(parser)
        add_headless(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        match arguments.verb:
            case "install":
                return _install(arguments)
            case "uninstall":
                return _uninstall()
            case "mute" | "unmute" as verb:
                return _mute(on=verb == "mute")
            case _:
                return _status()


def _install(arguments: argparse.Namespace) -> int:
    if arguments.headless:
        return _install_headless(arguments)
    _find_wake_word(arguments)
    command = _talk("--hands-free", "--background", "--server", arguments.server)
    command += _given(arguments, *LISTENING, "mic", "speaker")
    make = launchd_list if sys.platform == "darwin" else systemd_unit
    manager = own()
    manager.install(make(command, os.environ))
    print(f"Sayso listens in the background now, and after each login ({manager.path}).")
    return 0


def _install_headless(arguments: argparse.Namespace) -> int:
    check(arguments)
    if sys.platform != "linux":
        raise NoService("A device without a screen needs Linux with systemd.")
    if arguments.button:
        pins(arguments.button, (ONE_COLOUR,))
    if arguments.led:
        pins(arguments.led, (ONE_COLOUR, THREE_COLOURS))
    command = _talk("--headless")
    command += _given(arguments, "button", "led", "announce", "mic", "speaker")
    if arguments.hands_free:
        _find_wake_word(arguments)
        command += ["--hands-free", *_given(arguments, *LISTENING)]
    if arguments.server != default_server():
        command += ["--server", arguments.server]
    manager = MachineSystemd()
    manager.install(headless_unit(command, os.environ, manager.user))
    print(
        f"Sayso runs now, and whenever this device has power ({manager.path}). "
        f"What troubles it: {manager.log}"
    )
    return 0


def _talk(*flags: str) -> list[str]:
    return [sys.executable, "-m", "sayso.client.command", "talk", *flags]


def _given(arguments: argparse.Namespace, *names: str) -> list[str]:
    """Options that are not empty, as they are written."""
    return [
        word
        for name in names
        if (value := getattr(arguments, name)) != ""
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]


def _find_wake_word(arguments: argparse.Namespace) -> None:
    if arguments.wake == NO_WORD:
        return
    from sayso.audio.wake_word import find_wake_word  # numpy

    try:
        find_wake_word(arguments.wake)
    except AudioError as error:
        raise NoService(str(error)) from error


def _installed() -> list[Manager]:
    return [manager for manager in (own(), MachineSystemd()) if manager.path.exists()]


def _status() -> int:
    installed = _installed()
    if not installed:
        print("Sayso does not listen in the background: `sayso service install` changes that.")
        return 1
    down = [manager for manager in installed if not manager.runs()]
    for manager in down:
        why = f": `{manager.log}` tells why" if manager.log else ""
        print(f"The service is installed ({manager.path}), but does not run{why}.")
    if not down:
        print("Sayso listens in the background.")
    return 1 if down else 0


def _mute(*, on: bool) -> int:
    installed = _installed()
    if not installed:
        raise NoService("There is no service here: `sayso service install` makes one.")
    for manager in installed:
        manager.signal((MUTE if on else UNMUTE).name.removeprefix("SIG"))
    print(MUTED if on else "The microphone is open again.")
    return 0


def _uninstall() -> int:
    installed = _installed()
    for manager in installed:
        manager.remove()
    print("Sayso listens in the background no more." if installed else "There is no service here.")
    return 0


command = Service()
