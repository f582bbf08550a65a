"""Parses the bytes that a terminal sends into keys. Pure; bytes may be cut anywhere.

Two encodings are understood: the common escape sequences, and the kitty keyboard protocol, which
also reports the release of a key (https://sw.kovidgoyal.net/kitty/keyboard-protocol/).
"""

import codecs
import re
import sys
from dataclasses import dataclass
from typing import Literal

MOST_PASTED = 32_768
"""Characters of one paste; more is cut off. A message has room for twice as many."""

Kind = Literal["press", "repeat", "release"]


@dataclass(frozen=True, slots=True)
class Key:
    """Something that a person did at the keyboard."""

    name: str
    """`text`, `space`, `enter`, `left`, `escape`, `paste`, …, or the letter with ctrl or alt."""
    text: str = ""
    """What it writes."""
    kind: Kind = "press"
    ctrl: bool = False
    alt: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What the terminal answers to a question."""

    about: Literal["keyboard", "device", "pictures"]
    flags: int = 0


Input = Key | Reply

_CSI = re.compile(r"\x1b\[([<=>?]?)([0-9:;]*)([ -/]*)([@-~])")
_PICTURES = re.compile(r"\x1b_G([^;\x1b]*);([^\x1b]*)\x1b\\")
"""What a terminal answers that can show pictures."""
_PICTURES_BEGUN = re.compile(r"\x1b_[^\x1b]*(\x1b)?\Z")
_CSI_BEGUN = re.compile(r"\x1b\[[<=>?]?[0-9:;]*[ -/]*\Z")
_LONGEST_SEQUENCE = 64
"""No terminal sends a longer one; what looks like it is noise."""

_LETTERS = {
    "A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end",
}  # fmt: skip
_NUMBERS = {1: "home", 3: "delete", 4: "end", 7: "home", 8: "end"}
_CODES = {
    9: "tab", 13: "enter", 27: "escape", 32: "space", 127: "backspace", 57414: "enter",
    57417: "left", 57418: "right", 57419: "up", 57420: "down", 57423: "home", 57424: "end",
    57426: "delete",
}  # fmt: skip
_SURROGATES = range(0xD800, 0xE000)
_PRIVATE = range(57344, 63744)
"""Keys without a character: Shift by itself, media keys and the like."""
_CONTROLS = {
    "\r": "enter", "\n": "enter", "\t": "tab", "\x7f": "backspace", "\x08": "backspace",
    " ": "space",
}  # fmt: skip
_KINDS: dict[str, Kind] = {"1": "press", "2": "repeat", "3": "release"}
_ALT, _CTRL = 2, 4
_PASTE_BEGINS, _PASTE_ENDS = 200, 201
_PASTE_END = "\x1b[201~"


class KeyReader:
    """Takes bytes, gives keys."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._waiting = ""
        self._pasted: str | None = None

    @property
    def undecided(self) -> bool:
        """An Escape has come that may be a key or the beginning of a sequence."""
        return self._waiting.startswith("\x1b")

    def feed(self, data: bytes) -> list[Input]:
        """Takes what was read."""
        self._waiting += self._decoder.decode(data)
        found: list[Input] = []
        while self._waiting:
            taken = self._paste() if self._pasted is not None else self._next()
            if taken is None:
                break
            found.extend(taken)
        return found

    def settle(self) -> list[Input]:
        """Nothing has followed for a while: what is undecided is an Escape, and keys."""
        waiting, self._waiting = self._waiting, ""
        if not waiting:
            return []
        found: list[Input] = [Key("escape")]
        for character in waiting[1:]:
            found.extend(_plain(character))
        return found

    def _next(self) -> list[Input] | None:
        """Takes one key from the front. None: it has not come whole."""
        if not self._waiting.startswith("\x1b"):
            character, self._waiting = self._waiting[0], self._waiting[1:]
            return _plain(character)
        if (match := _CSI.match(self._waiting)) is not None:
            self._waiting = self._waiting[match.end() :]
            return self._sequence(match)
        if len(self._waiting) == 1 or self._waiting == "\x1bO":
            return None
        if (match := _PICTURES.match(self._waiting)) is not None:
            self._waiting = self._waiting[match.end() :]
            return [Reply("pictures")] if match[2] == "OK" else []
        begun = _CSI_BEGUN.match(self._waiting) or _PICTURES_BEGUN.match(self._waiting)
        if begun and len(self._waiting) < _LONGEST_SEQUENCE:
            return None
        if self._waiting[1] == "O":
            letter, self._waiting = self._waiting[2], self._waiting[3:]
            return [Key(_LETTERS[letter])] if letter in _LETTERS else []
        character, self._waiting = self._waiting[1], self._waiting[2:]
        return [Key(character, alt=True)] if character.isprintable() else [Key("escape")]

    def _sequence(self, match: "re.Match[str]") -> list[Input]:
        prefix, parameters, _, final = match.groups()
        if prefix == "?":
            if final == "u":
                return [Reply("keyboard", int(parameters or 0))]
            return [Reply("device")] if final == "c" else []
        if prefix:
            return []
        fields = parameters.split(";")
        if final == "u":
            return _kitty(fields)
        number = _number(fields[0])
        if final == "~" and number == _PASTE_BEGINS:
            self._pasted = ""
            return []
        name = _NUMBERS.get(number) if final == "~" else _LETTERS.get(final)
        if name is None:
            return []
        modifiers, kind = _modifiers(fields)
        return [Key(name, "", kind, ctrl=bool(modifiers & _CTRL), alt=bool(modifiers & _ALT))]

    def _paste(self) -> list[Input] | None:
        text, end, rest = self._waiting.partition(_PASTE_END)
        kept = (self._pasted or "") + text
        if not end:
            # The end mark itself may be cut in two.
            self._pasted = kept[: MOST_PASTED + len(_PASTE_END)]
            self._waiting = ""
            cut = self._pasted.rfind("\x1b")
            if cut >= 0:
                self._pasted, self._waiting = self._pasted[:cut], self._pasted[cut:]
            return None
        self._pasted, self._waiting = None, rest
        return [Key("paste", kept[:MOST_PASTED])]


