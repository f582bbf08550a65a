"""The keys that there are, read off the dataclasses, and the key that a person may have meant."""

import dataclasses
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

from sayso.server.settings.defaults import SECTIONS
from sayso.server.settings.value_types import Between, ByProject, Key, Kind

LIKENESS = 0.7
"""How alike two names must be (0 to 1) for "did you mean": one or two slips of the finger."""

KINDS: Mapping[object, Kind] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "yes or no",
    tuple[str, ...]: "list of texts",
}


@cache
def keys() -> Mapping[str, Key]:
    """Every key by its dotted name, in the order of the dataclasses."""
    found = {}
    for section, section_type in SECTIONS.items():
        hints = get_type_hints(section_type, include_extras=True)
        for field in dataclasses.fields(section_type):
            key = key_of(section, field.name, hints[field.name], field.default)
            found[key.dotted] = key
    return MappingProxyType(found)


def meant(name: str) -> str | None:
    """The key that someone who wrote `name` may have meant."""
    dotted = name.lower().replace("-", "_")
    close = get_close_matches(dotted, keys(), n=1, cutoff=LIKENESS)
    if close:
        return close[0]
    last = dotted.rpartition(".")[2]
    same = [key.dotted for key in keys().values() if key.name == last]
    return same[0] if len(same) == 1 else None


def meant_variable(variable: str) -> str | None:
    """The environment variable that someone who wrote `variable` may have meant."""
    close = get_close_matches(variable, [key.variable for key in keys().values()], n=1, cutoff=0.85)
    return close[0] if close else None


def key_of(section: str, name: str, hint: object, default: object) -> Key:
    """The key that a field of a dataclass is."""
    marks: tuple[object, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        marks = tuple(rest)
    choices: tuple[str, ...] = ()
    if get_origin(hint) is Literal:
        choices, hint = get_args(hint), str
    if not isinstance(default, str | int | float | tuple):
        message = f"{section}.{name} has a default of a type that no setting can have"
        raise TypeError(message)
    return Key(
        section=section,
        name=name,
        kind=KINDS[hint],
        default=default,
        between=next((mark for mark in marks if isinstance(mark, Between)), None),
        choices=choices,
        by_project=any(isinstance(mark, ByProject) for mark in marks),
    )
