"""What can be done with the browser, each under one name, for models and for code alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

URL_CHARS: Final = 2_000

_TEXT: Final = {"type": "string", "maxLength": 20_000}


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that can be done, and its arguments in their order."""

    name: str
    use: str
    arguments: Mapping[str, Any]
    needed: int = 0
    """How many of these must be given."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """Of its arguments."""
        return {
            "type": "object",
            "properties": self.arguments,
            "required": list(self.arguments)[: self.needed],
            "additionalProperties": False,
        }


_URL: Final = {"type": "string", "maxLength": URL_CHARS}
_WHAT: Final = {"type": "string", "maxLength": 200}

OPERATIONS: Final = {
    each.name: each
    for each in (
        Operation("open", "Open a page.", {"url": _URL}, 1),
        Operation(
            "read",
            "Read the page as text, or a part of it: a12.",
            {"part": _WHAT},
        ),
        Operation("find", "Find words on the page.", {"text": _WHAT}, 1),
        Operation("click", "Press a12, or what has these words on it.", {"target": _WHAT}, 1),
        Operation("fill", "Write into a field.", {"target": _WHAT, "text": _TEXT}, 2),
        Operation(
            "select",
            "Choose an option of a list; several apart by commas.",
            {"target": _WHAT, "text": _WHAT},
            2,
        ),
        Operation(
            "press", "Press keys, apart by blanks: Enter, Control+a, a b c.", {"text": _WHAT}, 1
        ),
        Operation("scroll", "Scroll up, down, top, bottom, or to a12.", {"target": _WHAT}, 1),
        Operation("back", "Go back to the page before.", {}),
        Operation("wait", "Wait until words are on the page.", {"text": _WHAT}, 1),
        Operation("tabs", "List the tabs, or go to one: t2.", {"target": _WHAT}),
        Operation(
            "dialog",
            "Answer what a page asks; the target is accept or dismiss.",
            {"target": {"type": "string", "enum": ["accept", "dismiss"]}, "text": _WHAT},
            1,
        ),
        Operation("screenshot", "A picture of the page.", {}),
        Operation(
            "upload",
            "Give a file field a file of the workspace; the text is its path.",
            {"target": _WHAT, "text": _WHAT},
            2,
        ),
        Operation("close", "Close the browser.", {}),
    )
}
