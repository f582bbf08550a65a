"""`sayso devices`: which microphones and loudspeakers there are, and which are used.

    sayso devices                          what there is
    sayso devices --mic usb                use the microphone with "usb" in its name from now on
    sayso devices --speaker ""             use the system's own choice again

`--json` writes a list of objects with `direction` (input, output), `name`, `rate`, `channels`,
`default` (the system's own choice) and `used`.
"""

import argparse
import json

from sayso.audio.devices.sound_cards import Device, Direction, portaudio
from sayso.client.devices.device_choice import DeviceChoice, recall, remember
from sayso.client.options import prepare_logging
from sayso.client.terminal.tty import quiet
from sayso.protocol.home import Home

_HEADS: dict[Direction, str] = {"input": "Microphones", "output": "Loudspeakers"}


class Devices:
    """See the module."""

    summary = "list microphones and loudspeakers, and choose which are used"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        for flag, word in (("--mic", "microphone"), ("--speaker", "loudspeaker")):
            parser.add_argument(
                flag,
                metavar="NAME",
                help=f"from now on use the {word} with this in its name; empty: the default",
            )
        parser.add_argument("--json", action="store_true", help="write a list of objects")

    def run(self, arguments: argparse.Namespace) -> int:
        prepare_logging()
        home = Home.find()
        with quiet():
            cards = portaudio()
            for direction, wanted in (("input", arguments.mic), ("output", arguments.speaker)):
                if wanted:
                    cards.find("input" if direction == "input" else "output", wanted)
            devices = cards.devices()
        chosen = recall(home)
        if arguments.mic is not None or arguments.speaker is not None:
            chosen = remember(home, microphone=arguments.mic, loudspeaker=arguments.speaker)
        used = {direction: _used(devices, direction, chosen) for direction in _HEADS}
        if arguments.json:
            print(json.dumps([_described(device, used) for device in devices], indent=1))
        else:
            print("\n".join(_lines(devices, used, chosen)))
        return 0


def _used(devices: list[Device], direction: Direction, chosen: DeviceChoice) -> Device | None:
    wanted = chosen.microphone if direction == "input" else chosen.loudspeaker
    there = [device for device in devices if device.direction == direction]
    matching = [device for device in there if matches(device.name, wanted)]
    for candidates in (matching if wanted else [], [d for d in there if d.default], there):
        if candidates:
            return candidates[0]
    return None


def matches(name: str, wanted: str) -> bool:
    """All words of `wanted` are in the name."""
    return all(part in name.lower() for part in wanted.lower().split())


def _lines(
    devices: list[Device], used: dict[Direction, Device | None], chosen: DeviceChoice
) -> list[str]:
    lines = []
    for direction, head in _HEADS.items():
        there = [device for device in devices if device.direction == direction]
        lines.append(head if there else f"{head}: none; plug one in.")
        for device in there:
            mark = "*" if device is used[direction] else " "
            notes = f"{device.rate} Hz" + (", the system's choice" if device.default else "")
            lines.append(f"  {mark} {device.name}  ({notes})")
        wanted = chosen.microphone if direction == "input" else chosen.loudspeaker
        if wanted and not any(matches(device.name, wanted) for device in there):
            lines.append(f'    "{wanted}" was chosen, and is not there.')
    return [*lines, "* is used."] if any(used.values()) else lines


def _described(device: Device, used: dict[Direction, Device | None]) -> dict[str, object]:
    return {
        "direction": device.direction,
        "name": device.name,
        "rate": device.rate,
        "channels": device.channels,
        "default": device.default,
        "used": device is used[device.direction],
    }


command = Devices()
