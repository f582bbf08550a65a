"""A speech server's stand-in that speaks the OpenAI wire on loopback, from a script.

The product reaches it over real sockets, so nothing of the product is replaced. In a test:

    with SpeechServer(hears=["What time is it?"], says=[Speech(tone(1.0))]) as server:
        ...  # server.url, server.requests

Answers are used up in order; the last one is given again.
"""

import asyncio
import json
import math
import ssl
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any, Literal

from tests.threaded_server import ThreadedServer

RATE = 24_000
"""Samples a second of what it says."""


Ending = Literal["whole", "cut", "endless"]


@dataclass
class Answer:
    """One answer, as the blocks that it is sent in."""

    blocks: Sequence[bytes] = ()
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    ending: Ending = "whole"
    """`cut`: the connection breaks after the blocks. `endless`: the last block comes over and
    over."""
    before: threading.Event | None = None
    """Set before the head of the answer is sent."""
    between: threading.Event | None = None
    """Set before what follows the first block is sent."""


@dataclass(frozen=True)
class Request:
    """What a client asked for."""

    method: str
    path: str
    headers: Mapping[str, str]
    fields: Mapping[str, Any]
    """Of the form or the JSON object."""
    sound: bytes
    """The file of a form."""


def heard(text: str, **more: object) -> Answer:
    """Understand this."""
    return Answer([json.dumps({"text": text, **more}).encode()])


def said(
    *blocks: bytes,
    kind: str = "audio/pcm",
    between: threading.Event | None = None,
    ending: Ending = "whole",
) -> Answer:
    """Say this sound."""
    return Answer(blocks, kind=kind, between=between, ending=ending)


def fails(status: int, message: str = "scripted failure", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer([json.dumps({"error": {"message": message}}).encode()], status, headers=named)


def tone(seconds: float, rate: int = RATE) -> bytes:
    """A sound that is heard."""
    period = [
        round(8000 * math.sin(2 * math.pi * step / 50)).to_bytes(2, "little", signed=True)
        for step in range(50)
    ]
    return (b"".join(period) * (round(seconds * rate) // 50 + 1))[: 2 * round(seconds * rate)]


class SpeechServer(ThreadedServer):
    """The server."""

    def __init__(
        self,
        *,
        hears: Iterable[Answer | str] = (),
        says: Iterable[Answer] = (),
        key: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(tls=tls)
        self.key = key
        """If set, requests without it are refused, as a company does."""
        self.requests: list[Request] = []
        self._answers = {
            "/v1/audio/transcriptions": [
                heard(one) if isinstance(one, str) else one for one in hears
            ],
            "/v1/audio/speech": list(says),
        }

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await self._talk(reader, writer):
            pass

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; whether there may be another one."""
        request = await _read(reader)
        self.requests.append(request)
        self._asked.release()
        answer = self._choose(request)
        return await self.until_left(reader, _send(writer, answer))

    def _choose(self, request: Request) -> Answer:
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            return fails(401, f"Incorrect API key provided: {self.key}")
        if request.path == "/v1/models":
            return Answer([b'{"data": []}'])
        answers = self._answers.get(request.path)
        if not answers:
            return fails(404, "no such path")
        return answers.pop(0) if len(answers) > 1 else answers[0]


async def _read(reader: asyncio.StreamReader) -> Request:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = lines[0].split(" ", 2)
    headers = {
        name.strip().lower(): value.strip()
        for name, separator, value in (line.partition(":") for line in lines[1:])
        if separator
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    kind = headers.get("content-type", "")
    if kind.startswith("application/json"):
        return Request(method, path, headers, json.loads(body), b"")
    fields: dict[str, Any] = {}
    sound = b""
    message = BytesParser(policy=HTTP).parsebytes(f"content-type: {kind}\r\n\r\n".encode() + body)
    for part in message.iter_parts() if kind.startswith("multipart/") else ():
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        if part.get_filename():
            sound = content
        else:
            name = part.get_param("name", header="content-disposition")
            fields[str(name)] = content.decode()
    return Request(method, path, headers, fields, sound)


async def _send(writer: asyncio.StreamWriter, answer: Answer) -> None:
    await _wait(answer.before)
    lines = [
        f"HTTP/1.1 {answer.status} Answer",
        f"content-type: {answer.kind}",
        "transfer-encoding: chunked",
        *(f"{name}: {value}" for name, value in answer.headers.items()),
    ]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
    await writer.drain()
    for number, block in enumerate(answer.blocks):
        if number == 1:
            await _wait(answer.between)
        await _send_block(writer, block)
    await (_wait(answer.between) if len(answer.blocks) == 1 else asyncio.sleep(0))
    while answer.ending == "endless":
        await _send_block(writer, answer.blocks[-1])
    if answer.ending == "cut":
        writer.transport.abort()
        return
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def _send_block(writer: asyncio.StreamWriter, block: bytes) -> None:
    writer.write(f"{len(block):x}\r\n".encode() + block + b"\r\n")
    await writer.drain()


async def _wait(event: threading.Event | None) -> None:
    """Until it is set. In small steps, so that nothing is left waiting when the server ends."""
    while event is not None and not event.is_set():
        with suppress(TimeoutError):
            await asyncio.sleep(0.005)
