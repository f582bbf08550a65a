"""Checks a device's `settings` message, and words the error where a value is wrong."""

from collections.abc import Mapping

from sayso.protocol.errors import Invalid
from sayso.server.turn.events import Preferred

LONGEST_NAME = 100
"""Characters of a voice's name, or of a language's code: they are short, and stand in one line."""

SLOWEST, FASTEST = 0.5, 2.0
"""Beyond these, piper's speech is hard to understand."""

UNCHANGED = object()


def preferred(device: str, values: Mapping[str, object]) -> Preferred:
    """What is not named stays; what is empty or null is again as the settings have it."""
    voice = values.get("voice", UNCHANGED) or ""
    language = values.get("language", UNCHANGED) or ""
    speed = values.get("speed", UNCHANGED) or 0.0
    return Preferred(
        device,
        voice=None if voice is UNCHANGED else _name("voice", voice),
        language=None if language is UNCHANGED else _name("language", language),
        speed=None if speed is UNCHANGED else _speed(speed),
    )


def _name(key: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        raise Invalid(f"The setting {key} is a name of at most {LONGEST_NAME} characters.")
    return value.strip()


def _speed(value: object) -> float:
    if value == 0.0:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Invalid("The setting speed is a number; 1 is as usual.")
    if not SLOWEST <= value <= FASTEST:
        raise Invalid(f"The setting speed lies between {SLOWEST:g} and {FASTEST:g}; 1 is as usual.")
    return float(value)
