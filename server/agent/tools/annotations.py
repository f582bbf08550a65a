"""What an annotated Python function takes: JSON schema of its arguments, and the values that its
annotations name, made of JSON that keeps to that.
"""

import dataclasses
import inspect
import types
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    Required,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from sayso.server.agent.tools.schema import Schema, problems

MOST_DEPTH: Final = 8
"""Levels of a type: one that holds itself has no end."""

_PLAIN: Final[Mapping[object, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    None: "null",
    Path: "string",
}
_SCALARS: Final = (str, int, float, bool)


def schema_of(call: Callable[..., Any]) -> Schema:
    """JSON schema of a function's arguments. Raises TypeError where there is no JSON for one."""
    hints = get_type_hints(call, include_extras=True)
    parameters = inspect.signature(call).parameters.values()
    for one in parameters:
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            raise TypeError(f"{one.name} can't be given by its name; name each argument.")
    return {
        "type": "object",
        "properties": {one.name: _schema(hints.get(one.name, str), one.name) for one in parameters},
        "required": [one.name for one in parameters if one.default is one.empty],
        "additionalProperties": False,
    }


def values_for(call: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a function takes, of arguments that keep to its schema."""
    hints = get_type_hints(call, include_extras=True)
    return {name: _value(given, hints.get(name, str)) for name, given in arguments.items()}


def _schema(hint: Any, at: str, depth: int = 0) -> dict[str, Any]:  # noqa: ANN401
    if depth > MOST_DEPTH:
        raise TypeError(f"{at} nests deeper than {MOST_DEPTH} levels")
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Annotated, Required, NotRequired):
        described = [each for each in inner[1:] if isinstance(each, str)]
        return _schema(inner[0], at, depth) | ({"description": described[0]} if described else {})
    if hint is Any or hint is object:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is Literal:
        return _one_of(inner, at)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _one_of([each.value for each in hint], at)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(one, at, depth + 1) for one in inner]}
    if (fields := _fields(hint)) is not None:
        return {
            "type": "object",
            "properties": {
                name: _schema(one, f"{at}.{name}", depth + 1) for name, (one, _) in fields.items()
            },
            "required": [name for name, (_, needed) in fields.items() if needed],
            "additionalProperties": False,
        }
    return _container(origin or hint, inner, at, depth)


def _container(kind: Any, inner: tuple[Any, ...], at: str, depth: int) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(kind, type) and issubclass(kind, Mapping):
        if inner and inner[0] is not str:
            raise TypeError(f"{at}: the keys of a JSON object are strings")
        more = {"additionalProperties": _schema(inner[1], at, depth + 1)} if inner else {}
        return {"type": "object", **more}
    if isinstance(kind, type) and issubclass(kind, Collection) and not issubclass(kind, bytes):
        if kind is tuple and inner and inner[1:] != (...,):
            raise TypeError(f"{at}: write tuple[X, ...], or a dataclass")
        items = {"items": _schema(inner[0], at, depth + 1)} if inner else {}
        return {"type": "array", **items}
    raise TypeError(f"{at}: there is no JSON for {getattr(kind, '__name__', kind)}")


def _one_of(values: Collection[object], at: str) -> dict[str, Any]:
    if not all(isinstance(each, _SCALARS) or each is None for each in values):
        raise TypeError(f"{at}: what is chosen from must be strings and numbers")
    kinds = {_PLAIN[type(each)] for each in values}
    return {"enum": list(values)} | ({"type": kinds.pop()} if len(kinds) == 1 else {})


def _fields(hint: Any) -> dict[str, tuple[Any, bool]] | None:  # noqa: ANN401
    """The types of a record's fields, and whether each must be given; None if it is no record."""
    if is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        return {name: (one, name in hint.__required_keys__) for name, one in hints.items()}
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        hints, missing = get_type_hints(hint, include_extras=True), dataclasses.MISSING
        return {
            field.name: (
                hints[field.name],
                field.default is missing and field.default_factory is missing,
            )
            for field in dataclasses.fields(hint)
            if field.init
        }
    return None


def _value(given: Any, hint: Any) -> Any:  # noqa: ANN401
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Annotated, Required, NotRequired):
        return _value(given, inner[0])
    if origin in (Union, types.UnionType):
        fits = (one for one in inner if not problems(given, _schema(one, "")))
        return _value(given, next(fits))
    if hint in (int, float, Path):
        return cast("Callable[[Any], Any]", hint)(given)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(given)
    if (fields := _fields(hint)) is not None:
        made = {name: _value(each, fields[name][0]) for name, each in given.items()}
        return made if is_typeddict(hint) else hint(**made)
    kind = origin or hint
    if isinstance(given, dict) and inner:
        return {name: _value(each, inner[1]) for name, each in given.items()}
    if isinstance(given, list):
        values = [_value(each, inner[0]) for each in given] if inner else given
        made_of = kind if kind in (tuple, set, frozenset) else list
        return made_of(values)
    return given
