"""Relays calls of an interpreter that the driver drives: a script in the sandbox, without packages,
which the driver loads.

The channel to the server ends here, and nothing that code starts inherits it. The interpreter says
what it wants on a line of its own (node_line.py, shell_line.py); what it says is made into a frame
(frames.py tells how), and the answer goes back to where the wish came from. Nothing here decides
what a call may do: that is the server's.
"""

import contextlib
import json
import os
import runpy
import selectors
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_LENGTH = struct.Struct(">I")
_ANSWER = struct.Struct(">IIc")
_MARKER_BYTES = 16

_READ_BYTES = 64 * 1024

CALL_MOST_BYTES = 1024**2
"""The longest call; frames.py tells why."""

_UNSENT_MOST_BYTES = 2 * CALL_MOST_BYTES
"""What waits to be sent to the server, before nothing more is taken from code."""

_UNREAD_MOST_BYTES = 16 * 1024**2
"""What waits to be read by code, before nothing more is taken from the server: two of the longest
answers."""

_WAITING_MOST = 64
"""Wishes that wait for the word that their run is open; eight at once are carried out."""

_OVER = "The run that this call came from is over."
_HUNG_UP = "Sayso cannot be called from here."


@dataclass
class Wish:
    """What the interpreter wants called."""

    name: str
    arguments: Mapping[str, object]
    answer: Callable[[str, bytes], None]
    """Takes a letter of frames.py, and what it says."""
    after_output: bool = False
    """Whether what was printed before is to be shown before it."""


class Line(Protocol):
    """How one interpreter says what it wants."""

    def ends(self) -> dict[int, int]:
        """The descriptors for the interpreter that is about to start, by the number that it knows
        them by. They are closed when it has them."""
        ...

    def listen(self, *, listening: bool) -> None:
        """Take what comes, or leave it for now."""
        ...

    def begin(self) -> str:
        """A run begins: what waits for an earlier one is dropped. Returns a word that its code is
        to know, if there is one."""
        ...

    @property
    def unread(self) -> int:
        """Bytes that wait for the interpreter to read them."""
        ...


