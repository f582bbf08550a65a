"""Functions of Sayso, for the code that it runs.

    sayso.tell("half way", fraction=0.5)                        a line of progress on the screens
    sayso.background()                                          nobody need wait for this run
    sayso.ask("Which of the two?", choices=["red", "blue"])     asks the person, returns the answer
    sayso.together(f, g)                                        calls both at once; a list of values
    sayso.NAME(...)                                             calls a tool that is offered to code
    mcp.SERVER.NAME(...)                                        calls a tool of an MCP server
    browser.click("Save")                                       uses Sayso's own browser, of which
                                                                `computer` knows more names

Each returns when it is done; there is nothing to await. What is refused raises `sayso.Refused`,
whose text says why. They work while a run lasts, in the process that runs it.
"""

import itertools
import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterable
from typing import Any

__all__ = [
    "NotThereError", "Refused", "ask", "background", "call", "call_shown", "mcp", "tell",
    "together",
]  # fmt: skip

_LENGTH = struct.Struct(">I")
_ANSWER = struct.Struct(">IIc")
_MARKER_BYTES = 16

_OPENING_S = 1.0
"""How long a call waits for the word that its run is open, which is sent together with the code."""

_NOT_HERE = "Sayso cannot be called from here."
_FORKED = "Sayso can be called in the process of the run only, not in what that started."


class Refused(Exception):
    """The call was not carried out; the text says why."""


class NotThereError(Refused):
    """There is no such function, or none can be called from here."""


def tell(text: object, fraction: float | None = None) -> None:
    """Show the person how far it is: a line, and a number from 0 to 1 if that is known."""
    arguments: dict[str, object] = {"text": str(text)}
    if fraction is not None:
        arguments["fraction"] = float(fraction)
    call("tell", **arguments)


def ask(question: object, choices: Iterable[object] = ()) -> str:
    """Ask the person, who answers by voice or on a screen; return the answer as text.

    With `choices` it is one of them.
    """
    arguments: dict[str, object] = {"question": str(question)}
    arguments["choices"] = [str(each) for each in choices]
    return str(call_shown("ask", arguments))


def background() -> None:
    """Go on in the background: the person and the model go on meanwhile, and are told of the end.

    Raises `Refused` if as much goes on there as may.
    """
    call("background")


