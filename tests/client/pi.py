"""A Raspberry Pi for tests: `sayso` with gpiozero's pretended pins, pressed and watched over pipes.

    python -m tests.client.pi talk --headless --button gpio:17 --led gpio:18

reads `down 17` and `up 17`, and writes `pin 18 0.3` whenever a light changes.
"""

import contextlib
import sys
import threading
from typing import Protocol

from gpiozero import Device
from gpiozero.pins.mock import MockFactory, MockPWMPin

from sayso.client.command import main


class Name(Protocol):
    name: str


class Pin(Protocol):
    """What we need of gpiozero's."""

    function: str
    info: Name


def change_state(pin: Pin, value: float) -> bool:
    """Tells what is seen from outside."""
    changed = bool(MockPWMPin._change_state(pin, value))
    if changed and pin.function == "output":
        sys.stdout.write(f"pin {pin.info.name.removeprefix('GPIO')} {round(value, 2):g}\n")
        sys.stdout.flush()
    return changed


WatchedPin = type("WatchedPin", (MockPWMPin,), {"_change_state": change_state})


def press_what_is_told(factory: MockFactory) -> None:
    for line in sys.stdin:
        with contextlib.suppress(ValueError):
            what, number = line.split()
            pin = factory.pin(int(number))
            if what == "down":
                pin.drive_low()
            else:
                pin.drive_high()


if __name__ == "__main__":
    pins = MockFactory(pin_class=WatchedPin)
    Device.pin_factory = pins
    threading.Thread(target=press_what_is_told, args=(pins,), daemon=True).start()
    sys.exit(main(sys.argv[1:]))
