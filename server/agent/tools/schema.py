"""JSON schema, as far as tools use it: whether a value keeps to one, and how one reads. Pure.

A schema that uses more than is checked here is refused when the tool is made: what is not checked
would let anything through.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Schema = Mapping[str, Any]

MOST_PROBLEMS: Final = 5
"""Told at once: a model mends these, and is told the rest next time."""

SHOWN_CHARS: Final = 60
"""Of a value that is wrong."""

MOST_DEPTH: Final = 16
"""Levels of a schema: what a model can fill in has three or four."""

_ANNOTATIONS: Final = frozenset({"title", "description", "default", "examples"})
_CHECKED: Final = frozenset(
    {
        "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
        "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength",
    }
)  # fmt: skip

_TYPES: Final[Mapping[str, Callable[[object], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),  # type: ignore[arg-type]
    "number": lambda value: _is_number(value),  # noqa: PLW0108 (it stands below)
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}

_ARTICLES: Final[Mapping[str, str]] = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def check_schema(schema: object, depth: int = 0) -> None:
    """Raise TypeError where a schema asks for what is not checked here."""
    if not isinstance(schema, Mapping):
        raise TypeError("a JSON schema must be an object")
    if depth > MOST_DEPTH:
        raise TypeError(f"a JSON schema may nest {MOST_DEPTH} levels")
    if unknown := sorted(set(schema) - _CHECKED - _ANNOTATIONS):
        raise TypeError(f"its JSON schema uses {', '.join(map(str, unknown))}, which is not known")
    kinds = schema.get("type", ())
    for kind in (kinds,) if isinstance(kinds, str) else kinds:
        if kind not in _TYPES:
            raise TypeError(f"its JSON schema has the type {kind}, which is not known")
    for inner in _inner(schema):
        check_schema(inner, depth + 1)


def _inner(schema: Schema) -> Iterator[object]:
    yield from schema.get("properties", {}).values()
    yield from schema.get("anyOf", ())
    for name in ("items", "additionalProperties"):
        if not isinstance(schema.get(name, True), bool):
            yield schema[name]


def problems(value: object, schema: Schema) -> list[str]:
    """What to change so that a value keeps to a schema, a sentence each; empty if it does."""
    found: list[str] = []
    for sentence in _problems(value, schema, ""):
        found.append(sentence)
        if len(found) == MOST_PROBLEMS:
            break
    return found


def _problems(value: object, schema: Schema, at: str) -> Iterator[str]:
    name = at or "The arguments"
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if kinds and not any(_TYPES[kind](value) for kind in kinds):
        wanted = " or ".join(_ARTICLES[kind] for kind in kinds)
        yield f"{name} must be {wanted}, not {_shown(value)}."
        return
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and not any(_same(value, each) for each in allowed):
        yield f"{name} must be one of {', '.join(map(_json, allowed))}, not {_shown(value)}."
    if "anyOf" in schema and all(any(_problems(value, one, at)) for one in schema["anyOf"]):
        yield f"{name} must be {in_words(schema)}, not {_shown(value)}."
    yield from _out_of_bounds(value, schema, name)
    if isinstance(value, dict):
        yield from _in_object(value, schema, at)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for number, each in enumerate(value):
            yield from _problems(each, schema["items"], f"{at}[{number}]")


def _in_object(value: Mapping[str, object], schema: Schema, at: str) -> Iterator[str]:
    properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            wanted = in_words(properties.get(name, {}))
            yield f"{_below(at, name)} is missing: give it ({wanted})."
    for name, each in value.items():
        if name in properties:
            yield from _problems(each, properties[name], _below(at, name))
        elif isinstance(more, Mapping):
            yield from _problems(each, more, _below(at, name))
        elif not more:
            there = ", ".join(properties) or "nothing"
            yield f"There is no {_shown(_below(at, name))}: leave it out; there is {there}."


def _out_of_bounds(value: object, schema: Schema, name: str) -> Iterator[str]:
    size: float | None = None
    least, most, unit = "minimum", "maximum", ""
    if isinstance(value, str):
        size, least, most, unit = len(value), "minLength", "maxLength", " characters"
    elif isinstance(value, list):
        size, least, most, unit = len(value), "minItems", "maxItems", " items"
    elif _is_number(value):
        size = value  # type: ignore[assignment]
    if size is not None and size < schema.get(least, -math.inf):
        yield f"{name} must be at least {schema[least]}{unit}."
    if size is not None and size > schema.get(most, math.inf):
        yield f"{name} must be at most {schema[most]}{unit}."


def in_words(schema: Schema) -> str:
    """A schema in a few words, for models and error messages."""
    if "const" in schema or "enum" in schema:
        return " | ".join(_json(each) for each in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " or ".join(in_words(one) for one in schema["anyOf"])
    if schema.get("properties"):
        needed = schema.get("required", ())
        parts = (
            f"{name}{'' if name in needed else '?'}: {in_words(one)}"
            for name, one in schema["properties"].items()
        )
        return f"{{{', '.join(parts)}}}"
    if schema.get("type") == "array" and isinstance(schema.get("items"), Mapping):
        return f"list of {in_words(schema['items'])}"
    kinds = schema.get("type", "anything")
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _below(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(one: object, other: object) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shown(value: object) -> str:
    text = value if isinstance(value, str) and value.isidentifier() else _json(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"
