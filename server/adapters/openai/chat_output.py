"""Writes answers in the form of chat completions."""

import json
import time
from collections.abc import AsyncIterator
from typing import Any

from sayso.server.adapters.openai.errors import BadRequest, error_body
from sayso.server.adapters.openai.question_text import question_text
from sayso.server.adapters.openai.request_run import (
    Failed,
    Item,
    Question,
    RequestRun,
    Text,
    Usage,
)
from sayso.server.gateway.http.responses import event


def shown(items: list[Item]) -> str:
    """All that a client is shown of an answer."""
    return "".join(_piece(item) for item in items).strip()


def _piece(item: Item) -> str:
    match item:
        case Text(text=text):
            return text
        case Question(request=request, here=here):
            return f"\n\n{question_text(request, here=here)}\n\n"
        case _:
            return ""


async def whole(run: RequestRun, name: str) -> dict[str, Any]:
    """The answer when it is complete. Raises BadRequest where there is none."""
    failed = ""
    usage = Usage()
    async for item in run.read():
        if isinstance(item, Failed):
            failed = item.sentence
        elif isinstance(item, Usage):
            usage = item
    text = shown(run.items)
    if failed and not text:
        raise BadRequest(failed)
    content = f"{text}\n\n{failed}" if failed else text
    message = {"role": "assistant", "content": content, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return _head(run, name, "chat.completion") | {"choices": [choice], "usage": _usage(usage)}


async def chunks(run: RequestRun, name: str) -> AsyncIterator[bytes]:
    """The answer as it comes."""
    head = _head(run, name, "chat.completion.chunk")
    yield _chunk(head, {"role": "assistant", "content": ""})
    usage = Usage()
    is_empty = True
    async for item in run.read():
        if isinstance(item, Failed):
            yield event(json.dumps(error_body(item.sentence, "server_error")))
        elif isinstance(item, Usage):
            usage = item
        elif piece := (_piece(item).lstrip() if is_empty else _piece(item)):
            is_empty = False
            yield _chunk(head, {"content": piece})
    yield _chunk(head, {}, "stop")
    if run.asked.usage:
        yield event(json.dumps(head | {"choices": [], "usage": _usage(usage)}))
    yield event("[DONE]")


def _head(run: RequestRun, name: str, kind: str) -> dict[str, Any]:
    return {"id": name, "object": kind, "created": int(time.time()), "model": run.asked.model}


def _chunk(head: dict[str, Any], delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return event(json.dumps(head | {"choices": [choice]}))


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.tokens_in,
        "completion_tokens": usage.tokens_out,
        "total_tokens": usage.tokens_in + usage.tokens_out,
    }
