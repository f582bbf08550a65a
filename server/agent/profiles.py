"""How to talk to a model: what it is told, in which words its output comes back, how much it keeps.

A profile is data. Strong models get a short prompt that never changes, so that providers can cache
it; small ones get worked examples, since they imitate better than they obey.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, cast


@dataclass(frozen=True, slots=True)
class Example:
    """One worked exchange, as messages."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """How to talk to one kind of model. `{…}` in a template is filled in."""

    name: str
    system: str
    """`{languages}` and `{where}`: what runs here and in which folder."""
    with_tool: str = ""
    """Added to the system prompt of a model that calls tools."""
    with_fences: str = ""
    """Added to the system prompt of a model that writes fenced code."""
    examples: tuple[Example, ...] = ()
    request: str = "{text}"
    """What the person says."""
    output: str = "Output:\n{output}"
    """What a run printed, when it went well."""
    empty: str = "It ran and printed nothing."
    failed: str = "It failed:\n{output}"
    not_run: str = "{detail}"
    """A run that was refused, interrupted or lost."""
    edited: str = "The person changed the code; this ran:\n{code}\n"
    """Goes before what came of code that the person edited."""
    cut_note: str = "(I did not hear your last answer to the end.)\n"
    """Goes before the next request if the last answer was interrupted."""
    interrupted_note: str = "(I stopped you there.)\n"
    """Goes before the next request if the work was interrupted."""
    stops_after_output: Literal["no", "yes"] = "no"
    """`yes`: once code has run well the next reply is the answer, and no further code is taken."""
    history_chars: int = 0
    """Characters of conversation that the model can make use of; 0 leaves it to the bounds."""
    temperature: float | None = None
    """None leaves it to the model's provider."""
    reply_tokens: int | None = None
    """Longest reply. None leaves it to the model's provider."""


PROFILES: Final = ("default", "pocket")


@cache
def profile(name: str) -> ModelProfile:
    """A shipped profile."""
    text = files("sayso.server.agent").joinpath("profiles.toml").read_text("utf-8")
    tables = cast(Mapping[str, Mapping[str, Any]], tomllib.loads(text))
    fields = dict(tables[name])
    examples = cast(Sequence[Mapping[str, Any]], fields.pop("examples", ()))
    return ModelProfile(
        name=name, examples=tuple(Example(**example) for example in examples), **fields
    )
