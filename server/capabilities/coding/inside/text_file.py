"""Turns a file's bytes into lines and back, so that what is not edited stays as it is: the marks of
its encoding, the ends of its lines, and whether its last line has one. Pure.
"""

import codecs
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MOST_BYTES = 4 * 1024**2
"""Of a file that is edited or read as text: more is data, and code reads it better."""


class NoTextError(Exception):
    """These bytes are no text that can be edited; the message completes "it …"."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and how it ends: `\\n`, `\\r\\n`, or nothing if it is the last."""

    text: str
    end: str = "\n"

    def __str__(self) -> str:
        return self.text + self.end


@dataclass(frozen=True, slots=True)
class TextFile:
    """The lines of a file, and how they are written."""

    lines: tuple[Line, ...]
    mark: bool = False
    """It begins with the byte order mark of UTF-8."""
    encoding: str = "utf-8"

    @property
    def end(self) -> str:
        """How most of its lines end."""
        ends = Counter(line.end for line in self.lines if line.end)
        return ends.most_common(1)[0][0] if ends else "\n"

    @property
    def ends_with_newline(self) -> bool:
        return not self.lines or bool(self.lines[-1].end)

    @property
    def texts(self) -> list[str]:
        """The lines without their ends."""
        return [line.text for line in self.lines]

    @property
    def whole(self) -> str:
        return "".join(map(str, self.lines))

    def bytes(self) -> bytes:
        """As it is on the disk. Raises NoTextError."""
        try:
            body = self.whole.encode(self.encoding)
        except UnicodeEncodeError as error:
            sign = self.whole[error.start]
            raise NoTextError(f"is written in {self.encoding}, which has no {sign!r}") from None
        return codecs.BOM_UTF8 + body if self.mark else body


def read_text(data: bytes) -> TextFile:
    """The lines of a file with these bytes. Raises NoTextError."""
    if len(data) > MOST_BYTES:
        raise NoTextError(f"has {len(data):,} bytes, and only {MOST_BYTES:,} are read as text")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise NoTextError("is written in UTF-16")
    if b"\0" in data:
        raise NoTextError("is not text")
    mark = data.startswith(codecs.BOM_UTF8)
    body = data.removeprefix(codecs.BOM_UTF8) if mark else data
    try:
        return TextFile(split(body.decode()), mark)
    except UnicodeDecodeError:
        return TextFile(split(body.decode("latin-1")), mark, "latin-1")


def new_text(texts: Sequence[str]) -> TextFile:
    """A new file of these lines."""
    return TextFile(tuple(Line(text) for text in texts))


def split(text: str) -> tuple[Line, ...]:
    """The lines of a text. A carriage return alone ends none."""
    *whole, last = text.split("\n")
    lines = [Line(each[:-1], "\r\n") if each.endswith("\r") else Line(each, "\n") for each in whole]
    return (*lines, Line(last, "")) if last else tuple(lines)
