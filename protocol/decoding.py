"""Turns parsed JSON into dataclasses, by their type hints.

Each hint is compiled once into a small function that checks a value and returns it in its final
form. The hints that messages and log records use are the ones understood: `str`, `float`, `int`,
`bool`, `Any`, `Literal`, `Annotated[int, Between(…)]`, `X | None`, `tuple[X, ...]`,
`Mapping[str, X]` and dataclasses.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
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

from sayso.protocol.messages.bounds import Between

Decode = Callable[[object], object]
"""Takes what the JSON parser made; returns the checked value or raises `Mismatch`."""

Kind = TypeVar("Kind")


_LONGEST_PATH = 80
"""Characters: twice the longest way to a field that a message of ours has."""


class Mismatch(Exception):
    """A value is not what its field holds."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = ""

    def inside(self, step: str) -> "Mismatch":
        """Note where the value was found; called once for each level, from within to without."""
        self.path = f"{step}.{self.path}" if self.path else step
        return self

    def sentence(self) -> str:
        """What is wrong, and where. Names that the sender made up are cut short."""
        where = f"`{self.path[:_LONGEST_PATH]}`" if self.path else "it"
        return f"{where} {self.problem}."


def decoder_for(kind: type[Kind]) -> Callable[[object], Kind]:
    """Return the function that makes a `kind` from parsed JSON."""
    hint: object = kind
    return cast("Callable[[object], Kind]", _decoder(hint))


@cache
def _decoder(hint: object) -> Decode:
    if hint is Any:
        return _anything
    if isinstance(hint, type) and is_dataclass(hint):
        return _record(hint)
    if isinstance(hint, type) and hint in _PLAIN:
        return _exactly(hint, _PLAIN[hint])
    return _compound(get_origin(hint), get_args(hint))


def _compound(origin: object, arguments: tuple[object, ...]) -> Decode:
    if origin is Annotated:
        return _whole_number(cast("Between", arguments[1]))
    if origin is Literal:
        return _one_of(arguments)
    if origin is tuple:
        return _row(_decoder(arguments[0]))
    if origin is Mapping:
        return _mapping(_decoder(arguments[1]))
    if origin in (Union, UnionType) and arguments[1:] == (NoneType,):
        return _perhaps(_decoder(arguments[0]))
    raise TypeError(f"no message can hold a {origin}")


_PLAIN: dict[type, str] = {
    str: "must be text",
    bool: "must be true or false",
    float: "must be a number",
    int: "must be a whole number",
}


def _anything(value: object) -> object:
    return value


def _exactly(kind: type, problem: str) -> Decode:
    def decode(value: object) -> object:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
        raise Mismatch(problem)

    return decode


def _whole_number(between: Between) -> Decode:
    least, most = between.least, between.most
    problem = f"must be a whole number from {least} to {most}"

    def decode(value: object) -> int:
        # Not isinstance: true is no number.
        if type(value) is int and least <= value <= most:
            return value
        raise Mismatch(problem)

    return decode


def _one_of(words: tuple[object, ...]) -> Decode:
    problem = f"must be one of {', '.join(map(str, words))}"

    def decode(value: object) -> object:
        if value in words:
            return value
        raise Mismatch(problem)

    return decode


def _perhaps(inner: Decode) -> Decode:
    return lambda value: None if value is None else inner(value)


def _row(inner: Decode) -> Decode:
    def decode(value: object) -> tuple[object, ...]:
        if type(value) is not list:
            raise Mismatch("must be a list")
        return tuple([_at(str(place), inner, item) for place, item in enumerate(value)])

    return decode


def _mapping(inner: Decode) -> Decode:
    def decode(value: object) -> dict[str, object]:
        if type(value) is not dict:
            raise Mismatch("must be an object")
        return {key: _at(key, inner, item) for key, item in value.items()}

    return decode


def _record(kind: type) -> Decode:
    hints = get_type_hints(kind, include_extras=True)
    wanted = [(field.name, _decoder(hints[field.name]), _required(field)) for field in fields(kind)]

    def decode(value: object) -> object:
        if type(value) is not dict:
            raise Mismatch("must be an object")
        arguments = {}
        for name, inner, required in wanted:
            if name in value:
                arguments[name] = _at(name, inner, value[name])
            elif required:
                raise Mismatch("is missing").inside(name)
        try:
            return kind(**arguments)
        except ValueError as error:
            raise Mismatch(str(error)) from None

    return decode


def _required(field: "Field[Any]") -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _at(step: str, inner: Decode, value: object) -> object:
    try:
        return inner(value)
    except Mismatch as mismatch:
        raise mismatch.inside(step) from None
