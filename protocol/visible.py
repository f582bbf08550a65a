"""Makes invisible and misleading characters in code visible, by naming them where they stand.

A person who approves code approves what they see. So what has no width, turns the order of letters
round, looks like a blank and is none, or pushes the rest out of sight, is written out: `<U+202E>`,
`<400 blanks>`, `<38 empty lines>`. Clients show code like this and the server warns of it. The page
has the same rules in `client/web/visible.js`; a test compares them, character by character.
"""

import re
import unicodedata
from typing import Final

_PICTURES = (
    "\u00a9\u00ae\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d"
    "\u3297\u3299\U0001f000-\U0001faff"
)
"""After these a variation selector chooses colour, and a joiner makes one emoji of two."""

_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
"""Two of these make any letter; piled up they paint over what is beside them."""

WITHOUT_LOOKS: Final = (
    # controls, and blanks that no compiler takes for one
    "\x00-\x08\x0b-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000"
    # without width
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u2060-\u2065\u3164\ufe00-\ufe0e"
    "\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
    # what turns the direction of writing, and halves of characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ud800-\udfff"
)
"""What is not seen wherever it stands, as a range of a pattern."""

HIDDEN: Final = re.compile(
    f"[{WITHOUT_LOOKS}]"
    f"|(?<![{_PICTURES}])\ufe0f"
    f"|(?<![{_PICTURES}])(?<![{_PICTURES}]\ufe0f)\u200d|\u200d(?![{_PICTURES}])"
    f"|(?<=[{_MARKS}]{{2}})[{_MARKS}]"
)

MOST_BLANKS: Final = 40
"""More in a row are told by their number: no code is indented or laid out so far."""

MOST_EMPTY_LINES: Final = 5

BLANKS: Final = re.compile(f"[ \t]{{{MOST_BLANKS},}}")
_EMPTY_LINES = re.compile(f"\n(?:[ \t]*\n){{{MOST_EMPTY_LINES},}}")


def revealed(code: str) -> str:
    """The same code, with nothing in it that is not seen."""
    shown = _EMPTY_LINES.sub(_empty_lines, code.replace("\r\n", "\n"))
    return HIDDEN.sub(_character, BLANKS.sub(lambda run: f"<{len(run[0])} blanks>", shown))


def as_read(text: str) -> str:
    """A text as a person reads it: letters of other shapes as themselves, and none between them
    that is not seen."""
    return HIDDEN.sub("", unicodedata.normalize("NFKC", text))


def hidden_in(code: str) -> tuple[str, ...]:
    """The names of what is not seen in code, each once."""
    found = dict.fromkeys(map(_name, HIDDEN.findall(code.replace("\r\n", "\n"))))
    return tuple(found)


def _character(match: re.Match[str]) -> str:
    return f"<{_name(match[0])}>"


def _name(character: str) -> str:
    return f"U+{ord(character):04X}"


def _empty_lines(match: re.Match[str]) -> str:
    return f"\n<{match[0].count(chr(10)) - 1} empty lines>\n"
