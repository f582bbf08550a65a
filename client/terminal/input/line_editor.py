"""Edits the line in which a person writes. Pure: keys in, text and cursor out."""

from collections import deque

from sayso.client.terminal.input.keys import MOST_PASTED, Key

MOST_REMEMBERED = 100
"""Lines that the arrow keys bring back."""


class LineEdit:
    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        """Characters before the cursor."""
        self._past: deque[str] = deque(maxlen=MOST_REMEMBERED)
        self._shown = 0
        """How many lines back the arrow keys are."""
        self._draft = ""

    def take(self) -> str:
        """Gives the line, and begins a new one."""
        line = self.text.strip()
        if line and (not self._past or self._past[-1] != line):
            self._past.append(line)
        self.clear()
        return line

    def put(self, text: str) -> None:
        """Let this stand in place of what was written."""
        self.text, self.cursor = text, len(text)

    def clear(self) -> None:
        self.text, self.cursor, self._shown, self._draft = "", 0, 0, ""

    def press(self, key: Key) -> bool:
        """Takes a key. False: it is none of the line's."""
        if key.kind == "release":
            return True
        if key.name in {"text", "space", "paste"} and not key.ctrl and not key.alt:
            self._insert(key.text)
            return True
        action = self._control(key.name) if key.ctrl else self._named(key.name)
        if action is None:
            return False
        self.text, self.cursor = action
        return True

    def _insert(self, text: str) -> None:
        # A line is a line: what was pasted in several becomes one.
        text = " ".join(text.splitlines()) if len(text) > 1 else text
        room = MOST_PASTED - len(self.text)
        text = "".join(c for c in text if c.isprintable() or c == "\t")[:room]
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)

    def _named(self, name: str) -> tuple[str, int] | None:
        text, cursor = self.text, self.cursor
        match name:
            case "backspace":
                return text[: max(0, cursor - 1)] + text[cursor:], max(0, cursor - 1)
            case "delete":
                return text[:cursor] + text[cursor + 1 :], cursor
            case "left":
                return text, max(0, cursor - 1)
            case "right":
                return text, min(len(text), cursor + 1)
            case "home":
                return text, 0
            case "end":
                return text, len(text)
            case "up":
                return self._go_back(1)
            case "down":
                return self._go_back(-1)
        return None

    def _control(self, letter: str) -> tuple[str, int] | None:
        text, cursor = self.text, self.cursor
        match letter:
            case "a":
                return text, 0
            case "e":
                return text, len(text)
            case "u":
                return text[cursor:], 0
            case "k":
                return text[:cursor], cursor
            case "w":
                kept = text[:cursor].rstrip()
                kept = kept[: kept.rfind(" ") + 1]
                return kept + text[cursor:], len(kept)
        return None

    def _go_back(self, lines: int) -> tuple[str, int]:
        shown = min(len(self._past), max(0, self._shown + lines))
        if shown != self._shown:
            if self._shown == 0:
                self._draft = self.text
            self._shown = shown
            text = self._past[-shown] if shown else self._draft
            return text, len(text)
        return self.text, self.cursor
