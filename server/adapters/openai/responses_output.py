"""Writes answers in the form of responses: messages, code that ran, questions that wait."""

import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from sayso.protocol.messages import CodeEnd, CodeOut, CodeStart
from sayso.server.adapters.openai.errors import BadRequest
from sayso.server.adapters.openai.question_text import ELSEWHERE
from sayso.server.adapters.openai.request_run import (
    Failed,
    Item,
    Question,
    RequestRun,
    Text,
    Usage,
)
from sayso.server.gateway.http.responses import event

SERVER: Final = "sayso"
"""Whose tool asks, in questions."""


class ResponseWriter:
    """Makes the events of one response of what comes, in their order."""

    def __init__(self, run: RequestRun, name: str) -> None:
        self._run = run
        self._name = name
        self._created = int(time.time())
        self._sequence = 0
        self._output: list[dict[str, Any]] = []
        self._text = ""
        self._is_writing = False
        """A message is open."""
        self._codes: dict[str, int] = {}
        """Where code that runs stands in the output."""
        self._usage = Usage()
        self._failed = ""

    def begin(self) -> Iterator[dict[str, Any]]:
        """What comes first."""
        yield self._event("response.created", response=self.response("in_progress"))
        yield self._event("response.in_progress", response=self.response("in_progress"))

    def take(self, item: Item) -> Iterator[dict[str, Any]]:
        """What one item becomes."""
        match item:
            case Text(text=text):
                yield from self._write(text)
            case CodeStart():
                yield from self._close_message()
                yield from self._code_begins(item)
            case CodeOut(id=run, text=text) if run in self._codes and text:
                self._output[self._codes[run]]["outputs"].append({"type": "logs", "logs": text})
            case CodeEnd(id=run, status=status) if run in self._codes:
                yield from self._code_ends(run, "completed" if status == "ok" else "failed")
            case Question(request=request, here=True):
                yield from self._close_message()
                told = {
                    "code": request.code,
                    "where": request.where,
                    "may_touch": list(request.may_touch),
                    "warnings": list(request.warnings),
                }
                yield from self._whole(
                    {
                        "type": "mcp_approval_request",
                        "id": f"mcpr_{request.id}.{request.nonce}",
                        "name": request.language,
                        "arguments": json.dumps(told),
                        "server_label": SERVER,
                    }
                )
            case Question():
                yield from self._write(f"\n\n{ELSEWHERE}\n\n")
            case Failed(sentence=sentence):
                self._failed = sentence
            case Usage():
                self._usage = item

    def end(self) -> Iterator[dict[str, Any]]:
        """What comes last."""
        yield from self._close_message()
        for run in list(self._codes):
            yield from self._code_ends(run, "incomplete")
        if self._failed:
            yield self._event("response.failed", response=self.response("failed"))
        else:
            yield self._event("response.completed", response=self.response("completed"))

    def response(self, status: str) -> dict[str, Any]:
        """The response as it stands."""
        error = {"code": "server_error", "message": self._failed} if self._failed else None
        usage = self._usage
        return {
            "id": self._name,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "error": error,
            "incomplete_details": None,
            "instructions": self._run.asked.instructions or None,
            "metadata": {},
            "model": self._run.asked.model,
            "output": list(self._output),
            "parallel_tool_calls": False,
            "temperature": None,
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "previous_response_id": self._run.asked.previous or None,
            "usage": {
                "input_tokens": usage.tokens_in,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": usage.tokens_out,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.tokens_in + usage.tokens_out,
            }
            if status != "in_progress"
            else None,
        }

    # ── Messages ─────────────────────────────────────────────────────────────────────────────────

    def _write(self, text: str) -> Iterator[dict[str, Any]]:
        if not self._is_writing:
            text = text.lstrip()
            if not text:
                return
            self._is_writing, self._text = True, ""
            item = self._message("in_progress")
            self._output.append(item)
            yield self._of_last("response.output_item.added", item=item)
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            yield self._of_part("response.content_part.added", part=part)
        self._text += text
        yield self._of_part("response.output_text.delta", delta=text, logprobs=[])

    def _close_message(self) -> Iterator[dict[str, Any]]:
        if not self._is_writing:
            return
        self._is_writing = False
        item = self._output[-1] = self._message("completed")
        yield self._of_part("response.output_text.done", text=self._text, logprobs=[])
        yield self._of_part("response.content_part.done", part=item["content"][0])
        yield self._of_last("response.output_item.done", item=item)

    def _message(self, status: str) -> dict[str, Any]:
        part = {"type": "output_text", "text": self._text, "annotations": [], "logprobs": []}
        number = len(self._output) - (status == "completed")
        return {
            "id": f"msg_{self._name}_{number}",
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": [part] if status == "completed" else [],
        }

    # ── Code ─────────────────────────────────────────────────────────────────────────────────────

    def _code_begins(self, started: CodeStart) -> Iterator[dict[str, Any]]:
        self._codes[started.id] = len(self._output)
        item: dict[str, Any] = {
            "id": f"ci_{started.id}",
            "type": "code_interpreter_call",
            "status": "in_progress",
            "code": started.code,
            "container_id": started.language,
            "outputs": [],
        }
        self._output.append(item)
        yield self._of_last("response.output_item.added", item=item)
        about = "response.code_interpreter_call"
        yield self._of_code(started.id, f"{about}.in_progress")
        yield self._of_code(started.id, f"{about}_code.delta", delta=started.code)
        yield self._of_code(started.id, f"{about}_code.done", code=started.code)
        yield self._of_code(started.id, f"{about}.interpreting")

    def _code_ends(self, run: str, status: str) -> Iterator[dict[str, Any]]:
        item = self._output[self._codes[run]]
        item["status"] = status
        yield self._of_code(run, "response.code_interpreter_call.completed")
        number = self._codes.pop(run)
        yield self._event("response.output_item.done", output_index=number, item=item)

    def _of_code(self, run: str, kind: str, **fields: object) -> dict[str, Any]:
        number = self._codes[run]
        return self._event(kind, output_index=number, item_id=self._output[number]["id"], **fields)

    # ── Events ───────────────────────────────────────────────────────────────────────────────────

    def _whole(self, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
        self._output.append(item)
        yield self._of_last("response.output_item.added", item=item)
        yield self._of_last("response.output_item.done", item=item)

    def _of_last(self, kind: str, **fields: object) -> dict[str, Any]:
        return self._event(kind, output_index=len(self._output) - 1, **fields)

    def _of_part(self, kind: str, **fields: object) -> dict[str, Any]:
        item = self._output[-1]["id"]
        return self._of_last(kind, item_id=item, content_index=0, **fields)

    def _event(self, kind: str, **fields: object) -> dict[str, Any]:
        written = {"type": kind, "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return written


async def whole(run: RequestRun, name: str) -> dict[str, Any]:
    """The response when it is complete. Raises BadRequest where there is none."""
    writer = ResponseWriter(run, name)
    async for item in run.read():
        for _ in writer.take(item):
            pass
    last = list(writer.end())[-1]["response"]
    if last["status"] == "failed" and not last["output"]:
        raise BadRequest(last["error"]["message"])
    answered: dict[str, Any] = last
    return answered


async def events(run: RequestRun, name: str) -> AsyncIterator[bytes]:
    """The response as it comes."""
    writer = ResponseWriter(run, name)
    for one in writer.begin():
        yield _written(one)
    async for item in run.read():
        for one in writer.take(item):
            yield _written(one)
    for one in writer.end():
        yield _written(one)


def _written(one: dict[str, Any]) -> bytes:
    return event(json.dumps(one), one["type"])
