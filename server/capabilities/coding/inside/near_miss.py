"""Says why a hunk fits nowhere: which lines are nearest, with blanks made visible. Pure."""

import difflib
from collections import Counter
from collections.abc import Sequence

from .patch_parser import Hunk

SHOWN_LINES = 14
SHOWN_CHARS = 160
COMPARED_LINES = 4_000
"""Of a file in which no line of the hunk stands as it is: comparing more takes too long."""

_VISIBLE = str.maketrans(
    {
        "\t": "→", "\r": "␍", "\u00a0": "⍽", "\u200b": "⟨zero width⟩", "\u2028": "⟨line separator⟩",
        "\ufeff": "⟨byte order mark⟩",
    }
)  # fmt: skip


def is_there_already(hunk: Hunk, lines: Sequence[str]) -> bool:
    """Whether the lines that the hunk would make stand in the file, and it adds any."""
    added = [text for text, kept in zip(hunk.new, hunk.kept, strict=True) if kept < 0]
    if not any(text.strip() for text in added):
        return False
    new, count = hunk.new, len(hunk.new)
    return any(list(lines[at : at + count]) == new for at in range(len(lines) - count + 1))


def nearest(hunk: Hunk, lines: Sequence[str]) -> str:
    """The lines of the file that the hunk is most like, with their numbers."""
    if not lines:
        return "The file is empty."
    start = _start(hunk.old, lines)
    if start is None:
        return f"No line of it is in the file, which has {len(lines)} lines."
    start = max(0, min(start, len(lines) - 1))
    shown = range(start, min(len(lines), start + min(SHOWN_LINES, max(3, len(hunk.old)))))
    listed = "\n".join(f"{number + 1}|{visible(lines[number])}" for number in shown)
    differing = _first_difference(hunk.old, lines[start:])
    return f"The nearest lines are (→ is a tab, · a blank at the end):\n{listed}{differing}"


def at_places(places: Sequence[int], lines: Sequence[str]) -> str:
    """Where it stands several times."""
    listed = "\n".join(f"{place + 1}|{visible(lines[place])}" for place in places[:SHOWN_LINES])
    return (
        f"It stands at {len(places)} places, which begin here:\n{listed}\nGive more unchanged lines"
        " around it, or @@ with the line of the function or class that it is in."
    )


def visible(text: str) -> str:
    """A line in which what is not seen is seen."""
    bare = text.rstrip(" ")
    text = bare + "·" * (len(text) - len(bare))
    text = text[:SHOWN_CHARS] + ("…" if len(text) > SHOWN_CHARS else "")
    return text.translate(_VISIBLE)


def _first_difference(old: Sequence[str], there: Sequence[str]) -> str:
    for wanted, text in zip(old, there, strict=False):
        if wanted != text:
            return f"\nThe first that differs is, in the patch:\n{visible(wanted)}"
    return ""


def _start(old: Sequence[str], lines: Sequence[str]) -> int | None:
    """Where most lines of the hunk would be in their places."""
    at: dict[str, list[int]] = {}
    for number, text in enumerate(lines):
        if plain := text.strip():
            at.setdefault(plain, []).append(number)
    votes: Counter[int] = Counter()
    for number, text in enumerate(old):
        there = at.get(text.strip(), [])
        if len(there) <= SHOWN_LINES:  # a line that stands everywhere tells nothing
            votes.update(place - number for place in there)
    if votes:
        most = max(votes.values())
        return min(start for start, count in votes.items() if count == most)
    longest = max(range(len(old)), key=lambda number: len(old[number].strip()), default=0)
    wanted = old[longest].strip() if old else ""
    texts = [text for text in list(at)[:COMPARED_LINES] if len(text) <= SHOWN_CHARS * 2]
    close = difflib.get_close_matches(wanted[: SHOWN_CHARS * 2], texts, n=1, cutoff=0.5)
    return at[close[0]][0] - longest if close else None
