"""Reads JSON that somebody else wrote: code, a model, another process or machine.

`json.loads` alone raises several exceptions for text that is made to hurt, and gives values that
other parts cannot carry. Here text is bounded in length and depth, whole numbers fit into 64 bits,
every number is finite and every string can be written as UTF-8; whatever else was written raises
`UntrustedJsonError` and nothing but that.
"""

import json
import math
import re
from typing import Any, Final

MOST_BYTES: Final = 8 * 1024**2
"""Many times what anybody who is not hostile says at once."""

MOST_DEPTH: Final = 64
"""Levels of nesting. What people and programs write has ten; a reader that recurses is safe far
beyond."""

_INTEGER_BITS: Final = 64
"""What a database, a clock and other languages can hold."""

_INTEGER_DIGITS: Final = 20
"""Of the largest of those: what has more is refused before it costs anything."""

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""One that is not finished counts to the end of the text, so that the search stays linear."""

_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")

_ALIKE: Final = bytes.maketrans(b"{}", b"[]")

_HALF: Final = re.compile("[\ud800-\udfff]")
_HALF_WRITTEN: Final = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


class UntrustedJsonError(ValueError):
    """What was written is not JSON, or more than is read; the text says which."""


def read_json(
    text: str | bytes | bytearray,
    *,
    most_bytes: int = MOST_BYTES,
    control_characters: bool = False,
) -> Any:  # noqa: ANN401 - the reader looks what it is
    """Return the value of JSON text, or raise `UntrustedJsonError`.

    Halves of surrogate pairs become U+FFFD. `control_characters`: whether they may stand in strings
    as they are, which models write.
    """
    try:
        size = len(text) if not isinstance(text, str) else _size(text, most_bytes)
        if size > most_bytes:
            raise UntrustedJsonError(f"it is longer than {most_bytes} bytes")
        text = text if isinstance(text, str) else text.decode()
    except UnicodeError:
        raise UntrustedJsonError("it is not valid UTF-8") from None
    if is_deeper(text, MOST_DEPTH):
        raise UntrustedJsonError(f"it is nested deeper than {MOST_DEPTH} levels")
    try:
        value = (_LENIENT if control_characters else _STRICT).decode(text)
    except json.JSONDecodeError as error:
        raise UntrustedJsonError(f"{error.msg}, character {error.pos}") from None
    return _whole_characters(value) if _HALF_WRITTEN.search(text) else value


def is_deeper(text: str, levels: int) -> bool:
    """Whether brackets nest deeper than so many levels, or do not pair though there are more than
    so many; those in strings are not counted."""
    if text.count("[") + text.count("{") <= levels:
        return False
    brackets = _STRING.sub(b"", text.encode(errors="replace")).translate(_ALIKE, _NO_BRACKETS)
    # Each round takes the innermost pairs away, at the speed of a search.
    for _ in range(levels):
        before = len(brackets)
        brackets = brackets.replace(b"[]", b"")
        if len(brackets) == before:
            break
    return bool(brackets)


def _size(text: str, most: int) -> int:
    return len(text) if text.isascii() or len(text) > most else len(text.encode(errors="replace"))


def _whole_characters(value: object) -> object:
    """The value with halves of surrogate pairs replaced; the depth is bounded by now."""
    if isinstance(value, str):
        return _HALF.sub("�", value)
    if isinstance(value, list):
        return [_whole_characters(each) for each in value]
    if isinstance(value, dict):
        return {_whole_characters(name): _whole_characters(each) for name, each in value.items()}
    return value


def _integer(digits: str) -> int:
    if len(digits) > _INTEGER_DIGITS or (value := int(digits)).bit_length() > _INTEGER_BITS:
        raise UntrustedJsonError("it holds a whole number of more than 64 bits")
    return value


def _fraction(digits: str) -> float:
    if not math.isfinite(value := float(digits)):
        raise UntrustedJsonError("it holds a number beyond what a double can hold")
    return value


def _constant(name: str) -> float:
    raise UntrustedJsonError(f"it holds {name}, which is not JSON")


_STRICT, _LENIENT = (
    json.JSONDecoder(
        parse_int=_integer, parse_float=_fraction, parse_constant=_constant, strict=strict
    )
    for strict in (True, False)
)
