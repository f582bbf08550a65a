"""Names a part of a long output that was left out: `ID FROM TO`. Pure.

A model that calls tools gives the three values as arguments; one that writes fences puts them on
one line. Either way the call is kept as that line.
"""

import json
import re
from dataclasses import dataclass
from typing import Final

from sayso.protocol.untrusted_json import read_json

PAGE: Final = "output"
"""The tool's name, the fence's label, and that of a call as it is kept."""

_LINE: Final = re.compile(r"\s*([0-9a-z]{4,16})[\s,]+(\d{1,9})[\s,]+(\d{1,9})\s*")


@dataclass(frozen=True, slots=True)
class Page:
    """A part of one run's output, in characters."""

    run: str
    start: int
    end: int

    @property
    def line(self) -> str:
        """As a text model writes it."""
        return f"{self.run} {self.start} {self.end}"

    @property
    def arguments(self) -> str:
        """As a tool model writes it."""
        return json.dumps({"id": self.run, "from": self.start, "to": self.end})


def read_line(text: str) -> Page | None:
    """What a fence with the label `output` asks for; None if it is output that is shown."""
    found = _LINE.fullmatch(text)
    return Page(found.group(1), int(found.group(2)), int(found.group(3))) if found else None


def read_arguments(arguments: str) -> Page | None:
    """What a call of the tool asks for; None if that can't be read."""
    try:
        value = read_json(arguments, control_characters=True)
        start, end = int(value["from"]), int(value["to"])
        return Page(str(value["id"]), max(0, start), max(0, end))
    except (ValueError, TypeError, KeyError):
        return None


def gap_note(run: str, start: int, end: int, whole: int) -> str:
    """What stands in place of what is left out."""
    return f"[characters {start} to {end} of {whole} left out here: read them as output {run}]"
