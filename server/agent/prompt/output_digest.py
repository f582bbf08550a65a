"""Shortens and redacts a run's output before the model gets it: a short output is kept whole, a
long one loses its middle. Progress that was drawn over itself and the middle of a long traceback
are folded. The person still sees all of it on the screen, and what is kept on the disk is whole.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final

from sayso.server.agent.tools.output_page_syntax import gap_note
from sayso.server.runtimes.runtime import Output
from sayso.server.store.redaction import LONGEST_SECRET, redacted, redacted_part

_HEAD_SHARE: Final = 0.4
"""The beginning says what it is, the end how it came out; errors are at the end."""

_LINE_MOST: Final = 4_096
"""Of a line that is not ended yet: it waits, because what comes next may be drawn over it."""

_TRACEBACK_HEAD, _TRACEBACK_TAIL = 12, 36
"""Lines of a long traceback: where the code itself was, and where it failed."""

Part = tuple[int, str]
"""Text for the model, and where it stands in all that was put out."""


class Digest:
    """Takes output as it comes and keeps little more of it than the model may see: where it is cut,
    as much as tells whether the cut goes through a secret."""

    def __init__(self, characters: int, run: str = "") -> None:
        """`run`: the name under which the whole can be read."""
        self._run = run
        self._head_room = int(characters * _HEAD_SHARE)
        self._tail_room = characters - self._head_room
        self._folding = _Folding()
        self._head: list[Part] = []
        self._tail: deque[Part] = deque()
        self._in_head = self._in_tail = self._length = 0
        """Characters of each, and of all that was folded."""

    def take(self, output: Output) -> None:
        """Add a piece."""
        for part in self._folding.feed(output):
            self._add(part)

    @property
    def text(self) -> str:
        """The output for the model, with a plain word on what is missing from it. It is for the
        end: nothing is to be added any more."""
        for part in self._folding.rest():
            self._add(part)
        head, tail = _joined(self._head), _joined(self._tail)
        end, start = self._head_room, self._length - self._tail_room
        if start <= end:
            whole = head + tail[len(head) + len(tail) - self._length :]
            return redacted(whole)
        before = max(0, len(tail) - self._tail_room)
        gap = (_place(self._head, end), _place(self._tail, before))
        note = gap_note(self._run, *gap, self._folding.characters)
        last = redacted_part(tail, before, len(tail))
        return f"{redacted_part(head, 0, end)}\n{note}\n{last}"

    def _add(self, part: Part) -> None:
        at, text = part
        self._length += len(text)
        if (room := self._head_room + LONGEST_SECRET - self._in_head) > 0:
            self._head.append((at, text[:room]))
            self._in_head += len(text[:room])
        self._tail.append(part)
        self._in_tail += len(text)
        while (much := self._in_tail - self._tail_room - LONGEST_SECRET) > 0:
            at, text = self._tail.popleft()
            if len(text) > much:
                self._tail.appendleft((at + much, text[much:]))
            self._in_tail -= min(much, len(text))


class _Folding:
    """Leaves out what was drawn over, and the middle of long tracebacks."""

    def __init__(self) -> None:
        self.characters = 0
        """All that was put out."""
        self._line = ""
        """What came of a line that is not ended."""
        self._line_at = 0

    def feed(self, output: Output) -> Iterator[Part]:
        """The parts of a piece that are told."""
        text, at = as_text(output), self.characters
        self.characters += len(text)
        if output.kind == "error":
            yield from self.rest()
            yield from _traceback(at, text)
            return
        if self._line:
            text, at = self._line + text, self._line_at
        ended = text.rfind("\n") + 1
        yield from _lines(at, text[:ended])
        self._line_at, self._line = at + ended, text[ended:]
        if "\r" in self._line:
            self._line_at, self._line = _last_drawn(self._line_at, self._line)
        if len(self._line) > _LINE_MOST:
            yield from self.rest()

    def rest(self) -> Iterator[Part]:
        """The line that is not ended, as it stands."""
        if self._line:
            yield self._line_at, self._line
        self._line = ""


def _lines(at: int, text: str) -> Iterator[Part]:
    if "\r" not in text:
        if text:
            yield at, text
        return
    for line in _by_newline(text):
        yield _last_drawn(at, line) if "\r" in line else (at, line)
        at += len(line)


def _by_newline(text: str) -> list[str]:
    return [f"{line}\n" for line in text.split("\n")[:-1]]


def _last_drawn(at: int, line: str) -> Part:
    """What stands there when a line was drawn over, with its end."""
    drawn = line.rstrip("\r\n")
    first = drawn.rfind("\r") + 1
    return at + first, drawn[first:] + ("\n" if line.endswith("\n") else line[len(drawn) :])


def _traceback(at: int, text: str) -> Iterator[Part]:
    lines = _by_newline(text if text.endswith("\n") else f"{text}\n")
    left_out = len(lines) - _TRACEBACK_HEAD - _TRACEBACK_TAIL
    if left_out <= 1:
        yield at, text
        return
    head = "".join(lines[:_TRACEBACK_HEAD])
    tail_length = len(text) - len("".join(lines[:-_TRACEBACK_TAIL]))
    yield at, head
    yield at + len(head), f"[{left_out} lines of the traceback left out here]\n"
    yield at + len(text) - tail_length, text[-tail_length:]


def _joined(parts: "list[Part] | deque[Part]") -> str:
    return "".join(text for _, text in parts)


def _place(parts: "list[Part] | deque[Part]", index: int) -> int:
    """Where a character of these parts stands in all that was put out."""
    place = 0
    for at, text in parts:
        if index < len(text):
            return at + index
        index -= len(text)
        place = at + len(text)
    return place


def as_text(output: Output) -> str:
    """What a model is given of a piece of output."""
    text = output.text
    if output.data:
        shown = f"[{output.mime} shown to the person]"
        text = f"{shown} {text}\n" if text else f"{shown}\n"
    return text + "\n" if output.kind == "result" and not text.endswith("\n") else text