def _plain(character: str) -> list[Input]:
    """A character as every terminal sends it."""
    if character in _CONTROLS:
        return [Key(_CONTROLS[character], " " if character == " " else "")]
    if "\x01" <= character <= "\x1a":
        return [Key(chr(ord(character) + 96), ctrl=True)]
    return [Key("text", character)] if character.isprintable() else []


def _kitty(fields: list[str]) -> list[Input]:
    """Parses `code:shifted:base;modifiers:kind;text`; most parts may be missing."""
    codes = fields[0].split(":")
    code = _number(codes[0])
    modifiers, kind = _modifiers(fields)
    ctrl, alt = bool(modifiers & _CTRL), bool(modifiers & _ALT)
    written = "".join(fields[2:3]).split(":")
    text = "".join(chr(_number(character)) for character in written if character)
    if code in _CODES:
        name = _CODES[code]
        return [Key(name, " " if name == "space" else "", kind, ctrl=ctrl, alt=alt)]
    if not code or code in _PRIVATE:
        return []
    if ctrl or alt:
        return [Key(chr(code), "", kind, ctrl=ctrl, alt=alt)]
    shifted = _number(codes[1]) if len(codes) > 1 else 0
    return [Key("text", text or chr(shifted or code), kind)]


def _modifiers(fields: list[str]) -> tuple[int, Kind]:
    """Gives the modifier bits and what happened to the key."""
    modifiers, _, kind = fields[1].partition(":") if len(fields) > 1 else ("", "", "")
    return max(0, _number(modifiers) - 1), _KINDS.get(kind, "press")


def _number(digits: str) -> int:
    """Reads a code point or a small number; nonsense is 0."""
    value = int(digits) if digits.isdigit() else 0
    return value if value <= sys.maxunicode and value not in _SURROGATES else 0
