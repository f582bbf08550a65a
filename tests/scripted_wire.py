"""HTTP as a language model's server speaks it: a request read, JSON or a stream of events sent."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


def error(message: str, code: str = "scripted") -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


async def send_json(
    writer: asyncio.StreamWriter,
    status: int,
    content: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
) -> None:
    body = json.dumps(content).encode()
    lines = [
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()


async def read_request(
    reader: asyncio.StreamReader,
) -> tuple[str, str, Mapping[str, str], Mapping[str, Any]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    headers = {
        name.strip().lower(): value.strip()
        for name, separator, value in (line.partition(":") for line in head[1:])
        if separator
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return method, path.partition("?")[0], headers, json.loads(body or b"{}")


async def send_event(writer: asyncio.StreamWriter, data: Mapping[str, Any] | str) -> None:
    text = data if isinstance(data, str) else json.dumps(data)
    event = f"data: {text}\n\n".encode()
    writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
    await writer.drain()
