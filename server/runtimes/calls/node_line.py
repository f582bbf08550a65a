"""How node says what it wants called: a script in the sandbox, which the driver loads."""

import contextlib
import json
import os
import selectors
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sayso.server.runtimes.calls.relay import Relay, Writer

_ANSWER = struct.Struct(">IIc")
_READ_BYTES = 64 * 1024

WISH_MOST_BYTES = 1024**2
"""As long as a call may be (frames.py); node itself refuses to say more."""

WISHES, ANSWERS = 249, 248
"""What node knows its ends of the two pipes by, beside those of the driver (driver.py)."""


class Line:
    """A pipe of wishes, a line of JSON each, and one of answers, which node opens anew: so what it
    starts inherits neither."""

    def __init__(self, relay: "Relay") -> None:
        self._relay = relay
        self._wishes = -1
        self._answers: Writer | None = None
        self._received = bytearray()

    def ends(self) -> dict[int, int]:
        if self._answers:
            self.listen(listening=False)
            os.close(self._wishes)
            self._answers.close()
        self._wishes, wishes = os.pipe()
        answers, ours = os.pipe()
        os.set_blocking(self._wishes, False)
        self._answers = self._relay.writer(ours)
        self._received.clear()
        self.listen(listening=True)
        return {WISHES: wishes, ANSWERS: answers}

    def listen(self, *, listening: bool) -> None:
        with contextlib.suppress(KeyError):  # it does already
            if listening:
                self._relay.watched.register(self._wishes, selectors.EVENT_READ, self._hear)
            else:
                self._relay.watched.unregister(self._wishes)

    def begin(self) -> str:
        return ""  # what was answered is read by the same node: nothing is dropped

    @property
    def unread(self) -> int:
        return len(self._answers.unread) if self._answers else 0

    def _hear(self) -> None:
        try:
            data = os.read(self._wishes, _READ_BYTES)
        except BlockingIOError:
            return
        if not data:  # node is gone; the next one gets another line
            self.listen(listening=False)
            return
        self._received += data
        *lines, rest = self._received.split(b"\n")
        self._received = rest if len(rest) <= WISH_MOST_BYTES else bytearray()
        for line in lines:
            self._take(bytes(line))

    def _take(self, line: bytes) -> None:
        try:
            said = json.loads(line)
            number, name, arguments = said["id"], said["name"], said["args"]
            _ANSWER.pack(0, number, b"v")
        except (ValueError, RecursionError, TypeError, KeyError, struct.error):
            return  # nothing, or what code has forged
        writer = self._answers

        def answer(letter: str, body: bytes) -> None:
            if writer:
                writer.write(_ANSWER.pack(len(body), number, letter.encode()) + body)
                self._relay.look()

        self._relay.want(name, arguments, answer, after_output=said.get("after") is True)
