"""The wire to one kernel: Jupyter's messages over UNIX sockets in a folder that only the two of us
enter."""

import asyncio
import contextlib
import hmac
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jupyter_client.adapter import adapt
from jupyter_client.session import Session

from sayso.protocol.untrusted_json import read_json
from sayso.server.runtimes.kernels.zmtp import Kind, Line

Channel = Literal["shell", "output", "control"]

_PORTS: Mapping[str, int] = {"shell": 1, "iopub": 2, "stdin": 3, "control": 4, "hb": 5}
"""Over ipc a port is the number at the end of a socket's name."""

_SOCKETS = "kernel"
"""How the sockets' names begin."""

_MESSAGE_MOST_BYTES = 64 * 1024**2
"""What is longer is passed over, instead of filling our memory."""

_FRAMES = 5
"""Signature, header, the header of what it answers, what is said about it, content."""

_READ_AT_ONCE_BYTES = 256 * 1024
"""What is read of one message of printed text at a time: decoding 20 MB would stop the event loop
for a third of a second."""

_LEAST_REST = _READ_AT_ONCE_BYTES + 64
"""What is no longer is read at once: a place to cut is found within some bytes."""

_PRINTED = re.compile(rb'\A\{\s*"name":\s*"(stdout|stderr)",\s*"text":\s*"')

_CONTINUES = 0b1000_0000
"""How the bytes of a character in UTF-8 begin, but for its first."""

_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
"""The first half of a character that JSON names in two."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message from the kernel."""

    kind: str
    """As Jupyter calls it: `stream`, `status`, `execute_reply` and so on."""
    parent: str
    """The id of the request that it belongs to."""
    content: Mapping[str, object]


TOO_LONG = Message("", "", {})
"""Stands for a message that was too long to be read."""


def connection_in(folder: Path) -> Path:
    """The file in a kernel's folder that tells how to talk with it."""
    return folder / "connection.json"


def write_connection(folder: Path, key: str) -> Path:
    """Write what a kernel needs to know to talk with us in this folder; return the file."""
    described = {
        "transport": "ipc",
        "ip": str(folder / _SOCKETS),
        "key": key,
        "signature_scheme": "hmac-sha256",
        **{f"{name}_port": number for name, number in _PORTS.items()},
    }
    file = connection_in(folder)
    file.write_text(json.dumps(described), encoding="utf-8")
    file.chmod(0o644)  # the kernel may be another user; the folder keeps others out
    return file


class Wire:
    """The server's end of a kernel's channels."""

    def __init__(self, folder: Path, key: str) -> None:
        self._session = Session(key=key.encode(), username="sayso")
        self._rest: Iterator[Message] = iter(())
        """What is still to be read of a long text."""

        def line(name: str, kind: Kind) -> Line:
            path = folder / f"{_SOCKETS}-{_PORTS[name]}"
            return Line(path, kind, _MESSAGE_MOST_BYTES)

        self._lines: Mapping[Channel, Line] = {
            "shell": line("shell", "DEALER"),
            "control": line("control", "DEALER"),
            "output": line("iopub", "SUB"),
        }

    async def send(
        self, channel: Literal["shell", "control"], kind: str, content: Mapping[str, object]
    ) -> str:
        """Send a request; return its id."""
        message = self._session.msg(kind, dict(content))
        await self._lines[channel].send(self._session.serialize(message))
        return str(message["header"]["msg_id"])

    async def receive(self, channel: Channel) -> Message:
        """Wait for the kernel's next message on a channel, passing over what is not one; TOO_LONG
        stands for one that is not read."""
        while True:
            if channel == "output" and (part := next(self._rest, None)):
                return part
            frames = await self._lines[channel].receive()
            if not frames:
                return TOO_LONG
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, IndexError):
                if channel != "output" or not self._begin_text(frames):
                    return self._read(frames)

    def _read(self, frames: list[bytes]) -> Message:
        _, frames = self._session.feed_identities(frames)
        if len(frames) < _FRAMES:
            raise ValueError("a message has fewer frames than Jupyter's")
        # Not by the session: it keeps what it was shown for a signature, however long that is.
        if not hmac.compare_digest(frames[0], self._session.sign(frames[1:_FRAMES])):
            raise ValueError("a message's signature is wrong")
        header, parent, metadata = (read_json(each) for each in frames[1:4])
        content = read_json(frames[4], most_bytes=_MESSAGE_MOST_BYTES)
        message = adapt(
            {
                "header": header,
                "parent_header": parent,
                "metadata": metadata,
                "content": content,
                "msg_type": header["msg_type"],
            }
        )
        content = message["content"]
        return Message(
            str(message["header"]["msg_type"]),
            str(message["parent_header"].get("msg_id", "")),
            content if isinstance(content, dict) else {},
        )

    def _begin_text(self, frames: list[bytes]) -> bool:
        """Begin to read a long printed text, part by part, without decoding the whole at once.

        Its signature is not looked at. False if it is something else, or not written as expected:
        then it must be read whole.
        """
        if len(frames[-1]) <= _READ_AT_ONCE_BYTES:
            return False
        _, frames = self._session.feed_identities(frames)
        header, parent, content = frames[1], frames[2], frames[4]
        begun = _PRINTED.match(content)
        if not begun or not content.endswith(b'"}') or read_json(header)["msg_type"] != "stream":
            return False
        of = str(read_json(parent).get("msg_id", ""))
        self._rest = _parts(of, begun[1].decode(), content, begun.end())
        return True

    async def cut(self) -> None:
        """Return when the kernel has hung up on one of its channels."""
        lines = [line.ended for line in self._lines.values()]
        await asyncio.wait(lines, return_when=asyncio.FIRST_COMPLETED)

    def close(self) -> None:
        for line in self._lines.values():
            line.close()


def _parts(of: str, stream: str, content: bytes, start: int) -> Iterator[Message]:
    """A text that was printed, in parts; what is no JSON is passed over."""
    last = len(content) - 2
    while start < last:
        whole = last - start <= _LEAST_REST
        end = last if whole else _cut(content, start, start + _READ_AT_ONCE_BYTES)
        with contextlib.suppress(ValueError):
            text = read_json(b'"' + content[start:end] + b'"')
            yield Message("stream", of, {"name": stream, "text": text})
        start = end


def _cut(text: bytes, start: int, around: int) -> int:
    """The next place that divides neither an escape nor a character of JSON text, which begins with
    neither in part."""
    place = around
    while not _is_between(text, start, place):
        place += 1
    return place


def _is_between(text: bytes, start: int, place: int) -> bool:
    if text[place] & 0b1100_0000 == _CONTINUES or _is_escaped(text, start, place):
        return False
    inside = any(
        text[place - back] == ord("u") and _is_escaped(text, start, place - back)
        for back in range(1, 5)
    )
    return not inside and not _HALF.search(text, place - 6, place)


def _is_escaped(text: bytes, start: int, place: int) -> bool:
    """Whether an odd number of backslashes stands before it."""
    before = text[start:place]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 1
