"""Reads the calls that code sends, and writes the answers that it gets: bytes to records and back.

Up, a frame is a length (4 bytes, big-endian) and an object in JSON with `id`, `name` and `args`,
and perhaps `after`: the number of the mark that the interpreter set in its output before it called.
Down, it is a length, the id of the call that it answers, a letter (LETTERS) and so many bytes.

When a run begins, the server sends 16 bytes of chance, and what comes up counts for nothing until
they come back, before the first call. So no call of an earlier run, and no frame that was cut in
half, meets a later run.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json

CALL_MOST_BYTES: Final = 1024**2
"""The longest call: arguments are words and small tables; files lie in the workspace."""

ANSWER_MOST_BYTES: Final = 8 * 1024**2
"""The longest answer: a picture of a screen has 4 MB."""

MARKER_BYTES: Final = 16
"""Nobody guesses so many, and no text holds them by accident."""

LETTERS: Final = {
    "o": "a run is open; 16 bytes that are to be sent back, and how the interpreter knows the run",
    "x": "no call is answered until the next run; a sentence that says why",
    "v": "the value, in JSON",
    "b": "the value, as bytes",
    "r": "the call is refused; a sentence that says why",
    "n": "there is no such function; a sentence that says which there are",
}

Letter = Literal["o", "x", "v", "b", "r", "n"]

_LENGTH: Final = struct.Struct(">I")
_ANSWER: Final = struct.Struct(">IIc")
_ID_MOST: Final = 2**32 - 1
_NAME_MOST: Final = 200
"""Characters of a function's name: three long words with dots between."""


@dataclass(frozen=True, slots=True)
class CallFrame:
    """A call, as code sent it."""

    id: int
    name: str
    arguments: Mapping[str, object]
    after: int = 0
    """What was printed before this mark is to be shown first; 0 is none."""


class CallFrameError(Exception):
    """What came is no call; the text says what is wrong with it, without a subject."""


class CallReader:
    """Cuts what comes up in one run into calls. After an error, it must not be fed any more."""

    def __init__(self, marker: bytes) -> None:
        self._marker = marker
        self._seen = False
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[CallFrame]:
        """The calls that are whole by now. Raises CallFrameError."""
        self._bytes += data
        if not self._seen:
            self._seek()
        while self._seen and len(self._bytes) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._bytes)
            if length > CALL_MOST_BYTES:
                raise CallFrameError(f"it is longer than {CALL_MOST_BYTES} bytes")
            end = _LENGTH.size + length
            if len(self._bytes) < end:
                return
            body = bytes(self._bytes[_LENGTH.size : end])
            del self._bytes[:end]
            yield _call(body)

    def _seek(self) -> None:
        found = self._bytes.find(self._marker)
        self._seen = found >= 0
        # What an earlier run left is dropped; the marker may have come in part.
        keep_from = found + MARKER_BYTES if self._seen else len(self._bytes) - MARKER_BYTES + 1
        del self._bytes[: max(0, keep_from)]


def answer(id: int, letter: Letter, body: bytes) -> bytes:  # noqa: A002
    """A frame for the code."""
    return _ANSWER.pack(len(body), id, letter.encode()) + body


def value_answer(id: int, value: object) -> bytes:  # noqa: A002
    """The frame with the value of a call. Raises ValueError where it is too long for one, or
    nothing that JSON can say."""
    letter: Letter = "b" if isinstance(value, bytes) else "v"
    try:
        body = value if isinstance(value, bytes) else json.dumps(value, allow_nan=False).encode()
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if len(body) > ANSWER_MOST_BYTES:
        raise ValueError(f"it is longer than {ANSWER_MOST_BYTES} bytes")
    return answer(id, letter, body)


def _call(body: bytes) -> CallFrame:
    try:
        said = read_json(body, most_bytes=CALL_MOST_BYTES)
    except UntrustedJsonError as error:
        raise CallFrameError(str(error)) from None
    if not isinstance(said, dict) or said.keys() - {"after"} != {"id", "name", "args"}:
        raise CallFrameError("it is no object with id, name and args")
    number, name, arguments = said["id"], said["name"], said["args"]
    after = said.get("after", 0)
    if any(type(each) is not int or each > _ID_MOST for each in (number, after)) or number < 1:
        raise CallFrameError("its id or its mark is no number of 32 bits")
    if not isinstance(name, str) or len(name) > _NAME_MOST or not isinstance(arguments, dict):
        raise CallFrameError("its name is no short text, or its args are no object")
    return CallFrame(number, name, arguments, after)
