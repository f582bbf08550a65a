"""Collects one run's output and passes it on in pieces, within a bound that it reports.

An interpreter may print a line every microsecond. Pieces are handed on at most every 50 ms, so a
screen moves smoothly and nobody drowns; a run that prints more than anyone reads keeps its
beginning and its end.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import replace

from sayso.server.runtimes.runtime import Output

PIECE_S = 0.05
"""How long to wait for more before a piece is handed on: below what an eye takes for a halt."""

PIECE_CHARACTERS = 64 * 1024
"""A piece of this size is handed on at once."""

HEAD_CHARACTERS = 1024 * 1024
"""What is handed on of one run's text as it comes: hours of reading."""

TAIL_CHARACTERS = 64 * 1024
"""What is kept of the end of a run that printed more: where it stopped is in there."""

RICH_MOST = 100
"""Plots, tables and pictures in one run; the hundred-and-first tells nobody anything new."""


class OutputStream:
    """One run's outputs, from the reader of the interpreter to the caller of the run."""

    def __init__(self) -> None:
        self._pieces: deque[Output] = deque()
        self._characters = self._rich = self._left_out = self._rich_left_out = 0
        self._tail: deque[Output] = deque()
        self._tail_characters = 0
        self._stirred = asyncio.Event()
        self.ended = asyncio.Event()

    def add(self, output: Output, left_out: int = 0) -> None:
        """Take in an output, of which so many characters were left out already."""
        self._left_out += left_out
        if output.mime != "text/plain":
            self._rich += 1
            if self._rich > RICH_MOST:
                self._rich_left_out += 1
                return
        if self._tail or self._characters + len(output.text) > HEAD_CHARACTERS:
            self._keep_at_end(output)
            return
        self._characters += len(output.text)
        last = self._pieces[-1] if self._pieces else None
        if last and _joins(last, output) and len(last.text) < PIECE_CHARACTERS:
            self._pieces[-1] = replace(last, text=last.text + output.text)
        elif output.text or output.data:
            self._pieces.append(output)
        self._stirred.set()

    def end(self) -> None:
        """Nothing more comes."""
        self.ended.set()
        self._stirred.set()

    @property
    def silent(self) -> bool:
        """Whether it has said nothing at all."""
        return not (self._characters or self._rich or self._tail)

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
                yield self._pieces.popleft()
            if ended:
                for output in self._rest():
                    yield output
                return

    def _keep_at_end(self, output: Output) -> None:
        if len(output.text) > TAIL_CHARACTERS:
            self._left_out += len(output.text) - TAIL_CHARACTERS
            output = replace(output, text=output.text[-TAIL_CHARACTERS:])
        self._tail.append(output)
        self._tail_characters += len(output.text)
        while self._tail_characters - len(self._tail[0].text) >= TAIL_CHARACTERS:
            gone = len(self._tail.popleft().text)
            self._tail_characters -= gone
            self._left_out += gone

    def _rest(self) -> list[Output]:
        rest: list[Output] = []
        if self._left_out:
            rest.append(
                Output("stderr", f"\n[{self._left_out:,} characters of output left out here]\n")
            )
        for output in self._tail:
            if rest and _joins(rest[-1], output):
                rest[-1] = replace(rest[-1], text=rest[-1].text + output.text)
            else:
                rest.append(output)
        if self._rich_left_out:
            rest.append(
                Output("stderr", f"[{self._rich_left_out:,} more plots or tables left out]\n")
            )
        return rest

    def _is_full(self) -> bool:
        return bool(self._pieces) and len(self._pieces[0].text) >= PIECE_CHARACTERS

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
