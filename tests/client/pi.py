"""A Raspberry Pi for tests: `sayso` with gpiozero's pretended pins, pressed and watched over pipes.

    python -m tests.client.pi talk --headless --button gpio:17 --led gpio:18

reads `down 17` and `up 17`, and writes `pin 18 0.3` whenever a light changes.
"""

import contextlib
import sys
import threading

from gpiozero import Device
from gpiozero.pins.mock import MockFactory, MockPWMPin

from sayso.client.command import main


class WatchedPin(MockPWMPin):
    """Tells what is seen from outside."""

    def _change_state(self, value: float) -> bool:
        changed = bool(super()._change_state(value))
        if changed and self.function == "output":
            sys.stdout.write(f"pin {self.info.name.removeprefix('GPIO')} {round(value, 2):g}\n")
            sys.stdout.flush()
        return changed


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
