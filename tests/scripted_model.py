"""A language model's stand-in that speaks the OpenAI wire on loopback, from a script.

The product reaches it through litellm like any other model, so nothing of the product is replaced.
In a test:

    with ScriptedModel([runs("print(6 * 7)"), says("It is 42.")]) as model:
        ...  # model.url, model.key, model.requests

As a process, for end-to-end tests and benchmarks (the first line that it prints is its address):

    python tests/scripted_model.py --port 0 --script replies.json

The script is a list of objects with the fields of `Reply`; `{"says": ["It is ", "42."]}` is one.
A reply with `when` answers any request whose last message contains that text, as often as it is
asked; the others are used up in order. When none is left the last one is given again, or, with
`then="fail"`, an error.
"""

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

if not __package__:  # run as a program: its neighbour is found from the repository's root
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.scripted_wire import error, read_request, send_event, send_json
from tests.threaded_server import ThreadedServer


@dataclass(frozen=True)
class Reply:
    """What to answer to one request."""

    says: str | Sequence[str] = ""
    """The text, as the deltas it is sent in."""
    code: str = ""
    """Code to run: sent as a tool call if the request offers tools, else as fenced code."""
    language: str = "python"
    calls: Sequence[Mapping[str, str]] = ()
    """Tool calls as they are, however broken: `name`, `arguments`, `id`."""
    split: int = 0
    """Cut every text and every argument into deltas of this many characters."""
    status: int = 200
    message: str = ""
    """The text of an error."""
    headers: Mapping[str, str] = field(default_factory=dict)
    ending: Literal["stop", "length", "cut", "hang"] = "stop"
    """`cut`: the connection breaks after the deltas. `hang`: nothing more comes."""
    before_s: float = 0.0
    """Seconds until the answer's first byte."""
    between_s: float = 0.0
    """Seconds between deltas."""
    when: str = ""
    """Only for requests whose last message contains this text."""
    tokens: tuple[int, int] = (100, 10)
    """Usage told at the end: in, out."""


def says(*deltas: str, when: str = "") -> Reply:
    """Answer with text."""
    return Reply(says=deltas, when=when)


def runs(code: str, *deltas: str, language: str = "python", when: str = "") -> Reply:
    """Say the deltas, then run code: as a tool call or as fenced code, as the request has it."""
    return Reply(says=deltas, code=code, language=language, when=when)


def fails(status: int, message: str = "scripted failure") -> Reply:
    """Answer with an HTTP error."""
    return Reply(status=status, message=message)


_NOTES = re.compile(r"\A(?:\(.*\)\n)+")


@dataclass(frozen=True)
class Request:
    """What a client asked for."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    at: float
    """`time.monotonic()` of its arrival."""

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        return self.body["messages"]  # type: ignore[no-any-return]

    @property
    def last(self) -> str:
        """The text of the last message."""
        return _text(self.messages[-1]) if self.messages else ""

    @property
    def said(self) -> str:
        """The same without the server's notes on the circumstances, which stand before it."""
        return _NOTES.sub("", self.last)


