"""Types any text exactly, and presses keys together.

A character that the layout has is typed by its own key. All others of a piece of text are put on
keys that have no meaning, *before* the first key of the piece is pressed, and taken off again once
the window has read them and nothing was typed for a while: a program looks up what a key means when
it reads it, so a key that changes its meaning meanwhile is read wrong. What was borrowed is written
down first, so that it is given back even if this process is killed.

Each key goes down and up while the server does nothing for anybody else, after `check` has seen
who has the keys at that very moment: nothing can come between.
"""

import json
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sayso.client.desktop.errors import Refused
from sayso.client.desktop.x11.connection import Connection

_UNICODE: Final = 0x0100_0000
_LATIN_END: Final = 0x100
_GROUP_MASK: Final = 0x6000
_LOCK_MASK: Final = 0x2
_PUBLISHED: Final = {"\n": 0xFF0D, "\r": 0xFF0D, "\t": 0xFF09}
NAMED: Final = {
    "enter": 0xFF0D, "return": 0xFF0D, "tab": 0xFF09, "escape": 0xFF1B, "esc": 0xFF1B,
    "backspace": 0xFF08, "delete": 0xFFFF, "del": 0xFFFF, "insert": 0xFF63, "space": 0x20,
    "home": 0xFF50, "end": 0xFF57, "pageup": 0xFF55, "page_up": 0xFF55, "pagedown": 0xFF56,
    "page_down": 0xFF56, "left": 0xFF51, "up": 0xFF52, "right": 0xFF53, "down": 0xFF54,
    "menu": 0xFF67, "plus": 0x2B, "minus": 0x2D,
    **{f"f{number}": 0xFFBD + number for number in range(1, 13)},
}  # fmt: skip
"""Names of keys, in small letters, and their keysyms."""
MODIFIERS: Final = {
    "ctrl": 0xFFE3,
    "control": 0xFFE3,
    "shift": 0xFFE1,
    "alt": 0xFFE9,
    "option": 0xFFE9,
}
_SHIFT: Final = 0xFFE1
KNOWN_S: Final = 0.06
"""After keys were given a meaning and the window has read of it: some ask for it only then."""
_FIRST: Final = 8
_LAST: Final = 255
"""Which keys X11 can have."""


