"""What an MCP server returned, as outputs: text, pictures, and values for code. Pure."""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.runtimes.runtime import Output

PICTURE_BYTES: Final = 6_000_000
TEXT_CHARS: Final = 1_000_000
"""Of all text of one result; what a model is told of it is shorter by far."""


JSON: Final = "application/json"

Returns = Literal["text", "value", "wrapped"]


def outputs_of(result: Mapping[str, Any], returns: Returns = "text") -> Iterator[Output]:
    """The parts of a result, in order."""
    kind = "error" if result.get("isError") else "result"
    value = result.get("structuredContent")
    if returns != "text" and value is not None and kind == "result":
        if returns == "wrapped" and isinstance(value, Mapping):
            value = value.get("result")
        written = json.dumps(value, ensure_ascii=False)
        shown = _ended(value if isinstance(value, str) else written)
        yield Output("result", shown[:TEXT_CHARS], JSON, written.encode())
        blocks = [each for each in result.get("content", ()) if each.get("type") != "text"]
    else:
        blocks = [*result.get("content", ()), *result.get("contents", ())]
        if not blocks and value is not None:
            yield Output("result", json.dumps(value, ensure_ascii=False))
    room = TEXT_CHARS
    for block in blocks:
        for output in _outputs(block, "error" if kind == "error" else "result"):
            text = output.text[:room]
            room -= len(text)
            yield Output(output.kind, text, output.mime, output.data)


def value_of(outputs: Sequence[Output]) -> object:
    """What code gets of a result: a value that has a schema, else its text."""
    for output in outputs:
        if output.mime == JSON:
            try:
                return read_json(output.data)
            except UntrustedJsonError:
                break
    return "".join(each.text for each in outputs if each.kind == "result").removesuffix("\n")


def _outputs(block: Mapping[str, Any], kind: Any) -> Iterator[Output]:  # noqa: ANN401
    match block.get("type"):
        case "text":
            yield Output(kind, _ended(str(block.get("text", ""))))
        case "image":
            yield _picture(block)
        case "audio":
            yield Output(kind, f"[sound, {block.get('mimeType', '')}, not kept]\n")
        case "resource":
            yield from _outputs(block.get("resource") or {}, kind)
        case "resource_link":
            yield Output(kind, f"[resource {block.get('uri')}: {block.get('name', '')}]\n")
        case _ if "text" in block:
            yield Output(kind, _ended(str(block["text"])))
        case _ if "blob" in block:
            size = len(str(block["blob"])) * 3 // 4
            yield Output(kind, f"[{block.get('mimeType', 'binary')}, {size} bytes, not kept]\n")


def _picture(block: Mapping[str, Any]) -> Output:
    mime = str(block.get("mimeType", ""))
    try:
        data = base64.b64decode(str(block.get("data", "")), validate=True)
    except binascii.Error:
        data = b""
    if mime not in ("image/png", "image/jpeg") or not 0 < len(data) <= PICTURE_BYTES:
        return Output("display", f"[a picture, {mime}, not shown]\n")
    return Output("display", f"[a picture, {mime}]\n", mime, data)


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"
