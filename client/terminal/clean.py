"""Text from elsewhere made safe to show: nothing in it may steer the terminal or hide from the eye.

What a program prints, and what a model writes, may hold escape sequences that move the cursor,
paint over a question or turn the order of letters round. Approvals depend on seeing what is there.
"""

import re

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
"""Characters without width, and those that turn the direction of writing."""


def words(text: str) -> str:
    """Prose: control characters go, line ends and tabs stay."""
    return _CONTROL.sub("", _ESCAPE.sub("", text))


def code(text: str) -> str:
    """Code: what cannot be seen is made visible, because it would run."""
    shown = _CONTROL.sub(lambda match: f"<U+{ord(match[0]):04X}>", text.replace("\r\n", "\n"))
    return _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", shown).expandtabs(4)


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
