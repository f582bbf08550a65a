"""Makes untrusted text safe to show: nothing in it can steer the terminal or be invisible.

What a program prints, and what a model writes, may hold escape sequences that move the cursor,
paint over a question or turn the order of letters round. Approvals depend on seeing what is there.
"""

import re

from sayso.protocol.visible import revealed

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def words(text: str) -> str:
    """Prose: control characters go, line ends and tabs stay."""
    return _CONTROL.sub("", _ESCAPE.sub("", text))


def code(text: str) -> str:
    """Code: what cannot be seen is made visible, because it would run."""
    return revealed(text).expandtabs(4)


def line(text: str) -> str:
    """Words of a question, on one line: whoever worded them adds no line to it."""
    return code(text).replace("\n", "<U+000A>")


def output(text: str) -> str:
    """A program's output: colours stay, everything else that steers the terminal goes."""
    kept = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    pieces = []
    at = 0
    for colour in _COLOUR.finditer(kept):
        pieces += [words(kept[at : colour.start()]), colour[0]]
        at = colour.end()
    return "".join([*pieces, words(kept[at:])]).expandtabs(8)


def without_colour(text: str) -> str:
    """A program's output for a terminal without colours."""
    return words(output(text))
