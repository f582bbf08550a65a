"""Turns dataclasses into values that the JSON encoder takes."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Any, cast


def fields_of(record: object) -> dict[str, object]:
    """Return the record's fields in their order, without those that hold their default value."""
    kind: object = type(record)
    return {
        name: value
        for name, default in _defaults(kind)
        if (value := getattr(record, name)) != default
    }


def plain(value: object) -> dict[str, object]:
    """Turn what JSON does not know into what it does: nested records and mappings."""
    return dict(value) if isinstance(value, Mapping) else fields_of(value)


@cache
def _defaults(kind: object) -> tuple[tuple[str, object], ...]:
    return tuple((field.name, _default(field)) for field in fields(cast("type", kind)))


def _default(field: "Field[Any]") -> object:
    """A required field has no default; nothing is equal to `MISSING`."""
    return field.default if field.default_factory is MISSING else field.default_factory()