class Keyboard:
    """Of one screen."""

    def __init__(self, connection: Connection, borrowed: Path) -> None:
        """`borrowed`: where it is written down which keys have another meaning just now."""
        self._connection = connection
        self._borrowed = borrowed
        self._down: list[int] = []
        self._lent: dict[int, int] = {}
        """The key that a keysym was put on."""
        self.give_back()

    def type(self, text: str, check: Callable[[], None], read: Callable[[], None]) -> None:
        """Type a text. `check` raises what ends it before the next key; `read` returns when the
        window has read what was typed. Raises Refused before anything is typed."""
        keysyms = [keysym_of(each) for each in text]
        while keysyms:
            usual = self._usual()
            spare = self._spare()
            piece, foreign = _piece(keysyms, usual, len(spare))
            if len(piece) < len(keysyms) and self._lent:
                read()
                self.give_back()
                continue
            if not piece:
                raise Refused(f"This keyboard has no key free on which {text[0]!r} could be put.")
            codes = {**usual, **self._borrow(foreign, spare)}
            if foreign:
                read()
                time.sleep(KNOWN_S)
            try:
                for keysym in piece:
                    code, shifted = codes[keysym]
                    self._tap((*self._modifier(shifted), code), check)
            finally:
                self.let_go()
            del keysyms[: len(piece)]

    def chord(self, names: Sequence[str], check: Callable[[], None]) -> None:
        """Press keys together. Raises Refused for what is no key."""
        usual = self._usual()
        codes: list[int] = []
        for name in names:
            keysym = MODIFIERS.get(name) or NAMED.get(name)
            if keysym is None and len(name) == 1:
                keysym = keysym_of(name)
            code, shifted = usual.get(keysym or 0, (0, False))
            code = code or int(self._connection.display.keysym_to_keycode(keysym or 0))
            if not code:
                raise Refused(f"This keyboard has no key {name!r}.")
            codes += [each for each in self._modifier(shifted) if each not in codes]
            codes.append(code)
        self._tap(tuple(codes), check)

    def let_go(self) -> None:
        """No key that we pressed stays down."""
        from Xlib import X

        for code in reversed(self._down):
            self._fake(X.KeyRelease, code)
        self._down.clear()
        self._connection.display.sync()

    def give_back(self) -> None:
        """Every key that was borrowed means again what it meant: nothing. To be called once what
        was typed is read; until then, what is typed next may need the same keys."""
        try:
            codes = json.loads(self._borrowed.read_text())
        except (OSError, ValueError):
            return
        known = [code for code in codes if isinstance(code, int) and _FIRST <= code <= _LAST]
        self._change(dict.fromkeys(known, 0))
        self._borrowed.unlink(missing_ok=True)
        self._lent.clear()

    def _change(self, meanings: Mapping[int, int]) -> None:
        """Let keys mean this. At each change every program reads the whole keyboard anew, so keys
        that lie side by side are changed at once."""
        codes = sorted(meanings)
        start = 0
        for end in range(1, len(codes) + 1):
            if end == len(codes) or codes[end] != codes[end - 1] + 1:
                # Twice, so that neither shift nor the capitals' lock makes another letter of it.
                rows = [(meanings[code], meanings[code]) for code in codes[start:end]]
                self._connection.display.change_keyboard_mapping(codes[start], rows)
                start = end
        self._connection.display.sync()

    def _tap(self, codes: Sequence[int], check: Callable[[], None]) -> None:
        from Xlib import X

        with self._connection.alone():
            check()
            for code in codes:
                self._down.append(code)
                self._fake(X.KeyPress, code)
            for code in reversed(codes):
                self._fake(X.KeyRelease, code)
            self._down.clear()

    def _fake(self, kind: int, code: int) -> None:
        from Xlib.ext import xtest

        xtest.fake_input(self._connection.display, kind, code)

    def _modifier(self, shifted: bool) -> tuple[int, ...]:
        return (int(self._connection.display.keysym_to_keycode(_SHIFT)),) if shifted else ()

    def _usual(self) -> dict[int, tuple[int, bool]]:
        """What the layout has, by keysym: the key, and whether with shift. Nothing while another
        group or the capitals' lock is on: then every character is put on a key of its own."""
        mask = int(self._connection.root.query_pointer().mask)
        found: dict[int, tuple[int, bool]] = {}
        if mask & (_GROUP_MASK | _LOCK_MASK):
            fixed = {**self._fixed(), **self._lent}
            return {keysym: (code, False) for keysym, code in fixed.items()}
        for code, row in self._rows():
            for level in (0, 1):
                if level < len(row) and row[level]:
                    found.setdefault(row[level], (code, bool(level)))
        return found

    def _fixed(self) -> dict[int, int]:
        """Keys that mean the same in every group."""
        display = self._connection.display
        wanted = {*_PUBLISHED.values(), *NAMED.values()}
        codes = {keysym: int(display.keysym_to_keycode(keysym)) for keysym in wanted}
        return {keysym: code for keysym, code in codes.items() if code and keysym > _LATIN_END}

    def _rows(self) -> list[tuple[int, Sequence[int]]]:
        display = self._connection.display
        first, last = display.display.info.min_keycode, display.display.info.max_keycode
        rows = display.get_keyboard_mapping(first, last - first + 1)
        return list(zip(range(first, last + 1), rows, strict=True))

    def _spare(self) -> list[int]:
        """Keys without a meaning; first those of which many lie side by side."""
        used: set[int] = set()
        for group in self._connection.display.get_modifier_mapping():
            used.update(group)
        free = [code for code, row in self._rows() if not any(row) and code not in used]
        runs: list[list[int]] = []
        for code in free:
            if runs and runs[-1][-1] == code - 1:
                runs[-1].append(code)
            else:
                runs.append([code])
        return [code for run in sorted(runs, key=len, reverse=True) for code in run]

    def _borrow(self, keysyms: Sequence[int], spare: Sequence[int]) -> dict[int, tuple[int, bool]]:
        """Put these on spare keys."""
        codes = dict(zip(keysyms, spare, strict=False))
        if not codes:
            return {}
        self._borrowed.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lent |= codes
        self._borrowed.write_text(json.dumps(list(self._lent.values())))
        self._change({code: keysym for keysym, code in codes.items()})
        return {keysym: (code, False) for keysym, code in codes.items()}


def keysym_of(character: str) -> int:
    """The number under which X11 knows a character. Raises Refused for what no key types."""
    if character in _PUBLISHED:
        return _PUBLISHED[character]
    point = ord(character)
    if unicodedata.category(character) in ("Cc", "Cs", "Cn", "Co"):
        raise Refused(f"U+{point:04X} is no character that a key could type.")
    return point if point < _LATIN_END else _UNICODE | point


def _piece(
    keysyms: Sequence[int], usual: dict[int, Any], spare: int
) -> tuple[list[int], list[int]]:
    """The longest beginning whose foreign keysyms find a key each, and these."""
    piece: list[int] = []
    foreign: dict[int, None] = {}
    for keysym in keysyms:
        if keysym not in usual and keysym not in foreign:
            if len(foreign) == spare:
                break
            foreign[keysym] = None
        piece.append(keysym)
    return piece, list(foreign)


def restore_keys(name: str, borrowed: Path) -> None:
    """Give back what a process borrowed that was killed."""
    if borrowed.exists():
        with suppress(Exception):  # the screen may be gone as well, and its keys with it
            connection = Connection(name)
            Keyboard(connection, borrowed)
            connection.close()
