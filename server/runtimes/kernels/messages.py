"""Translates the Jupyter messages of one run into outputs and an ending."""

import asyncio
from collections.abc import Container, Mapping
from dataclasses import replace

from sayso.server.runtimes.kernels.outputs import PlainText, failed, in_a_line, said, shown
from sayso.server.runtimes.kernels.wire import Message
from sayso.server.runtimes.output_stream import OutputStream
from sayso.server.runtimes.runtime import Ending, Output

_LOOK_S = 0.25
_QUIET_LOOKS = 4
"""After its answer a kernel tells the last of its outputs and that it is idle, within milliseconds
or as fast as a busy machine lets it. If so many looks in a row find nothing new, that word is
lost. One long wait could end before anybody had listened, where the server itself was held up."""
_MOST_LOOKS = 240
"""A minute: a thread of the code may print for ever."""

MARK = "sayso_mark"
"""The kind of a message of ours with a number: what was printed before it comes before it."""

LEFT = (
    "The code ended its own interpreter, and its variables are lost; the next run gets a new one."
)

UNKNOWN = "Its interpreter did not say how it ended; look at what it did before you run it again."

TOO_LARGE = "\n[More was put out at once than can be read; it is left out here]\n"


class MessageCollector(OutputStream):
    """Turns the kernel's messages of one run into pieces of output for the caller."""

    def __init__(self, request: str, earlier: Container[str] = ()) -> None:
        """Gather for a request; `earlier` are those whose threads may still print."""
        super().__init__()
        self._request = request
        self._earlier = earlier
        self._plain = {"stdout": PlainText(), "stderr": PlainText()}
        self._answer: Message | None = None
        self._idle = False
        self._failure: Mapping[str, object] = {}
        self._messages = 0
        self.seen = asyncio.Event()
        """Set when the interpreter has shown that it took in the request."""
        self.begun = asyncio.Event()
        """Set when the interpreter has begun with the code, or will not any more."""
        self._death = ""
        self._dead = False
        self.leaves = False
        """Whether the code told its kernel to end, which it will do in a moment."""
        self.interrupted = ""
        """Why the run was asked to stop, if it was: a sentence."""

    def heard(self, message: Message) -> None:
        """Take in a message from the output channel."""
        self._messages += 1
        mine = self._is_mine(message)
        if message.kind == "stream" and (output := said(message.content)):
            if not mine and message.parent not in self._earlier:
                return  # what the kernel said while it started
            text = self._plain[output.kind].feed(output.text)
            self.add(replace(output, text=text))
        elif not mine:
            return
        elif message.kind == "execute_result" and (output := shown("result", message.content)):
            self.add(output)
        elif message.kind in ("display_data", "update_display_data"):
            if output := shown("display", message.content):
                self.add(output)
        elif message.kind == "error":
            self._failure = message.content
            self.add(failed(message.content))
        elif message.kind == "execute_input":
            self.begun.set()
        elif message.kind == "status" and message.content.get("execution_state") == "idle":
            self._is_idle()

    def marked(self, message: Message) -> None:
        """Take in a mark: what was printed before it has come."""
        number = message.content.get("mark")
        self.mark(number if type(number) is int else 0)

    def answered(self, message: Message) -> None:
        """Take in the kernel's answer to the request itself."""
        if self._is_mine(message) and message.kind == "execute_reply":
            self._answer = message
            self._take_payload(message.content.get("payload"))
            self._look_whether_ended()
            self._look_for_more(-1, 0, _MOST_LOOKS)

    def missed(self) -> None:
        """Something was said that was too large to be read."""
        self.add(Output("stderr", TOO_LARGE))

    def died(self, how: str) -> bool:
        """The kernel is gone; `how` is a sentence about it. Return whether the run dies of it."""
        if self.ended.is_set():
            return False
        self._dead, self._death = True, how
        self.end()
        return True

    def ending(self, seconds: float) -> Ending:
        """How it ended, once it has."""
        if self._dead:
            return Ending("died", seconds, self._death)
        if self.leaves:
            return Ending("died", seconds, LEFT)
        content = self._answer.content if self._answer else self._failure
        if self.interrupted:
            return Ending("interrupted", seconds, self.interrupted)
        if content.get("status") == "ok":
            return Ending("ok", seconds)
        if content.get("status") == "aborted":
            return Ending("interrupted", seconds, "It was stopped before it began.")
        if not content:
            return Ending("error", seconds, UNKNOWN)
        if content.get("ename") == "StdinNotImplementedError":
            return Ending(
                "error",
                seconds,
                "The code asked for input, but nobody can type here; put the values in the code.",
            )
        return Ending("error", seconds, in_a_line(content))

    def _is_mine(self, message: Message) -> bool:
        mine = message.parent == self._request
        if mine:
            self.seen.set()
        return mine

    def _is_idle(self) -> None:
        self._idle = True
        self._look_whether_ended()
        if not self._answer:
            # What goes wrong in the kernel just before or after the code leaves no answer.
            self._look_for_more(-1, 0, _MOST_LOOKS)

    def end(self) -> None:
        """Nothing more comes."""
        self.begun.set()
        self.seen.set()
        super().end()

    def _take_payload(self, payload: object) -> None:
        """Some answers come along with the reply: pages of help, and that the kernel will end."""
        for each in payload if isinstance(payload, list) else ():
            if not isinstance(each, dict):
                continue
            if each.get("source") == "page" and (page := shown("display", each)):
                self.add(page)
            if each.get("source") == "ask_exit" and not each.get("keepkernel"):
                self.leaves = True

    def _look_whether_ended(self) -> None:
        if self._answer and self._idle:
            self.end()

    def _look_for_more(self, before: int, quiet: int, left: int) -> None:
        """End when no message has come in several looks in a row, or this is the last of them;
        `before`: how many there were at the one before."""
        quiet = quiet + 1 if self._messages == before else 0
        if quiet == _QUIET_LOOKS or not left:
            self.end()
        elif not self.ended.is_set():
            again = (self._messages, quiet, left - 1)
            asyncio.get_running_loop().call_later(_LOOK_S, self._look_for_more, *again)