def together(*functions: Callable[[], object]) -> list[Any]:
    """Call all of these at once, and return their values in order, when all are done.

    If any raises, so does this, with what the first of them raised.
    """
    values: dict[int, object] = {}
    errors: dict[int, BaseException] = {}

    def run(number: int, function: Callable[[], object]) -> None:
        try:
            values[number] = function()
        except BaseException as error:  # noqa: BLE001 - it is raised again below
            errors[number] = error

    threads = [
        threading.Thread(target=run, args=each, daemon=True) for each in enumerate(functions)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[min(errors)]
    return [values[number] for number in range(len(functions))]


def call(name: str, /, **arguments: object) -> Any:  # noqa: ANN401 - what JSON can say
    """Call a function of Sayso's by its name."""
    if _channel is None:
        raise NotThereError(_NOT_HERE)
    return _channel.call(name, arguments)


def __getattr__(name: str) -> Callable[..., Any]:
    """Any other function that Sayso has for this run."""
    if name.startswith("_"):
        raise AttributeError(name)

    def function(*given: object, **named: object) -> Any:  # noqa: ANN401 - as above
        return call_shown(name, {**named, "*": list(given)} if given else dict(named))

    function.__name__ = function.__qualname__ = name
    return function


class _DottedName:
    """`mcp.SERVER.NAME`: a function by its whole name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "_DottedName":
        if name.startswith("_"):
            raise AttributeError(name)
        return _DottedName(f"{self._name}_{name}")

    def __call__(self, *given: object, **named: object) -> Any:  # noqa: ANN401 - what JSON can say
        return call_shown(self._name, {**named, "*": list(given)} if given else dict(named))

    def __repr__(self) -> str:
        return f"<{self._name}: functions of Sayso>"


mcp = _DottedName("mcp")


def call_shown(name: str, arguments: dict[str, object]) -> Any:  # noqa: ANN401 - as above
    """Call a function before which all that was printed is shown."""
    if _channel is None:
        raise NotThereError(_NOT_HERE)
    return _channel.call(name, arguments, _channel.mark())


_REFUSALS = {b"r": Refused, b"n": NotThereError}


class _Waiting:
    """A call that waits for its answer."""

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.letter, self.body = b"r", b""

    def settle(self, letter: bytes, body: bytes) -> None:
        self.letter, self.body = letter, body
        self.answered.set()


class _Channel:
    """This end of the channel; frames are described in `runtimes/calls/frames.py`."""

    def __init__(self, descriptor: int, mark: Callable[[int], None]) -> None:
        os.set_inheritable(descriptor, False)
        self._socket = socket.socket(fileno=descriptor)
        self._socket.setblocking(True)
        self._numbers = itertools.count(1)
        self._marks = itertools.count(1)
        self._mark = mark
        self._sending = threading.Lock()
        self._waiting: dict[int, _Waiting] = {}
        self._changed = threading.Condition()
        self._begun = self._opened = ""
        self._open = False
        self._marker = b""
        self._why = _NOT_HERE
        threading.Thread(target=self._read, name="sayso-calls", daemon=True).start()
        os.register_at_fork(after_in_child=self._forget)

    def begin(self, run: str) -> None:
        """Begin a run: what is open belongs to an earlier one."""
        self._begun = run

    def mark(self) -> int:
        """Set a mark in what is printed, and return its number."""
        number = next(self._marks)
        self._mark(number)
        return number

    def call(self, name: str, arguments: dict[str, object], after: int = 0) -> Any:  # noqa: ANN401 - as above
        number, waiting = next(self._numbers), _Waiting()
        frame = {"id": number, "name": name, "args": arguments}
        frame |= {"after": after} if after else {}
        body = json.dumps(frame, allow_nan=False).encode()  # Not a number is for the code to mend.
        if self._opened != self._begun:
            with self._changed:
                self._changed.wait_for(lambda: self._opened == self._begun, _OPENING_S)
        if not self._open:
            raise NotThereError(self._why)
        self._waiting[number] = waiting
        try:
            self._send(_LENGTH.pack(len(body)) + body)
            if not self._open:
                raise Refused(self._why)
            waiting.answered.wait()
        finally:
            self._waiting.pop(number, None)
        if waiting.letter in _REFUSALS:
            raise _REFUSALS[waiting.letter](waiting.body.decode(errors="replace"))
        return json.loads(waiting.body) if waiting.letter == b"v" else waiting.body

    def _send(self, data: bytes) -> None:
        with self._sending:
            try:
                marker, self._marker = self._marker, b""
                self._socket.sendall(marker + data)
            except BaseException:
                # Cut in half, it would be the beginning of the next; the next run begins anew.
                self._shut(b"A call was stopped while it was sent; calls go on in the next run.")
                raise

    def _read(self) -> None:
        while True:
            try:
                length, number, letter = _ANSWER.unpack(self._exactly(_ANSWER.size))
                body = self._exactly(length)
            except OSError:
                self._shut(_NOT_HERE.encode())
                return
            if letter == b"o":
                self._shut(b"The run that this call came from is over.")
                with self._sending, self._changed:
                    self._marker, self._open = body[:_MARKER_BYTES], True
                    self._opened = body[_MARKER_BYTES:].decode()
                    self._changed.notify_all()
            elif letter == b"x":
                self._shut(body)
            elif waiting := self._waiting.get(number):
                waiting.settle(letter, body)

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            if not piece:
                raise OSError("the server has hung up")
            data += piece
        return bytes(data)

    def _shut(self, why: bytes) -> None:
        self._open = False
        self._why = why.decode(errors="replace")
        for waiting in list(self._waiting.values()):
            waiting.settle(b"r", why)

    def _forget(self) -> None:
        """In a process that was forked: leave the channel to the one that it belongs to."""
        self._socket.close()
        self._sending = threading.Lock()
        self._open, self._opened = False, self._begun
        self._why = _FORKED


def begin(run: str) -> None:
    """Tell that a run begins, as the server knows it; for the kernel alone."""
    if _channel:
        _channel.begin(run)


_channel: _Channel | None = None


def connect(descriptor: int, mark: Callable[[int], None]) -> None:
    """Be the end of the channel that this process has inherited; `mark` sets a mark with this
    number in what is printed."""
    global _channel  # noqa: PLW0603 - a module is what code imports
    _channel = _Channel(descriptor, mark)
