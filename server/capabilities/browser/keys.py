"""Keys by their names, as a browser is told of them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sayso.server.capabilities.browser.errors import RefusedError

KEYS_MOST: Final = 100

_CODES: Final = {
    "Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35,
    "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Insert": 45,
    "Delete": 46, **{f"F{number}": 111 + number for number in range(1, 13)},
}  # fmt: skip
_ALSO: Final = {
    "esc": "Escape", "return": "Enter", "del": "Delete", "left": "ArrowLeft", "up": "ArrowUp",
    "right": "ArrowRight", "down": "ArrowDown", "pgup": "PageUp", "pgdn": "PageDown",
    **{name.lower(): name for name in _CODES},
}  # fmt: skip
_HELD: Final = {"alt": 1, "control": 2, "ctrl": 2, "meta": 4, "cmd": 4, "shift": 8}
_COMMANDS: Final = {"a": "selectAll", "c": "copy", "x": "cut", "v": "paste", "z": "undo"}
_CODE_MOST: Final = 0xFF
_CONTROL: Final = 2
_SHIFT: Final = 8


@dataclass(frozen=True, slots=True)
class Key:
    """One press."""

    name: str
    held: int = 0
    """Alt 1, Control 2, Meta 4, Shift 8."""

    @property
    def text(self) -> str:
        """What it writes."""
        if self.held & ~_SHIFT:
            return ""
        return "\r" if self.name == "Enter" else self.name if len(self.name) == 1 else ""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Of Input.dispatchKeyEvent."""
        letter = len(self.name) == 1
        number = ord(self.name.upper()) if letter else _CODES[self.name]
        code = f"Key{self.name.upper()}" if letter and self.name.isalpha() else self.name
        command = _COMMANDS.get(self.name.lower()) if self.held & _CONTROL else None
        return {
            "key": self.name,
            "code": "Space" if self.name == " " else code,
            "windowsVirtualKeyCode": min(number, _CODE_MOST),
            "modifiers": self.held,
            **({"commands": [command]} if command and command != "paste" else {}),
        }


def keys_of(text: str) -> Sequence[Key]:
    """The keys in `Control+a Delete`. Raises RefusedError."""
    chords = text.split()
    if not chords or len(chords) > KEYS_MOST:
        raise RefusedError(f"Name 1 to {KEYS_MOST} keys, such as Enter or Control+a.")
    return [_key(chord) for chord in chords]


def _key(chord: str) -> Key:
    *held, name = chord.split("+") if len(chord) > 1 else [chord]
    modifiers = 0
    for each in held:
        if each.lower() not in _HELD:
            raise RefusedError(f"There is no key {each}; hold Control, Shift, Alt or Meta.")
        modifiers |= _HELD[each.lower()]
    if name.lower() == "space":
        return Key(" ", modifiers)
    if len(name) == 1:
        return Key(name, modifiers)
    if known := _ALSO.get(name.lower()):
        return Key(known, modifiers)
    raise RefusedError(f"There is no key {name}; to write words, use fill.")
