"""Warns of what may hide parts of the code that a person approves, one sentence each.

Clients that know how show it (`sayso.protocol.visible`); the question says it to everybody else.
"""

import re
from typing import Final

from sayso.protocol.visible import BLANKS, MOST_EMPTY_LINES, hidden_in

LONGEST_LINE: Final = 500
"""Characters: about what a page of a phone shows of one line. More is not read to its end."""

_NAMED: Final = 6
"""Hidden characters that are named one by one."""

_EMPTY_LINES = re.compile(f"\n(?:[ \t\r]*\n){{{MOST_EMPTY_LINES},}}[ \t\r]*(?=[^\\s])")


def looks(code: str) -> tuple[str, ...]:
    """What to know before believing one's eyes."""
    found = []
    if names := hidden_in(code):
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        found.append(
            "It holds characters that are not seen, or that change the order in which it is read: "
            f"{', '.join(names[:_NAMED])}{more}."
        )
    if behind := _behind_blanks(code):
        found.append(f"Its line {behind:,} goes on behind a long run of blanks.")
    if empty := _EMPTY_LINES.search(code.rstrip()):
        line = code.count("\n", 0, empty.end()) + 1
        found.append(f"It goes on below many empty lines, at line {line:,}.")
    lines = code.split("\n")
    longest = max(range(len(lines)), key=lambda at: len(lines[at]))
    if len(lines[longest]) > LONGEST_LINE:
        found.append(
            f"Its line {longest + 1:,} has {len(lines[longest]):,} characters: read it to its end."
        )
    return tuple(found)


def _behind_blanks(code: str) -> int:
    """The first line in which something stands behind more blanks than code has; 0 if none."""
    for run in BLANKS.finditer(code):
        if code[run.end() : run.end() + 1].strip():
            return code.count("\n", 0, run.start()) + 1
    return 0
