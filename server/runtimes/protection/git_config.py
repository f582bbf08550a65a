"""Reads and writes the text of git's settings, by git's own grammar. Pure.

It reads what `git config --file … --list --null` reads, without starting git on what strangers
wrote: the same bytes give the same settings, or are refused as git refuses them. Included files are
settings like any other here (`include.path`), and are not read.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_OF_NAMES = _LETTERS | frozenset(b"0123456789-")
_BLANK = frozenset(b" \t\r\n")
_ESCAPED = {ord("t"): 9, ord("b"): 8, ord("n"): 10, ord("\\"): 92, ord('"'): 34}
_MARK = b"\xef\xbb\xbf"
"""What some editors begin a text with."""

_END, _QUOTE, _BACKSLASH = 10, 34, 92


class UnreadableConfig(ValueError):
    """Git would refuse this text, or readers of it might not agree."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting."""

    section: str
    """In lower case; empty for what stands before all sections."""
    subsection: str | None
    """As it is written; some settings have none."""
    name: str
    """In lower case."""
    value: str | None
    """None if there is but the name, which stands for true."""


def parse(text: bytes) -> list[Setting]:
    """All settings, in their order. Raises UnreadableConfig.

    Bytes that are no UTF-8 are kept as surrogates.
    """
    if b"\0" in text:
        raise UnreadableConfig("a zero byte ends texts for some readers")
    return list(_Reader(text).settings())


def write(settings: Iterable[Setting]) -> bytes:
    """A text that every reader understands as these settings, in one way alone."""
    lines: list[str] = []
    last: tuple[str, str | None] | None = None
    for setting in settings:
        if last != (setting.section, setting.subsection):
            last = setting.section, setting.subsection
            named = "" if setting.subsection is None else f' "{_quoted(setting.subsection)}"'
            lines.append(f"[{setting.section}{named}]")
        value = "" if setting.value is None else f' = "{_quoted(setting.value)}"'
        lines.append(f"\t{setting.name}{value}")
    return "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


class _Reader:
    """Goes through a text byte by byte, as git does."""

    def __init__(self, text: bytes) -> None:
        text = text.replace(b"\r\n", b"\n")
        self._bytes: Iterator[int] = iter(text.removeprefix(_MARK))
        self._ended = False

    def _next(self) -> int:
        """The next byte; the end of the text is the end of a line."""
        found = next(self._bytes, -1)
        if found < 0:
            self._ended = True
            return _END
        return found

    def settings(self) -> Iterator[Setting]:
        section = b""
        comment = False
        while not (self._ended):
            byte = self._next()
            if byte == _END:
                comment = False
            elif comment or byte in _BLANK:
                continue
            elif byte in b"#;":
                comment = True
            elif byte == ord("["):
                section = self._section()
            elif byte in _LETTERS:
                yield self._setting(section, byte)
            else:
                raise UnreadableConfig("something else than a section or a setting")

    def _section(self) -> bytes:
        """What stands between the brackets; a subsection after a dot."""
        name = bytearray()
        while (byte := self._next()) != ord("]"):
            if byte in _BLANK and not self._ended:
                return bytes(name).lower() + b"." + self._subsection(byte)
            if self._ended or (byte not in _OF_NAMES and byte != ord(".")):
                raise UnreadableConfig("a section without an end")
            name.append(byte)
        if not name:
            raise UnreadableConfig("a section without a name")
        return bytes(name).lower()

    def _subsection(self, byte: int) -> bytes:
        while byte in _BLANK:
            if byte == _END:
                raise UnreadableConfig("a section without an end")
            byte = self._next()
        if byte != _QUOTE:
            raise UnreadableConfig("a subsection without quotation marks")
        name = bytearray()
        while (byte := self._next()) != _QUOTE:
            if byte == _BACKSLASH:
                byte = self._next()
            if byte == _END:
                raise UnreadableConfig("a subsection without an end")
            name.append(byte)
        if self._next() != ord("]"):
            raise UnreadableConfig("something between a subsection and the bracket")
        return bytes(name)

    def _setting(self, section: bytes, first: int) -> Setting:
        name = bytearray([first])
        while (byte := self._next()) in _OF_NAMES:
            name.append(byte)
        while byte in b" \t":
            byte = self._next()
        value = None
        if byte != _END:
            if byte != ord("="):
                raise UnreadableConfig("a setting without a sign of equality")
            value = self._value().decode(errors="surrogateescape")
        whole, dot, below = section.decode(errors="surrogateescape").partition(".")
        return Setting(whole, below if dot else None, name.decode().lower(), value)

    def _value(self) -> bytes:
        value = bytearray()
        quoted = False
        spaces = 0
        while (byte := self._next()) != _END:
            if not quoted and byte in _BLANK:
                spaces += bool(value)
                continue
            if not quoted and byte in b"#;":
                while self._next() != _END:
                    pass
                break
            value += b" " * spaces
            spaces = 0
            if byte == _QUOTE:
                quoted = not quoted
            else:
                value += self._escaped() if byte == _BACKSLASH else bytes([byte])
        if quoted:
            raise UnreadableConfig("a value without a closing quotation mark")
        return bytes(value)

    def _escaped(self) -> bytes:
        """What a backslash stands for with what follows it; nothing before the end of a line."""
        byte = self._next()
        if byte == _END:
            return b""
        if byte not in _ESCAPED:
            raise UnreadableConfig("an escape that there is not")
        return bytes([_ESCAPED[byte]])
