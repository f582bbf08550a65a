"""Shortens and redacts a run's output before the model gets it: a short output is kept whole, a
long one loses its middle. The person still sees all of it on the screen."""

from typing import Final

from sayso.server.agent.tools.output_pages import gap_note
from sayso.server.runtimes.runtime import Output
from sayso.server.store.redaction import LONGEST_SECRET, redacted, redacted_part

_HEAD_SHARE: Final = 0.4
"""The beginning says what it is, the end how it came out; errors are at the end."""


class Digest:
    """Takes output as it comes and keeps little more of it than the model may see: where it is cut,
    as much as tells whether the cut goes through a secret."""

    def __init__(self, characters: int, run: str = "") -> None:
        """`run`: the name under which the whole can be read."""
        self._run = run
        self._head_room = int(characters * _HEAD_SHARE)
        self._tail_room = characters - self._head_room
        self._head = ""
        self._tail = ""
        self._length = 0

    def take(self, output: Output) -> None:
        """Add a piece."""
        text = as_text(output)
        self._length += len(text)
        room = self._head_room + LONGEST_SECRET - len(self._head)
        self._head += text[:room]
        self._tail = (self._tail + text)[-self._tail_room - LONGEST_SECRET :]

    @property
    def text(self) -> str:
        """The output for the model, with a plain word on what is missing from it."""
        head, tail = self._head, self._tail
        end, start = self._head_room, self._length - self._tail_room
        if start <= end:
            whole = head + tail[len(head) + len(tail) - self._length :]
            return redacted(whole)
        note = gap_note(self._run, end, start, self._length)
        before = max(0, len(tail) - self._tail_room)
        last = redacted_part(tail, before, len(tail))
        return f"{redacted_part(head, 0, end)}\n{note}\n{last}"


def as_text(output: Output) -> str:
    """What a model is given of a piece of output."""
    text = output.text
    if output.data:
        shown = f"[{output.mime} shown to the person]"
        text = f"{shown} {text}\n" if text else f"{shown}\n"
    return text + "\n" if output.kind == "result" and not text.endswith("\n") else text
