"""What can be done at a screen, each under one name, for models and for code alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_WHAT: Final = {"type": "string", "maxLength": 200}
_TEXT: Final = {"type": "string", "maxLength": 5_000}
_NUMBER: Final = {"type": "number"}
_COUNT: Final = {"type": "integer", "minimum": 1, "maximum": 30}
_PLACE: Final = {"frame": {"type": "integer"}, "x": _NUMBER, "y": _NUMBER}
_WINDOW: Final = {"window": _WHAT}


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that can be done, and its arguments in their order."""

    name: str
    use: str
    arguments: Mapping[str, Any]
    needed: int = 0
    """How many of these must be given."""
    do: str = ""
    """What the screen is asked to do; empty for what is no act in a window."""
    fixed: tuple[tuple[str, Any], ...] = ()
    """What it is asked besides."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """Of its arguments."""
        return {
            "type": "object",
            "properties": self.arguments,
            "required": list(self.arguments)[: self.needed],
            "additionalProperties": False,
        }


_AIMED: Final = {"target": _WHAT, **_WINDOW, **_PLACE}

OPERATIONS: Final = {
    each.name: each
    for each in (
        Operation("windows", "Which windows are open.", {}),
        Operation(
            "view",
            "What a window shows, as text; of the active one, or one that is named by its"
            " application or as w12.",
            {**_WINDOW, "words": _WHAT},
        ),
        Operation("picture", "The same, with a picture: a frame, by number.", _WINDOW),
        Operation(
            "click",
            "Press e12, what has these words on it, or x, y in a frame.",
            _AIMED,
            do="click",
        ),
        Operation("double_click", "The same, twice.", _AIMED, do="click", fixed=(("count", 2),)),
        Operation(
            "right_click", "Open its menu.", _AIMED, do="click", fixed=(("button", "right"),)
        ),
        Operation("move", "Only move the pointer there.", _AIMED, do="move"),
        Operation(
            "drag",
            "From a target, or x, y in a frame, to another.",
            {"target": _WHAT, "to": _WHAT, **_PLACE, "to_x": _NUMBER, "to_y": _NUMBER, **_WINDOW},
            do="drag",
        ),
        Operation(
            "scroll",
            "Turn the wheel up, down, left or right.",
            {
                "way": {"type": "string", "enum": ["up", "down", "left", "right"]},
                "steps": _COUNT,
                **_AIMED,
            },
            1,
            do="scroll",
        ),
        Operation(
            "fill",
            "Make a text all that stands in a field.",
            {"target": _WHAT, "text": _TEXT, **_WINDOW},
            2,
            do="fill",
        ),
        Operation(
            "write", "Type a text where the cursor is.", {"text": _TEXT, **_WINDOW}, 1, do="write"
        ),
        Operation(
            "press",
            "Press keys together, given as keys: ctrl+s, Enter.",
            {"keys": _WHAT, **_WINDOW},
            1,
            do="press",
        ),
        Operation("focus", "Bring a window to the front.", _WINDOW, 1, do="focus"),
        Operation("close", "Close a window.", _WINDOW, 1, do="close"),
        Operation(
            "open", "Open an application by its name; without one, list them.", {"app": _WHAT}
        ),
        Operation("clipboard_read", "The text in the clipboard.", {}),
        Operation("clipboard_write", "Put a text into the clipboard.", {"text": _TEXT}, 1),
    )
}
