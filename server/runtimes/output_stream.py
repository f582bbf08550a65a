"""Collects one run's output and passes it on in pieces, within a bound that it reports.

An interpreter may print a line every microsecond. Pieces are handed on at most every 50 ms, so a
screen moves smoothly and nobody drowns; a run that prints more than anyone reads keeps its
beginning and its end.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import replace

from sayso.server.runtimes.runtime import Output

PIECE_S = 0.05
"""How long to wait for more before a piece is handed on: below what an eye takes for a halt."""

PIECE_CHARACTERS = 64 * 1024
"""A piece of this size is handed on at once."""

KEPT_CHARACTERS = 8 * 1024**2
"""What is handed on of one run's text, whole: a book of ten thousand pages; then its end."""

TAIL_CHARACTERS = 64 * 1024
"""What is kept of the end of a run that printed more: where it stopped is in there."""

RICH_MOST = 100
"""Plots, tables and pictures in one run; the hundred-and-first tells nobody anything new."""


SHOWN_S = 2.0
"""How long at most to wait until what was printed is shown: pieces are handed on within PIECE_S,
and a reader that takes longer is busy with something else."""


class HeadAndTail:
    """Lets the beginning of an output pass, keeps its end, and counts each character between."""

    def __init__(self, head: int, tail: int = TAIL_CHARACTERS) -> None:
        """So many characters of each."""
        self._head_room = head
        self._tail_room = tail
        self._tail: deque[Output] = deque()
        self._tail_characters = 0
        self.left_out = 0
        """Characters between the two."""

    def take(self, output: Output) -> Output | None:
        """Take the next piece; return what of it passes at once."""
        text = output.text
        if len(text) <= self._head_room and not self._tail:
            self._head_room -= len(text)
            return output
        first, text = text[: self._head_room], text[self._head_room :]
        self._head_room = 0
        self._tail.append(replace(output, text=text))
        self._tail_characters += len(text)
        while (much := self._tail_characters - self._tail_room) > 0:
            oldest = self._tail.popleft()
            if len(oldest.text) > much:
                self._tail.appendleft(replace(oldest, text=oldest.text[much:]))
            gone = min(much, len(oldest.text))
            self._tail_characters -= gone
            self.left_out += gone
        return Output(output.kind, first) if first else None

    def rest(self, note: str = "") -> list[Output]:
        """What comes last: how much was left out, with this note, and the end."""
        rest: list[Output] = []
        if self.left_out:
            told = f"\n[{self.left_out:,} characters of output left out here{note}]\n"
            rest.append(Output("stderr", told))
        for output in self._tail:
            if rest and _joins(rest[-1], output):
                rest[-1] = replace(rest[-1], text=rest[-1].text + output.text)
            else:
                rest.append(output)
        return rest


class OutputStream:
    """One run's outputs, from the reader of the interpreter to the caller of the run."""

    def __init__(self) -> None:
        self._pieces: deque[Output | int] = deque()
        """With marks between them, by their numbers."""
        self._marked = self._shown = 0
        """The last mark that came, and the last of which all before it was shown."""
        self._looked_on = asyncio.Condition()
        self._rich = self._rich_left_out = 0
        self._bound = HeadAndTail(KEPT_CHARACTERS)
        self.silent = True
        """Whether it has said nothing at all."""
        self._stirred = asyncio.Event()
        self.ended = asyncio.Event()

    def add(self, output: Output) -> None:
        """Take in an output."""
        if not (output.text or output.data):
            return
        self.silent = False
        if output.mime != "text/plain":
            self._rich += 1
            if self._rich > RICH_MOST:
                self._rich_left_out += 1
                return
        passed = self._bound.take(output)
        if passed is None:
            return
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, Output) and _joins(last, passed) and len(last.text) < PIECE_CHARACTERS:
            self._pieces[-1] = replace(last, text=last.text + passed.text)
        else:
            self._pieces.append(passed)
        self._stirred.set()

    def mark(self, number: int) -> None:
        """All that the interpreter had printed when it counted to this has come."""
        self._marked = max(self._marked, number)
        self._pieces.append(self._marked)
        self._stirred.set()

    async def shown(self, number: int) -> None:
        """Return when all that came before a mark was handed on and the caller has asked for more;
        or when that takes too long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SHOWN_S), self._looked_on:
                await self._looked_on.wait_for(lambda: self._shown >= number)

    def end(self) -> None:
        """Nothing more comes."""
        self.ended.set()
        self._stirred.set()

    async def pieces(self) -> AsyncGenerator[Output]:
        """Yield what comes until the run has ended."""
        loop = asyncio.get_running_loop()
        handed_on_at = loop.time() - PIECE_S
        while True:
            await self._stirred.wait()
            pause = handed_on_at + PIECE_S - loop.time()
            if pause > 0 and not self.ended.is_set() and not self._is_full():
                await self._until_full(pause)
            self._stirred.clear()
            handed_on_at = loop.time()
            ended = self.ended.is_set()
            while self._pieces:
                piece = self._pieces.popleft()
                if isinstance(piece, Output):
                    yield piece
                else:
                    await self._has_shown(piece)
            if ended:
                for output in self._rest():
                    yield output
                return

    async def _has_shown(self, mark: int) -> None:
        async with self._looked_on:
            self._shown = mark
            self._looked_on.notify_all()

    def _rest(self) -> list[Output]:
        rest = self._bound.rest()
        if self._rich_left_out:
            rest.append(
                Output("stderr", f"[{self._rich_left_out:,} more plots or tables left out]\n")
            )
        return rest

    def _is_full(self) -> bool:
        """Whether there is enough to be handed on at once, or somebody waits for that."""
        first = self._pieces[0] if self._pieces else None
        waits = self._marked > self._shown
        return waits or (isinstance(first, Output) and len(first.text) >= PIECE_CHARACTERS)

    async def _until_full(self, pause: float) -> None:
        """Wait for the pause to pass, the run to end or a piece to fill up."""
        deadline = asyncio.get_running_loop().time() + pause
        while not self.ended.is_set() and not self._is_full():
            self._stirred.clear()
            try:
                async with asyncio.timeout_at(deadline):
                    await self._stirred.wait()
            except TimeoutError:
                return


def _joins(first: Output, second: Output) -> bool:
    """Whether two outputs are one text: only streams go on where they stopped."""
    return first.kind == second.kind and first.kind in ("stdout", "stderr")
