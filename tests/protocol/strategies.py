"""Hypothesis strategies for everything that can travel, made from the messages' own type hints."""

import string
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from hypothesis import strategies as st

from sayso.protocol.codec import Envelope
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import TYPES, Approve, Message, TaskUpdate
from sayso.protocol.messages.bounds import GREATEST

Record = TypeVar("Record")

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
"""Any characters but lone surrogates, which no valid text holds."""

WHOLE = st.integers(-GREATEST, GREATEST)
FRACTION = st.floats(allow_nan=False, allow_infinity=False)

JSON = st.recursive(
    st.none() | st.booleans() | WHOLE | FRACTION | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)


def of(hint: object) -> st.SearchStrategy[Any]:
    """Values of a type, as decoding makes them."""
    if isinstance(hint, type) and is_dataclass(hint):
        return records(hint)
    plain: dict[object, st.SearchStrategy[Any]] = {
        str: TEXT,
        bool: st.booleans(),
        float: FRACTION,
        Any: JSON,
        NoneType: st.none(),
    }
    if hint in plain:
        return plain[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return st.integers(arguments[1].least, arguments[1].most)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(of(arguments[0]), max_size=3).map(tuple)
    if origin is Mapping:
        return st.dictionaries(TEXT, of(arguments[1]), max_size=3)
    assert origin in (Union, UnionType), hint
    return st.one_of([of(argument) for argument in arguments])


def records(kind: type[Record]) -> st.SearchStrategy[Record]:
    """Records in which each optional field is sometimes left at its default."""
    if kind is Approve:
        return approvals()
    hints = get_type_hints(kind, include_extras=True)
    required = {f.name: of(hints[f.name]) for f in fields(cast("Any", kind)) if _is_required(f)}
    optional = {f.name: of(hints[f.name]) for f in fields(cast("Any", kind)) if not _is_required(f)}
    if kind is TaskUpdate:
        optional["fraction"] = st.none() | st.floats(0.0, 1.0)
    return st.fixed_dictionaries(required, optional=optional).map(lambda given: kind(**given))


def approvals() -> st.SearchStrategy[Any]:
    """Code comes with `edit`, and only then."""
    settled = st.builds(Approve, TEXT, TEXT, st.sampled_from(["yes", "no"]))
    return settled | st.builds(Approve, TEXT, TEXT, st.just("edit"), TEXT.filter(bool))


def messages() -> st.SearchStrategy[Message]:
    return st.sampled_from(sorted(TYPES)).flatmap(lambda name: records(TYPES[name]))


def envelopes() -> st.SearchStrategy[Envelope]:
    count = st.none() | st.integers(0, GREATEST)
    return st.builds(Envelope, messages(), count, count, count)


def frames() -> st.SearchStrategy[AudioFrame]:
    return st.builds(
        AudioFrame,
        stream=st.integers(0, 0xFFFF),
        seq=st.integers(0, 0xFFFF_FFFF),
        first_sample=st.integers(0, 0xFFFF_FFFF),
        payload=st.binary(max_size=2_000),
        last=st.booleans(),
    )


def almost_json() -> st.SearchStrategy[str]:
    """Text made of what JSON is made of."""
    pieces = ["{", "}", "[", "]", ",", ":", '"', "\\", "\\u", "d800", "null", "true", "1e999", "-0"]
    return st.lists(st.sampled_from([*pieces, *string.hexdigits, '"t":"text"'])).map("".join)


def _is_required(field: "Field[Any]") -> bool:
    return field.default is MISSING and field.default_factory is MISSING
