"""Messages between server and workers: what goes in comes out, and nonsense is refused."""

import io
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sayso.server.speech.workers.wire import (
    MAX_HEAD_BYTES,
    PREFIX,
    Note,
    Value,
    WireBroken,
    pack,
    read,
)

VALUES = some.recursive(
    some.none()
    | some.booleans()
    | some.integers()
    | some.text(some.characters(codec=None, exclude_categories=()))
    | some.floats(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
    max_leaves=8,
)
FIELDS = some.dictionaries(some.text().filter(lambda name: name != "kind"), VALUES)


@given(some.text(), FIELDS, some.binary())
def test_what_is_packed_is_read_again(kind: str, fields: dict[str, object], load: bytes) -> None:
    note = Note(kind, fields, load)  # type: ignore[arg-type]
    try:
        packed = pack(note)
    except ValueError:  # what no reader takes is not sent
        return
    assert read(io.BytesIO(packed).read) == note


@pytest.mark.parametrize("value", [inf, -inf, nan, 2**64, -(2**64), "\ud800", [[[inf]]]])
def test_a_value_that_no_reader_takes_is_not_sent(value: Value) -> None:
    with pytest.raises(ValueError, match="it holds"):
        pack(Note("kind", {"field": value}))


@pytest.mark.parametrize(
    "raw",
    [
        PREFIX.pack(MAX_HEAD_BYTES + 1, 0),
        PREFIX.pack(2, 2**31) + b"{}",
        PREFIX.pack(2, 0) + b"{}",
        PREFIX.pack(2, 0) + b"[]",
        PREFIX.pack(4, 0) + b"\xff\xff\xff\xff",
        PREFIX.pack(10, 0) + b'{"kind":1}',
    ],
)
def test_nonsense_is_refused(raw: bytes) -> None:
    with pytest.raises(WireBroken):
        read(io.BytesIO(raw).read)


@pytest.mark.parametrize("asked", ["text", "whole", "number", "truth", "rows"])
def test_a_field_of_the_wrong_kind_is_refused(asked: str) -> None:
    with pytest.raises(WireBroken):
        getattr(Note("kind", {"field": {}}), asked)("field")
