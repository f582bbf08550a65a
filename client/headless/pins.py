"""The button and the light at a Raspberry Pi's pins, by gpiozero.

    gpio:17          a button between pin 17 and ground; a light of one colour at pin 17
    gpio:17,27,22    a light of three colours: red, green, blue

Numbers are those of the chip ("BCM"), as `pinout` on the Pi shows them.
"""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Protocol
from warnings import catch_warnings, simplefilter

from sayso.client.errors import ClientError
from sayso.client.headless.lights import Look

HIGHEST_PIN = 27
"""Of the forty pins, these numbers are a user's to use."""
BOUNCE_SECONDS = 0.02
"""A contact bounces for some milliseconds; a person's shortest tap takes fifty."""
ONE_COLOUR, THREE_COLOURS = 1, 3


class NoPins(ClientError):
    """The button or the light cannot be used. The sentence says what to do."""


class Light(Protocol):
    """What shows how things are."""

    def show(self, look: Look) -> None: ...

    def close(self) -> None: ...


class OneColour(Protocol):
    """What we need of gpiozero's PWMLED."""

    value: float

    def blink(self, on_time: float, off_time: float) -> None: ...

    def pulse(self, fade_in_time: float, fade_out_time: float) -> None: ...

    def close(self) -> None: ...


class ThreeColours(Protocol):
    """What we need of gpiozero's RGBLED."""

    color: tuple[float, float, float]

    def blink(
        self, on_time: float, off_time: float, *, on_color: tuple[float, float, float]
    ) -> None: ...

    def pulse(
        self, fade_in_time: float, fade_out_time: float, *, on_color: tuple[float, float, float]
    ) -> None: ...

    def close(self) -> None: ...


class NoLight:
    """A device without one."""

    def show(self, look: Look) -> None:
        """Nobody sees it."""

    def close(self) -> None:
        """There is nothing to put out."""


def pins(name: str, counts: tuple[int, ...]) -> tuple[int, ...]:
    """Reads `gpio:17` or `gpio:17,27,22`. Raises NoPins."""
    found = re.fullmatch(r"gpio:(\d{1,2}(?:,\d{1,2})*)", name.strip())
    numbers = tuple(int(number) for number in found[1].split(",")) if found else ()
    if len(numbers) not in counts or len({*numbers}) < len(numbers):
        example = "gpio:18 or gpio:17,27,22" if THREE_COLOURS in counts else "gpio:17"
        raise NoPins(f"{name!r} names no pins: write them like {example}.")
    if max(numbers) > HIGHEST_PIN:
        raise NoPins(f"There is no pin {max(numbers)}: they are numbered 0 to {HIGHEST_PIN}.")
    return numbers


class GpioButton:
    """A button to ground. Its callbacks are called in the event loop."""

    def __init__(
        self, name: str, pressed: Callable[[], None], released: Callable[[], None]
    ) -> None:
        (number,) = pins(name, (ONE_COLOUR,))
        with _told(name):
            from gpiozero import Button

            self._button = Button(number, pull_up=True, bounce_time=BOUNCE_SECONDS)
        loop = asyncio.get_running_loop()

        def soon(what: Callable[[], None]) -> Callable[[], None]:
            def tell() -> None:
                with suppress(RuntimeError):  # The loop is closed: nobody waits any more.
                    loop.call_soon_threadsafe(what)

            return tell

        self._button.when_pressed = soon(pressed)
        self._button.when_released = soon(released)

    def close(self) -> None:
        self._button.close()


class GpioLight:
    """A light of one colour, or of three."""

    def __init__(self, name: str) -> None:
        numbers = pins(name, (ONE_COLOUR, THREE_COLOURS))
        self._one: OneColour | None = None
        self._three: ThreeColours | None = None
        with _told(name):
            from gpiozero import PWMLED, RGBLED

            if len(numbers) == ONE_COLOUR:
                self._one = PWMLED(*numbers)
            else:
                self._three = RGBLED(*numbers)

    def show(self, look: Look) -> None:
        if self._one is not None:
            self._show_one(self._one, look)
        elif self._three is not None:
            self._show_three(self._three, look)

    def close(self) -> None:
        for light in (self._one, self._three):
            if light is not None:
                light.close()

    def _show_one(self, light: OneColour, look: Look) -> None:
        match look.motion:
            case "steady":
                light.value = look.brightness
            case "blinks":
                light.blink(look.on_s, look.off_s)
            case "breathes":
                light.pulse(look.on_s, look.on_s)

    def _show_three(self, light: ThreeColours, look: Look) -> None:
        match look.motion:
            case "steady":
                light.color = look.colour
            case "blinks":
                light.blink(look.on_s, look.off_s, on_color=look.colour)
            case "breathes":
                light.pulse(look.on_s, look.on_s, on_color=look.colour)


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Turns what gpiozero raises into one sentence."""
    if find_spec("gpiozero") is None:
        raise NoPins(
            f"{name} cannot be used, because the Python package gpiozero is missing: "
            "run `pip install 'sayso[pi]'`."
        )
    from gpiozero import GPIOZeroError, PinFactoryFallback

    try:
        with catch_warnings():
            # Whatever it tried in vain before it found a way, or none.
            simplefilter("ignore", PinFactoryFallback)
            yield
    except (GPIOZeroError, OSError, ImportError) as error:
        raise NoPins(
            f"{name} cannot be used ({str(error).rstrip('.')}): on a Raspberry Pi run `sudo apt "
            "install python3-lgpio`, and see that no other program has the pin."
        ) from error
