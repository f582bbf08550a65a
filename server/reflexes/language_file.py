"""Reads a language from its YAML file.

Everything is checked when it is read, so that a file with a slip in it is refused with a sentence
that says where, and never fails in a conversation.
"""

import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Final,
    Literal,
    TypeVar,
    cast,
    get_args,
    get_origin,
)

from sayso.server.reflexes.errors import LanguageDamaged, LanguageMissing
from sayso.server.reflexes.figures.sum_words import Sums
from sayso.server.reflexes.language import Doubts, Language, Manners, Names, Phrases
from sayso.server.reflexes.reflex import Need, Topic

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SENTENCES: Final = Path(__file__).with_name("sentences")
"""The languages that Sayso comes with."""


def languages(folder: Path = SENTENCES) -> tuple[str, ...]:
    """The codes of the languages that are there."""
    return tuple(sorted(file.stem for file in folder.glob("*.yaml")))


@cache
def read_language(code: str, folder: Path = SENTENCES) -> Language:
    """The language, or the one that it is a variety of (`en` for `en-GB`).

    Raises LanguageMissing or LanguageDamaged.
    """
    known = languages(folder)
    name = next(
        (name for name in (code, code.replace("_", "-").split("-")[0]) if name in known), ""
    )
    if not name:
        raise LanguageMissing(
            f"Nothing can be done without a language model in the language {code}; "
            f"there is {', '.join(known) or 'none'}."
        )
    return _checked(folder / f"{name}.yaml", name)


def _checked(file: Path, code: str) -> Language:
    import yaml

    try:
        text = file.read_text(encoding="utf-8")
        # libyaml's loader is ten times as fast, and is not in every build of PyYAML.
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        return _language(code, _section(yaml.load(text, loader), "the file"))  # noqa: S506 (both are safe)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        told = " ".join(str(problem).split())
        raise LanguageDamaged(f"{file} cannot be read ({told}).") from problem
    except _Slip as slip:
        raise LanguageDamaged(f"In {file}, {slip}.") from slip


class _Slip(Exception):
    """Something is wrong at a place in a file."""


def _language(code: str, found: Mapping[str, object]) -> Language:
    hassil_keys = ("language", "lists", "expansion_rules", "intents")
    wanted = (*hassil_keys, "manners", "doubts", "sums", "places", "answers", "examples")
    _same_keys(found, wanted, "the file")
    _references_lead_somewhere(found)
    examples = _section(found["examples"], "examples")
    _same_keys(examples, _section(found["intents"], "intents"), "examples")
    return Language(
        code,
        {key: found[key] for key in hassil_keys},
        _record(Manners, found["manners"], "manners"),
        _record(Doubts, found["doubts"], "doubts"),
        _record(Sums, found["sums"], "sums"),
        _mapping(found["places"], "places"),
        _phrases(found["answers"]),
        {name: _texts(some, f"examples.{name}") for name, some in examples.items()},
    )


def _phrases(found: object) -> Phrases:
    phrases = _record(Phrases, found, "answers")
    _same_keys(phrases.talk, get_args(Topic), "answers.talk")
    _same_keys(phrases.elsewhere, (*get_args(Need), "away", "unknown"), "answers.elsewhere")
    return phrases


def _mapping(found: object, where: str) -> Mapping[str, str]:
    return {name: _text(one, f"{where}.{name}") for name, one in _section(found, where).items()}


Record = TypeVar("Record", bound="DataclassInstance")


def _record(kind: type[Record], found: object, where: str) -> Record:
    section = _section(found, where)
    _same_keys(section, (field.name for field in fields(kind)), where)
    return kind(
        **{
            field.name: _value(field.type, section[field.name], f"{where}.{field.name}")
            for field in fields(kind)
        }
    )


def _value(kind: object, found: object, where: str) -> object:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is str:
        return _text(found, where)
    if origin is Annotated:
        return _phrase(arguments[1], found, where)
    if origin is Literal:
        return _one_of(arguments, found, where)
    if origin is tuple:
        return tuple(_value(arguments[0], one, where) for one in _texts(found, where))
    if origin is Mapping:
        section = _section(found, where)
        return {name: _value(arguments[1], one, f"{where}.{name}") for name, one in section.items()}
    return _record(cast("type[DataclassInstance]", kind), found, where)


def _section(found: object, where: str) -> Mapping[str, object]:
    if not isinstance(found, dict):
        raise _Slip(f"{where} should hold names and values")
    for key in found:
        if not isinstance(key, str):  # YAML takes yes, no, on and off for something else
            raise _Slip(f"a name in {where} should be in quotes: it reads as {key!r}")
    return found


def _texts(found: object, where: str) -> tuple[str, ...]:
    if not isinstance(found, list):
        raise _Slip(f"{where} should be a list")
    return tuple(_text(one, where) for one in found)


def _text(found: object, where: str) -> str:
    if not isinstance(found, str):
        raise _Slip(f"{where} should hold text, in quotes if need be, instead of {found!r}")
    return found


def _one_of(allowed: tuple[str, ...], found: object, where: str) -> str:
    if found not in allowed:
        raise _Slip(f"{where} should be one of {', '.join(allowed)}, in quotes")
    return str(found)


def _phrase(names: Names, found: object, where: str) -> str:
    phrase = _text(found, where)
    try:
        parts = list(string.Formatter().parse(phrase))
    except ValueError as problem:
        raise _Slip(f"the braces in {where} do not match") from problem
    for _, name, form, conversion in parts:
        if name is not None and (name not in names.allowed or form or conversion):
            raise _Slip(f"{where} may have in braces {', '.join(names.allowed)}, not {name!r}")
    return phrase


def _references_lead_somewhere(found: Mapping[str, object]) -> None:
    """Every `<rule>` and `{list}` of a sentence is defined: hassil only looks when it matches."""
    lists = _section(found["lists"], "lists")
    rules = _section(found["expansion_rules"], "expansion_rules")
    for name, body in rules.items():
        _references(_text(body, f"expansion_rules.{name}"), lists, rules, name)
    for name, intent in _section(found["intents"], "intents").items():
        blocks = _section(intent, name).get("data")
        if not isinstance(blocks, list):
            raise _Slip(f"{name} should have a list called data")
        for block in blocks:
            section = _section(block, name)
            own = {**rules, **_section(section.get("expansion_rules", {}), name)}
            for sentence in _texts(section.get("sentences"), f"{name}.sentences"):
                _references(sentence, lists, own, name)


def _references(sentence: str, lists: Iterable[str], rules: Iterable[str], where: str) -> None:
    for braces, known in (("<>", rules), ("{}", lists)):
        start, end = map(re.escape, braces)
        for name in re.findall(rf"{start}([^:{end}]+)", sentence):
            if name not in known:
                raise _Slip(f"{where} speaks of {braces[0]}{name}{braces[1]}, which is not defined")


def _same_keys(found: Iterable[str], wanted: Iterable[str], where: str) -> None:
    found, wanted = set(found), set(wanted)
    if missing := wanted - found:
        raise _Slip(f"{where} lacks {', '.join(sorted(missing))}")
    if strange := found - wanted:
        raise _Slip(f"{where} holds {', '.join(sorted(strange))}, which means nothing")
