"""The `sayso-sim` command: a device in software, set up, used and broken from a terminal."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from sayso.audio.errors import AudioError
from sayso.audio.wav import Writer
from sayso.firmware_sim.faults import WrongFault, parse
from sayso.firmware_sim.fleet import Fleet, run_fleet
from sayso.firmware_sim.hardware.board import Board, read_question
from sayso.firmware_sim.hardware.led import LIGHTS, Light, State
from sayso.firmware_sim.hardware.nvs import Nvs, Stored
from sayso.firmware_sim.program.device import Device
from sayso.firmware_sim.program.portal import Portal
from sayso.firmware_sim.program.setup import Setup
from sayso.firmware_sim.scene import Report, Scene
from sayso.protocol.errors import HomeError
from sayso.protocol.home import DEFAULT_HOST, DEFAULT_PORT, WEBSOCKET_PATH, Home, read_token

HERE = f"ws://{DEFAULT_HOST}:{DEFAULT_PORT}{WEBSOCKET_PATH}"
PORTAL_PORT = 8780
MOST_DEVICES = 1_000
"""In one process; what a server takes at most."""
BRIGHTER = 3
"""A light that is bright enough in a room is dark on a screen."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 if all went well."""
    options = parser().parse_args(arguments)
    try:
        return asyncio.run(_run(options) if options.verb == "run" else _set_up(options))
    except (AudioError, HomeError, WrongFault, OSError) as problem:
        print(f"sayso-sim: {problem}", file=sys.stderr)  # noqa: T201 (what a command says)
        return 1
    except KeyboardInterrupt:
        return 130


async def _set_up(options: argparse.Namespace) -> int:
    nvs = Nvs(options.nvs)
    if options.reset:
        nvs.erase()
    stored = await _through_portal(nvs, options)
    _say(f"{stored.name} is set up for {stored.server}.")
    return 0


async def _run(options: argparse.Namespace) -> int:
    stored = await _identity(options)
    say = read_question(options.say) if options.say else b""
    faults = parse(options.fault)
    if options.fleet > 1:
        devices = min(options.fleet, MOST_DEVICES)
        talking = min(options.talking, devices) if say else 0
        fleet = Fleet(devices, talking, say, options.limit, tuple(options.conversation))
        result = await run_fleet(stored, fleet)
        _say(result.summary)
        return 0 if result.is_good else 1
    with ExitStack() as stack:
        speaker = stack.enter_context(Writer(options.hear)) if options.hear else None
        nvs = Nvs(options.nvs) if options.nvs else None
        watch = Screen().show
        board = Board(stored, Scene(say), faults=faults, speaker=speaker, watch=watch, nvs=nvs)
        report = await board.run(options.limit)
    _say(_summary(report))
    if report.erased:
        _say("The device is factory-fresh again: start it once more to set it up.")
        return 0
    answered = report.answers > 0 or not say
    return 0 if answered and not report.failure else 1


async def _identity(options: argparse.Namespace) -> Stored:
    """What the device was told; or, beside its server, this machine's own token."""
    if options.nvs:
        nvs = Nvs(options.nvs)
        stored = nvs.load()
        return stored if stored.is_set_up else await _through_portal(nvs, options)
    token = read_token(Home.find())
    if token is None:
        raise HomeError("No server has run here yet: start one with `sayso serve`.")
    return Stored(name="simulated device", server=options.server, token=token)


async def _through_portal(nvs: Nvs, options: argparse.Namespace) -> Stored:
    networks = dict(_network(text) for text in options.network or ["home:"])
    portal = Portal(nvs, Setup(networks))
    port = await portal.open(options.portal_port)
    _say(f"The device waits to be set up at http://127.0.0.1:{port}/")
    Screen().tell(0.0, "portal")
    try:
        return await portal.set_up()
    finally:
        await portal.close()


def _network(text: str) -> tuple[str, str]:
    name, _, password = text.partition(":")
    return name, password


class Screen:
    """One line for each change of the device's state, with its light in its colour."""

    def __init__(self) -> None:
        self._shown = ""
        self._colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def show(self, elapsed: float, device: Device) -> None:
        self.tell(elapsed, device.state, device.trouble)

    def tell(self, elapsed: float, state: State, trouble: str = "") -> None:
        light = LIGHTS[state]
        line = f"{state:12} light {light.name} {light.way}  {trouble}".rstrip()
        if line != self._shown:
            self._shown = line
            _say(f"{elapsed:7.2f} s  {self._lamp(light)}{line}")

    def _lamp(self, light: Light) -> str:
        if not self._colours:
            return ""
        red, green, blue = (
            min(255, BRIGHTER * part) for part in (light.red, light.green, light.blue)
        )
        return f"\033[38;2;{red};{green};{blue}m●\033[0m "


def _summary(report: Report) -> str:
    heard = " / ".join(filter(None, report.heard)) or "nothing"
    lines = [
        f"The server understood: {heard}",
        f"answers {report.answers}, gaps {report.gaps}, overflows {report.overflows}",
        f"cuts {report.cuts}, reboots {report.reboots} ({report.watchdog_bites} by the watchdog)",
        f"memory: capture {report.most_capture_bytes} bytes, playback {report.most_play_bytes}",
    ]
    return "\n".join([*lines, report.failure]).rstrip()


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 (what a command says)


def parser() -> argparse.ArgumentParser:
    """What can be typed."""
    command = argparse.ArgumentParser(
        prog="sayso-sim", description="An ESP32-class Sayso device, in software."
    )
    verbs = command.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="press the button, say a file, hear the answer")
    run.add_argument("--say", type=Path, metavar="WAV", help="what is said into the microphone")
    run.add_argument("--hear", type=Path, metavar="WAV", help="where the loudspeaker's sound goes")
    run.add_argument("--server", default=HERE, help=f"the server's socket (default: {HERE})")
    run.add_argument("--fault", default="", help="for example drop@2.5s,stall@4s,reboot@6s")
    run.add_argument("--fleet", type=int, default=1, metavar="N", help="as many devices at once")
    run.add_argument("--talking", type=int, default=1, metavar="N", help="how many of them talk")
    run.add_argument(
        "--conversation",
        action="append",
        default=[],
        metavar="NAME",
        help="where it talks (default: its own, or this machine's latest); several are shared out",
    )
    run.add_argument("--limit", type=float, default=60.0, help="seconds, then it ends")
    setup = verbs.add_parser("setup", help="open the captive portal and wait to be set up")
    setup.add_argument("--reset", action="store_true", help="factory-fresh first")
    for verb in (run, setup):
        verb.add_argument(
            "--nvs",
            type=Path,
            metavar="FILE",
            required=verb is setup,
            help="the device's flash memory; a fresh one opens the portal",
        )
        verb.add_argument("--portal-port", type=int, default=PORTAL_PORT, metavar="PORT")
        verb.add_argument(
            "--network", action="append", metavar="NAME:PASSWORD", help="a network in the air"
        )
    return command