class Relay:
    """Passes calls up and answers down."""

    def __init__(
        self,
        channel: int,
        watched: selectors.DefaultSelector,
        driver: "Driver",
        make_line: Callable[["Relay"], Line],
    ) -> None:
        """Take over a channel's descriptor. What `watched` finds for us has a function as its
        data."""
        self._channel = socket.socket(fileno=channel)
        self._channel.set_inheritable(False)
        self._channel.setblocking(False)
        self.watched = watched
        self.driver = driver
        self._runs = 0
        self._open = False
        self._opened = ""
        self._why = _HUNG_UP
        self._waiting: list[Wish] = []
        """Wishes that came before the word that their run is open."""
        self._calls: dict[int, Wish] = {}
        self._number = 0
        self._received = bytearray()
        self._unsent = bytearray()
        self._wanted = 0
        self._listening = True
        self._gone = False
        self.line = make_line(self)
        self.look()

    def begin(self) -> str:
        """Begin the next run, which the server knows by its number; return what the line
        returns."""
        self._runs += 1
        for wish in (*self._waiting, *self._calls.values()):
            wish.answer("r", _OVER.encode())
        self._waiting, self._calls = [], {}
        word = self.line.begin()
        self.look()
        return word

    def want(
        self,
        name: str,
        arguments: Mapping[str, object],
        answer: Callable[[str, bytes], None],
        *,
        after_output: bool,
    ) -> None:
        """Take a call that the interpreter wants; the parameters are the fields of `Wish`."""
        self.take(Wish(name, arguments, answer, after_output))

    def writer(self, descriptor: int) -> "Writer":
        """Return what writes to a pipe that the interpreter reads."""
        return Writer(descriptor, self.watched)

    def take(self, wish: Wish) -> None:
        """Carry out what the interpreter wants."""
        if self._opened != str(self._runs) and not self._gone:
            if len(self._waiting) < _WAITING_MOST:
                self._waiting.append(wish)
        elif not self._open:
            wish.answer("n", self._why.encode())
        else:
            self._call(wish)

    def look(self) -> None:
        """Read from each side as long as the other has room for what comes."""
        listening = len(self._unsent) < _UNSENT_MOST_BYTES
        if listening != self._listening:
            self._listening = listening
            self.line.listen(listening=listening)
        wanted = selectors.EVENT_READ if self.line.unread < _UNREAD_MOST_BYTES else 0
        wanted |= selectors.EVENT_WRITE if self._unsent else 0
        if wanted != self._wanted and not self._gone:
            if self._wanted:
                self.watched.unregister(self._channel)
            if wanted:
                self.watched.register(self._channel, wanted, self._ready)
            self._wanted = wanted

    def _call(self, wish: Wish) -> None:
        self._number += 1
        frame: dict[str, object] = {"id": self._number, "name": wish.name, "args": wish.arguments}
        if wish.after_output:
            frame["after"] = self.driver.mark()
        try:
            body = json.dumps(frame, allow_nan=False).encode()
        except (ValueError, RecursionError):
            body = b""
        if not body or len(body) > CALL_MOST_BYTES:
            wish.answer("r", f"A call has {CALL_MOST_BYTES} bytes of JSON at most.".encode())
            return
        self._calls[self._number] = wish
        self._unsent += _LENGTH.pack(len(body)) + body
        self._send()

    def _ready(self) -> None:
        self._send()
        if not self._wanted & selectors.EVENT_READ:
            return
        try:
            data = self._channel.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._received += data
            self._read()
            self.look()
        else:
            self._hung_up()

    def _send(self) -> None:
        with contextlib.suppress(OSError):
            while self._unsent:
                del self._unsent[: self._channel.send(self._unsent)]
        self.look()

    def _read(self) -> None:
        while len(self._received) >= _ANSWER.size:
            length, number, letter = _ANSWER.unpack_from(self._received)
            end = _ANSWER.size + length
            if len(self._received) < end:
                return
            body = bytes(self._received[_ANSWER.size : end])
            del self._received[:end]
            self._take_answer(letter.decode("latin-1"), number, body)

    def _take_answer(self, letter: str, number: int, body: bytes) -> None:
        if letter == "o":
            self._shut(_OVER)
            self._open = True
            self._opened = body[_MARKER_BYTES:].decode()
            self._unsent += body[:_MARKER_BYTES]
            waiting, self._waiting = self._waiting, []
            for wish in waiting:
                self.take(wish)
            self._send()
        elif letter == "x":
            self._shut(body.decode(errors="replace"))
        elif number in self._calls:
            self._calls.pop(number).answer(letter, body)

    def _hung_up(self) -> None:
        self.watched.unregister(self._channel)
        self._gone = True
        self._shut(_HUNG_UP)
        waiting, self._waiting = self._waiting, []
        for wish in waiting:
            self.take(wish)

    def _shut(self, why: str) -> None:
        self._open, self._why = False, why
        calls, self._calls = self._calls, {}
        for wish in calls.values():
            wish.answer("r", why.encode())


class Driver(Protocol):
    """What the relay needs of the driver."""

    @property
    def interpreter(self) -> int:
        """The interpreter's process; 0 if there is none."""
        ...

    def mark(self) -> int:
        """Bring what was printed to the server, and a number after it; return that."""
        ...


class Writer:
    """Writes to a pipe that somebody may be slow to read, and never waits."""

    def __init__(self, descriptor: int, watched: selectors.DefaultSelector) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._watched = watched
        self._watching = self._closed = False
        self._last = False
        self.unread = bytearray()

    def write(self, data: bytes) -> None:
        if not self._closed:
            self.unread += data
            self._go_on()

    def finish(self) -> None:
        """Close it when all is written."""
        self._last = True
        self._go_on()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._watch(watching=False)
            self.unread.clear()
            os.close(self._descriptor)

    def _go_on(self) -> None:
        try:
            while self.unread:
                del self.unread[: os.write(self._descriptor, self.unread[:_READ_BYTES])]
        except BlockingIOError:
            self._watch(watching=True)
            return
        except OSError:  # whoever wanted it is gone
            self.close()
            return
        self._watch(watching=False)
        if self._last:
            self.close()

    def _watch(self, *, watching: bool) -> None:
        if watching == self._watching:
            return
        self._watching = watching
        if watching:
            self._watched.register(self._descriptor, selectors.EVENT_WRITE, self._go_on)
        else:
            self._watched.unregister(self._descriptor)


def connect(line: str, channel: int, watched: selectors.DefaultSelector, driver: Driver) -> Relay:
    """Serve a channel for an interpreter that says what it wants on this line, a script beside
    ours."""
    make_line = runpy.run_path(str(Path(__file__).with_name(f"{line}.py")))["Line"]
    return Relay(channel, watched, driver, make_line)
