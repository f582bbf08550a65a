"""What a window shows, as text: a line for each part, with a name for what can be acted on."""

from collections.abc import Mapping, Sequence
from typing import Final

from sayso.client.desktop.accessibility.bus import Reference
from sayso.client.desktop.accessibility.parts import Part
from sayso.client.desktop.hands.frames import Frames
from sayso.client.desktop.x11.windows import Window

MOST_CHARS: Final = 6_000
VALUE_CHARS: Final = 200
NAME_CHARS: Final = 120
_SECRET: Final = "(secret)"  # noqa: S105 - what is shown in place of one


def described(
    parts: Sequence[Part], values: Mapping[Reference, str], frames: Frames, window: Window
) -> list[str]:
    """A line for each part that a reader wants to know of."""
    lines: list[str] = []
    for part in parts:
        if not part.is_told:
            continue
        value = _SECRET if part.secret else values.get(part.at, "")
        if part.can_be_acted_on:
            lines.append(_acted_on(part, value, frames.name(part, window)))
        else:
            words = _line(part.name or value, VALUE_CHARS)
            if words and (not lines or lines[-1] != words):
                lines.append(words)
    return lines


def _acted_on(part: Part, value: str, name: str) -> str:
    told = f"{name} {part.role}"
    if part.name:
        told += f' "{_line(part.name, NAME_CHARS)}"'
    if value and value != part.name:
        told += f' = "{_line(value, VALUE_CHARS)}"'
    states = part.told_states
    return f"[{told}{' ' + ', '.join(states) if states else ''}]"


def shortened(lines: Sequence[str], words: str = "") -> str:
    """The lines as a text that is short enough; with `words`, those that hold them."""
    if words:
        lines = [line for line in lines if words.lower() in line.lower()]
    text = ""
    for count, line in enumerate(lines):
        if len(text) + len(line) + 1 > MOST_CHARS:
            return f"{text}… {len(lines) - count} lines more: look for words in them.\n"
        text += f"{line}\n"
    return text


def changes(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The lines that are new."""
    known = set(before)
    return [line for line in after if line not in known]


def _line(text: str, most: int) -> str:
    line = " ".join(text.replace("\ufffc", " ").split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