class ScriptedModel(ThreadedServer):
    """The server."""

    def __init__(
        self,
        replies: Iterable[Reply] = (),
        *,
        key: str = "",
        models: Sequence[str] = (),
        then: Literal["repeat", "fail"] = "repeat",
        port: int = 0,
    ) -> None:
        super().__init__(port=port)
        self.key = key
        """If set, requests without it are refused, as a provider does."""
        self.requests: list[Request] = []
        self.takes_tools = False
        """What it shows whoever asks it whether it calls a tool."""
        self.probes = 0
        self._models = tuple(models)
        self._ordered: list[Reply] = []
        self._matching: list[Reply] = []
        self._last: Reply | None = None
        self._then = then
        self.add(*replies)

    def add(self, *replies: Reply) -> None:
        """Answer with these as well."""
        for reply in replies:
            (self._matching if reply.when else self._ordered).append(reply)

    def forget(self) -> None:
        """Give up the answers that nobody has asked for."""
        self._ordered.clear()
        self._matching.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, path, headers, body = await read_request(reader)
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            await send_json(writer, 401, error("Incorrect API key provided.", "invalid_api_key"))
        elif method == "GET" and path.endswith("/models"):
            names = self._models or ("scripted",)
            data = [{"id": name, "object": "model"} for name in names]
            await send_json(writer, 200, {"object": "list", "data": data})
        elif method == "POST" and path.endswith("/chat/completions") and _is_probe(body):
            self.probes += 1
            calls = [{"name": "ready", "arguments": "{}"}] if self.takes_tools else []
            request = Request(body, headers, time.monotonic())
            await self._send(Reply("ready", calls=calls), request, writer)
        elif method == "POST" and path.endswith("/chat/completions"):
            request = Request(body, headers, time.monotonic())
            self.requests.append(request)
            self._asked.release()
            await self.until_left(reader, self._send(self._choose(request), request, writer))
        else:
            await send_json(writer, 404, error(f"No {path} here."))

    def _choose(self, request: Request) -> Reply:
        if self._models and request.body.get("model") not in self._models:
            return fails(404, f"The model {request.body.get('model')} does not exist.")
        for reply in self._matching:
            if reply.when in request.said:
                return reply
        if self._ordered:
            self._last = self._ordered.pop(0)
        elif self._then == "fail" or self._last is None:
            return fails(400, "The script is over.")
        return self._last

    async def _send(self, reply: Reply, request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(reply.before_s)
        if reply.status != 200:
            await send_json(writer, reply.status, error(reply.message), reply.headers)
        elif request.body.get("stream"):
            await _send_stream(writer, reply, request)
        else:
            await send_json(writer, 200, _whole(reply, request))
        if reply.ending == "hang":
            await asyncio.Event().wait()


def _deltas(reply: Reply, request: Request) -> Iterator[dict[str, Any]]:
    texts = [reply.says] if isinstance(reply.says, str) else list(reply.says)
    calls = [dict(call) for call in reply.calls]
    if reply.code and request.body.get("tools"):
        arguments = json.dumps({"language": reply.language, "code": reply.code})
        calls.append({"name": "execute", "arguments": arguments})
    elif reply.code:
        texts.append(f"```{reply.language}\n{reply.code}\n```\n")
    for text in texts:
        for piece in _pieces(text, reply.split):
            yield {"content": piece}
    for index, call in enumerate(calls):
        call_id = call.get("id", f"call_{len(request.messages)}_{index}")
        function = {"name": call.get("name", "execute"), "arguments": ""}
        opening = {"index": index, "id": call_id, "type": "function", "function": function}
        yield {"tool_calls": [opening]}
        for piece in _pieces(call.get("arguments", ""), reply.split):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str, split: int) -> Iterator[str]:
    step = split or len(text) or 1
    for start in range(0, len(text), step):
        yield text[start : start + step]


async def _send_stream(writer: asyncio.StreamWriter, reply: Reply, request: Request) -> None:
    writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
        b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )
    await writer.drain()
    called = False
    for number, delta in enumerate(_deltas(reply, request)):
        if number:
            await asyncio.sleep(reply.between_s)
        called = called or "tool_calls" in delta
        first = {"role": "assistant"} if number == 0 else {}
        await send_event(writer, _chunk(request, [{"index": 0, "delta": {**first, **delta}}]))
    if reply.ending == "hang":
        return
    if reply.ending == "cut":
        writer.transport.abort()
        return
    reason = "length" if reply.ending == "length" else "tool_calls" if called else "stop"
    end = [{"index": 0, "delta": {}, "finish_reason": reason}]
    await send_event(writer, _chunk(request, end))
    if (request.body.get("stream_options") or {}).get("include_usage"):
        await send_event(writer, {**_chunk(request, []), "usage": _usage(reply)})
    await send_event(writer, "[DONE]")
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def _chunk(request: Request, choices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": request.body.get("model", "scripted"),
        "choices": [{"finish_reason": None, **choice} for choice in choices],
    }


def _whole(reply: Reply, request: Request) -> dict[str, Any]:
    deltas = list(_deltas(reply, request))
    content = "".join(delta.get("content", "") for delta in deltas)
    message = {"role": "assistant", "content": content}
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request.body.get("model", "scripted"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": _usage(reply),
    }


def _is_probe(body: Mapping[str, Any]) -> bool:
    tools = body.get("tools") or ()
    return [tool["function"]["name"] for tool in tools] == ["ready"]


def _usage(reply: Reply) -> dict[str, int]:
    tokens_in, tokens_out = reply.tokens
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
    }


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted language model on the OpenAI wire.")
    parser.add_argument("--port", type=int, default=0, help="0 chooses a free one")
    parser.add_argument("--script", type=Path, required=True, help="JSON list of replies")
    parser.add_argument("--key", default="", help="the API key to ask for")
    arguments = parser.parse_args()
    replies = [Reply(**reply) for reply in json.loads(arguments.script.read_text("utf-8"))]
    ScriptedModel(replies, key=arguments.key, port=arguments.port).serve_until_killed()


if __name__ == "__main__":
    main()
