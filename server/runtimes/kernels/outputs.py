"""Converts a kernel's messages to outputs: the richest form for screens, text for the model."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Literal

from sayso.server.runtimes.runtime import Output

_RICHEST_FIRST = (
    "image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml",
    "text/html", "application/json", "text/latex", "text/markdown",
)  # fmt: skip

RICH_MOST_BYTES = 8 * 1024**2
"""A full-screen plot has 200 KB and a photograph some MB; more is left out, in words."""

_WAITING_MOST = 256
"""Characters of an unfinished escape sequence to hold back: longer ones are not sequences."""

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\)"  # titles, clipboard and other strings
    r"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"
    r"|[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]",
    re.DOTALL,
)
_ENDS = ("\x07", "\x1b\\")
"""Of a string."""

_UNFINISHED = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_](?:[^\x07\x1b]|\x1b(?!\\))*+|[ -/]*)?\Z", re.DOTALL
)


class PlainText:
    """Takes terminal escapes and control characters out of a stream of text, wherever it was cut.

    Code decides what it prints but not what a person's terminal does: colours go, and with them
    sequences that set titles, move the cursor or fill the clipboard. Line ends, tabs and carriage
    returns stay.
    """

    def __init__(self) -> None:
        self._waiting = ""

    def feed(self, text: str) -> str:
        text = self._waiting + text
        self._waiting = ""
        # What ends a string ends all that began before it: there is nothing to look for.
        ended = max((text.rfind(end) + len(end) for end in _ENDS if end in text), default=0)
        if "\x1b" in text and (found := _UNFINISHED.search(text, ended)):
            if len(found[0]) <= _WAITING_MOST:
                self._waiting = found[0]
            text = text[: found.start()]
        return _clean(text)


def plain(text: str) -> str:
    """Take terminal escapes out of a whole text."""
    return PlainText().feed(text)


def _clean(text: str) -> str:
    if not text.isascii():
        text = text.encode(errors="replace").decode()  # lone surrogates cannot travel
    return _ESCAPES.sub("", text).replace("\x1b", "")


def said(content: Mapping[str, object]) -> Output | None:
    """Read a stream message."""
    text = content.get("text")
    name: Literal["stdout", "stderr"] = "stderr" if content.get("name") == "stderr" else "stdout"
    return Output(name, text) if isinstance(text, str) and text else None


def shown(kind: Literal["result", "display"], content: Mapping[str, object]) -> Output | None:
    """Read a result or display message: its richest form, and what stands for it in words."""
    bundle = content.get("data")
    if not isinstance(bundle, Mapping):
        return None
    words = plain(_joined(bundle.get("text/plain")))
    for mime in _RICHEST_FIRST:
        if mime in bundle:
            data = _bytes(mime, bundle[mime])
            if data is None:
                continue
            if len(data) > RICH_MOST_BYTES:
                left = f"[{mime} of {len(data) / 1024**2:.0f} MiB left out: too large to show]"
                return Output(kind, f"{words}\n{left}".strip())
            return Output(kind, words or f"[{mime}]", mime, data)
    return Output(kind, words) if words else None


def failed(content: Mapping[str, object]) -> Output:
    """Read an error message: the traceback, without colours."""
    lines = content.get("traceback")
    traceback = "\n".join(str(line) for line in lines) if isinstance(lines, list) else ""
    return Output("error", plain(traceback or in_a_line(content)))


def in_a_line(content: Mapping[str, object]) -> str:
    """What went wrong, as Python's last line says it."""
    name, value = str(content.get("ename", "Error")), str(content.get("evalue", ""))
    return plain(f"{name}: {value}" if value else name)


def _bytes(mime: str, value: object) -> bytes | None:
    if mime == "application/json":
        return json.dumps(value, ensure_ascii=False).encode(errors="replace")
    if not isinstance(value, str | list):
        return None
    text = _joined(value)
    if mime.startswith("image/") and mime != "image/svg+xml":
        try:
            return base64.b64decode(text) or None
        except (binascii.Error, ValueError):
            return None
    return text.encode(errors="replace")


def _joined(value: object) -> str:
    """Text comes whole or, in the notebook's manner, as a list of lines."""
    return "".join(str(line) for line in value) if isinstance(value, list) else str(value or "")
