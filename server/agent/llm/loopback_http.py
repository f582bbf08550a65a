"""One HTTP request to a program on this machine, under one deadline, without a client library.

Used where a whole client would be too much: to ask whether a model server is there (at start, while
nothing may be slow) and whether the embedded engine does what it should. HTTP/1.0 keeps it small:
the answer ends when the other end closes.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json

MAX_ANSWER_BYTES = 4_000_000
"""A list of a thousand models takes a tenth of this; whatever answers more is no model server."""


class NoAnswer(Exception):
    """Nothing is there, it was too slow, or it does not speak HTTP."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """By name in lower case."""
    body: bytes = b""

    def json(self) -> object:
        """The body as JSON; None if it is something else."""
        try:
            return read_json(self.body)
        except UntrustedJsonError:
            return None


async def ask(
    url: str,
    *,
    seconds: float,
    headers: Mapping[str, str] | None = None,
    send: object = None,
) -> HttpAnswer:
    """GET the URL, or POST `send` to it as JSON. Raises NoAnswer."""
    try:
        async with asyncio.timeout(seconds):
            return await _ask(url, headers or {}, send)
    except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
        raise NoAnswer(str(error)) from error


async def _ask(url: str, headers: Mapping[str, str], send: object) -> HttpAnswer:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 80
    body = b"" if send is None else json.dumps(send).encode()
    lines = [
        f"{'GET' if send is None else 'POST'} {parts.path or '/'} HTTP/1.0",
        f"Host: {parts.netloc}",
        "Accept: application/json",
        "Connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    if send is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        raw = await _until_closed(reader)
    finally:
        writer.close()
    return _parse(raw)


async def _until_closed(reader: asyncio.StreamReader) -> bytes:
    raw = bytearray()
    while block := await reader.read(65_536):
        raw += block
        if len(raw) > MAX_ANSWER_BYTES:
            message = "the answer is too long"
            raise ValueError(message)
    return bytes(raw)


def _parse(raw: bytes) -> HttpAnswer:
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    protocol, _, status = first.partition(" ")
    if not protocol.startswith("HTTP/"):
        message = "this is not HTTP"
        raise ValueError(message)
    headers = {}
    for line in rest:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return HttpAnswer(int(status[:3]), headers, body)
