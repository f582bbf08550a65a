"""Makes the events of one response of what the conversation tells, in the API's order. Pure.

response.created
  output_item.added  content_part.added  (transcript.delta | audio.delta)…
  audio.done  transcript.done  content_part.done  output_item.done
  … further messages, code that ran (`mcp_call`), questions (`mcp_approval_request`)
response.done
"""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

from sayso.protocol.messages import ApprovalRequest, CodeEnd, CodeOut, CodeStart

SERVER: Final = "sayso"
"""Whose tool asks and runs."""
LONGEST_OUTPUT: Final = 100_000
"""Characters of a run's output that its item keeps."""

Fields = dict[str, Any]


class ResponseEvents:
    """One response, from its beginning to its end."""

    def __init__(self, name: str, conversation: str, new_id: Callable[[str], str]) -> None:
        """`new_id` makes an id that begins with these letters."""
        self.name = name
        self._conversation = conversation
        self._new_id = new_id
        self._output: list[Fields] = []
        self._message: Fields | None = None
        """The message that is being written, as it is shown when it is complete."""
        self._codes: dict[str, int] = {}
        self.failed = ""
        self.usage: tuple[int, int] = (0, 0)
        """Tokens read and written."""

    @property
    def items(self) -> list[Fields]:
        """What was put out so far."""
        return self._output

    @property
    def message(self) -> str:
        """The id of the message that is being written; empty: none is."""
        return str(self._message["id"]) if self._message else ""

    def begin(self) -> Iterator[Fields]:
        """What comes first."""
        yield {"type": "response.created", "response": self._response("in_progress")}

    def write(self, text: str, *, spoken: bool) -> Iterator[Fields]:
        """Words of the answer; `spoken`: their sound comes, too."""
        if self._message is None:
            yield from self._open_message(spoken=spoken)
        content = self._content()
        field = "transcript" if "transcript" in content else "text"
        content[field] += text
        kind = "output_audio_transcript" if field == "transcript" else "output_text"
        yield self._of_part(f"response.{kind}.delta", delta=text)

    def speak(self, pcm: bytes) -> Iterator[Fields]:
        """Sound of the answer."""
        if self._message is None:
            yield from self._open_message(spoken=True)
        if "transcript" in self._content():
            sound = base64.b64encode(pcm).decode()
            yield self._of_part("response.output_audio.delta", delta=sound)

    def ran(self, message: CodeStart | CodeOut | CodeEnd) -> Iterator[Fields]:
        """Something of code that runs."""
        match message:
            case CodeStart():
                yield from self.close_message()
                item = {
                    "id": self._new_id("mcp"),
                    "object": "realtime.item",
                    "type": "mcp_call",
                    "server_label": SERVER,
                    "name": message.language,
                    "arguments": json.dumps({"code": message.code}),
                    "output": "",
                }
                self._codes[message.id] = len(self._output)
                yield from self._add(item)
                yield self._of_item(item, "response.mcp_call.in_progress")
            case CodeOut(id=run, text=text) if run in self._codes and text:
                item = self._output[self._codes[run]]
                item["output"] = (item["output"] + text)[-LONGEST_OUTPUT:]
            case CodeEnd(id=run, status=status) if run in self._codes:
                number = self._codes.pop(run)
                item = self._output[number]
                how = "completed" if status == "ok" else "failed"
                told = {"item_id": item["id"], "output_index": number}
                yield {"type": f"response.mcp_call.{how}", **told}
                yield from self._done(item, number)
            case _:
                pass

    def ask(self, request: ApprovalRequest) -> Iterator[Fields]:
        """A question that waits for the client's person."""
        yield from self.close_message()
        told = {
            "code": request.code,
            "where": request.where,
            "may_touch": list(request.may_touch),
            "warnings": list(request.warnings),
        }
        item = {
            "id": f"mcpr_{request.id}",
            "object": "realtime.item",
            "type": "mcp_approval_request",
            "server_label": SERVER,
            "name": request.language,
            "arguments": json.dumps(told),
        }
        yield from self._add(item)
        yield from self._done(item, len(self._output) - 1)

    def close_message(
        self, status: Literal["completed", "incomplete"] = "completed"
    ) -> Iterator[Fields]:
        """The message that is being written is over."""
        if self._message is None:
            return
        content, item = self._content(), self._message
        item["status"] = status
        if "transcript" in content:
            yield self._of_part("response.output_audio.done")
            transcript = content["transcript"]
            yield self._of_part("response.output_audio_transcript.done", transcript=transcript)
            part = {"type": "audio", "transcript": transcript}
        else:
            yield self._of_part("response.output_text.done", text=content["text"])
            part = {"type": "text", "text": content["text"]}
        yield self._of_part("response.content_part.done", part=part)
        self._message = None
        yield from self._done(item, len(self._output) - 1)

    def end(
        self, cancelled: Literal["", "turn_detected", "client_cancelled"] = ""
    ) -> Iterator[Fields]:
        """What comes last."""
        yield from self.close_message("incomplete" if cancelled else "completed")
        for number in self._codes.values():
            yield from self._done(self._output[number], number)
        self._codes.clear()
        if cancelled:
            details: Fields | None = {"type": "cancelled", "reason": cancelled}
            status = "cancelled"
        elif self.failed:
            error = {"type": "server_error", "code": "server_error"}
            details, status = {"type": "failed", "error": error}, "failed"
        else:
            details, status = None, "completed"
        yield {"type": "response.done", "response": self._response(status, details)}

    def _open_message(self, *, spoken: bool) -> Iterator[Fields]:
        empty: Fields = (
            {"type": "output_audio", "transcript": ""}
            if spoken
            else {"type": "output_text", "text": ""}
        )
        item: Fields = {
            "id": self._new_id("item"),
            "object": "realtime.item",
            "type": "message",
            "role": "assistant",
            "status": "in_progress",
            "content": [],
        }
        yield from self._add(item)
        item["content"] = [empty]
        self._message = item
        part = {"type": "audio", "transcript": ""} if spoken else {"type": "text", "text": ""}
        yield self._of_part("response.content_part.added", part=part)

    def _content(self) -> Fields:
        content: Fields = self._message["content"][0] if self._message else {}
        return content

    def _add(self, item: Fields) -> Iterator[Fields]:
        before = self._output[-1]["id"] if self._output else None
        self._output.append(item)
        number = len(self._output) - 1
        yield {"type": "response.output_item.added", "output_index": number, "item": item}
        yield {"type": "conversation.item.added", "previous_item_id": before, "item": item}

    def _done(self, item: Fields, number: int) -> Iterator[Fields]:
        yield {"type": "response.output_item.done", "output_index": number, "item": item}
        before = self._output[number - 1]["id"] if number else None
        yield {"type": "conversation.item.done", "previous_item_id": before, "item": item}

    def _of_item(self, item: Fields, kind: str, **fields: object) -> Fields:
        number = self._output.index(item)
        return {"type": kind, "item_id": item["id"], "output_index": number, **fields}

    def _of_part(self, kind: str, **fields: object) -> Fields:
        return self._of_item(self._message or {}, kind, content_index=0, **fields)

    def _response(self, status: str, details: Fields | None = None) -> Fields:
        read, written = self.usage
        usage = {"total_tokens": read + written, "input_tokens": read, "output_tokens": written}
        return {
            "object": "realtime.response",
            "id": self.name,
            "conversation_id": self._conversation,
            "status": status,
            "status_details": details,
            "output": list(self._output) if status != "in_progress" else [],
            "usage": usage if status != "in_progress" else None,
            "metadata": None,
        }
