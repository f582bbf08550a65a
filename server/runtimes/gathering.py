"""What one run says: gathered as it comes, handed on in pieces, bounded and honest about it.

A kernel may print a line every microsecond. Pieces are handed on at most every 50 ms, so a screen
moves smoothly and nobody drowns; a run that prints more than anyone reads keeps its beginning and
its end.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Container
from dataclasses import replace

from sayso.server.runtimes.outputs import PlainText, failed, in_a_line, said, shown
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.runtimes.wire import Message

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

_LAST_OUTPUTS_S = 1.0
"""After its answer a kernel says within milliseconds that it is idle; if it does not, that word is
lost."""


_LEFT = (
    "The code ended its own interpreter, and its variables are lost; the next run gets a new one."
)


class Gathering:
    """One run's outputs, from the kernel's messages to pieces for whoever asked."""

    def __init__(self, request: str, earlier: Container[str] = ()) -> None:
        """Gather for a request; `earlier` are those whose threads may still print."""
        self._request = request
        self._earlier = earlier
        self._pieces: deque[Output] = deque()
        self._plain = {"stdout": PlainText(), "stderr": PlainText()}
        self._characters = self._rich = self._left_out = self._rich_left_out = 0
        self._tail: deque[Output] = deque()
        self._tail_characters = 0
        self._answer: Message | None = None
        self._idle = False
        self._death = ""
        self._dead = False
        self._stirred = asyncio.Event()
        self.ended = asyncio.Event()
        self.leaves = False
        """Whether the code told its kernel to end, which it will do in a moment."""
        self.interrupted = ""
        """Why the run was asked to stop, if it was: a sentence."""

    def heard(self, message: Message) -> None:
        """Take in a message from the output channel."""
        mine = message.parent == self._request
        if message.kind == "stream" and (output := said(message.content)):
            if not mine and message.parent not in self._earlier:
                return  # what the kernel said while it started
            self._left_out += message.left_out
            self._add(replace(output, text=self._plain[output.kind].feed(output.text)))
        elif not mine:
            return
        elif message.kind == "execute_result" and (output := shown("result", message.content)):
            self._add(output)
        elif message.kind in ("display_data", "update_display_data"):
            if output := shown("display", message.content):
                self._add(output)
        elif message.kind == "error":
            self._add(failed(message.content))
        elif message.kind == "status" and message.content.get("execution_state") == "idle":
            self._idle = True
            self._look_whether_ended()

    def answered(self, message: Message) -> None:
        """Take in the kernel's answer to the request itself."""
        if message.parent == self._request and message.kind == "execute_reply":
            self._answer = message
            self._take_payload(message.content.get("payload"))
            asyncio.get_running_loop().call_later(_LAST_OUTPUTS_S, self._no_longer_wait)
            self._look_whether_ended()

    def died(self, how: str) -> bool:
        """The kernel is gone; `how` is a sentence about it. Return whether the run dies of it."""
        if self.ended.is_set():
            return False
        self._dead, self._death = True, how
        self._end()
        return True

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

    def ending(self, seconds: float) -> Ending:
        """How it ended, once it has."""
        if self._dead:
            return Ending("died", seconds, self._death)
        if self.leaves:
            return Ending("died", seconds, _LEFT)
        content = self._answer.content if self._answer else {}
        if self.interrupted:
            return Ending("interrupted", seconds, self.interrupted)
        if content.get("status") == "ok":
            return Ending("ok", seconds)
        if content.get("status") == "aborted":
            return Ending("interrupted", seconds, "It was stopped before it began.")
        if content.get("ename") == "StdinNotImplementedError":
            return Ending(
                "error",
                seconds,
                "The code asked for input, but nobody can type here; put the values in the code.",
            )
        return Ending("error", seconds, in_a_line(content))

    def _take_payload(self, payload: object) -> None:
        """Some answers come along with the reply: pages of help, and that the kernel will end."""
        for each in payload if isinstance(payload, list) else ():
            if each.get("source") == "page" and (page := shown("display", each)):
                self._add(page)
            if each.get("source") == "ask_exit" and not each.get("keepkernel"):
                self.leaves = True

    def _add(self, output: Output) -> None:
        if output.mime != "text/plain":
            self._rich += 1
            if self._rich > RICH_MOST:
                self._rich_left_out += 1
                return
        if self._characters + len(output.text) > HEAD_CHARACTERS:
            self._keep_at_end(output)
            return
        self._characters += len(output.text)
        last = self._pieces[-1] if self._pieces else None
        if last and _joins(last, output) and len(last.text) < PIECE_CHARACTERS:
            self._pieces[-1] = replace(last, text=last.text + output.text)
        elif output.text or output.data:
            self._pieces.append(output)
        self._stirred.set()

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

    def _look_whether_ended(self) -> None:
        if self._answer and self._idle:
            self._end()

    def _no_longer_wait(self) -> None:
        self._idle = True
        self._look_whether_ended()

    def _end(self) -> None:
        self.ended.set()
        self._stirred.set()


def _joins(first: Output, second: Output) -> bool:
    """Whether two outputs are one text: only streams go on where they stopped."""
    return first.kind == second.kind and first.kind in ("stdout", "stderr")
