"""Splits the output of one run into what is shown at once and what is held back. Pure."""

from collections import deque
from dataclasses import dataclass

SHOWN_AT_ONCE = 60
"""Lines of a run that are shown as they come: more than a screen, less than a flood."""
SHOWN_AT_END = 10
"""The last lines of a longer run: there a result stands, or a reason."""
LONGEST_LINE = 2_000
"""Characters; more is no line that anybody reads."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of one kind."""

    kind: str
    text: str


class Run:
    """Takes pieces cut anywhere, gives whole lines."""

    def __init__(self) -> None:
        self._shown = 0
        self._kind = "stdout"
        self._rest = ""
        self._held: deque[Block] = deque(maxlen=SHOWN_AT_END)
        self._left_out = 0

    @property
    def unfinished(self) -> str:
        """The line that is being written."""
        return self._rest

    def feed(self, kind: str, text: str) -> list[Block]:
        """Takes a piece; gives what is to be shown now."""
        blocks = []
        if kind != self._kind and self._rest:
            blocks += self._lines([self._rest])
            self._rest = ""
        self._kind = kind
        *lines, rest = (self._rest + text).split("\n")
        self._rest = rest[-LONGEST_LINE:]
        blocks += self._lines(lines)
        if kind not in {"stdout", "stderr"} and self._rest:
            # A result or a traceback comes whole; it just has no line end.
            blocks += self._lines([self._rest])
            self._rest = ""
        return blocks

    def finish(self) -> tuple[int, list[Block]]:
        """The run is over: how many lines were left out, and the last ones."""
        rest, self._rest = self._rest, ""
        blocks = self._lines([rest]) if rest else []
        held, self._held = list(self._held), deque(maxlen=SHOWN_AT_END)
        return self._left_out - len(held), [*held, *blocks]

    def _lines(self, lines: list[str]) -> list[Block]:
        if not lines:
            return []
        room = max(0, SHOWN_AT_ONCE - self._shown)
        now, later = lines[:room], lines[room:]
        self._shown += len(now)
        for line in later:
            self._left_out += 1
            self._held.append(Block(self._kind, line[:LONGEST_LINE]))
        text = "\n".join(line[:LONGEST_LINE] for line in now)
        return [Block(self._kind, text)] if now else []
