"""Puts what an MCP server asks to the person, field by field, and makes values of their answers.

What looks like a secret is never asked for: it would pass through transcripts. An address is shown
and needs a tap.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from sayso.server.agent.tools.person import NoAnswerError, Person
from sayso.server.agent.tools.schema import problems
from sayso.server.capabilities.mcp.definitions import plain

FIELDS_MOST: Final = 6
"""That one form asks about: more is no conversation. Of a longer one what must be answered is
asked, and the rest stays as its server has it."""

MESSAGE_CHARS: Final = 200
TRIES: Final = 2
"""For an answer that does not fit, before it counts as none."""

DECLINED: Final[Mapping[str, Any]] = {"action": "decline"}
CANCELLED: Final[Mapping[str, Any]] = {"action": "cancel"}

_SECRET: Final = re.compile(
    r"passw|passphrase|secret|token|api.?key|private.?key|credential|\bpins?\b|\botp\b|\btan\b"
    r"|\bcv[cv]\b|card.?number|\biban\b|\bssn\b|seed.?phrase|kennwort|geheim|zugangs|kartennummer"
    r"|mot.de.passe|contrase|parola|wachtwoord",
    re.IGNORECASE,
)
_SPACED: Final = re.compile(
    r"passw|passphrase|apikey|privatekey|credential|cardnumber|seedphrase|kennwort|kartennummer"
    r"|motdepasse|contrase",
    re.IGNORECASE,
)
"""The same of words with anything between their letters."""
_NEAR: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_YES_OR_NO: Final = ("yes", "no")
SKIP: Final = "skip"
_SKIP: Final = re.compile(r"(?:skip|nothing|none|no answer)[.!]?", re.IGNORECASE)


async def elicited(server: str, asked: Mapping[str, Any], person: Person) -> Mapping[str, Any]:
    """What to answer a server."""
    message = plain(" ".join(str(asked.get("message", "")).split()), MESSAGE_CHARS)
    try:
        if asked.get("mode") == "url":
            return await _address(server, message, str(asked.get("url", "")), person)
        return await _form(server, message, asked.get("requestedSchema") or {}, person)
    except NoAnswerError:
        return CANCELLED


async def _address(server: str, message: str, url: str, person: Person) -> Mapping[str, Any]:
    if not _may_be_opened(url):
        return DECLINED
    lines = (f"the MCP server {server} wants you to open this address in your browser",)
    allowed = await person.confirm(url, lines, f"{server} says: {message}")
    return {"action": "accept"} if allowed else DECLINED


async def _form(
    server: str, message: str, schema: Mapping[str, Any], person: Person
) -> Mapping[str, Any]:
    properties, required = schema.get("properties") or {}, schema.get("required") or ()
    asked = properties
    if len(properties) > FIELDS_MOST:
        asked = {name: field for name, field in properties.items() if name in required}
    if len(asked) > FIELDS_MOST or any(map(_is_secret, (message, *_texts(schema)))):
        return DECLINED
    unasked = {name: field for name, field in properties.items() if name not in asked}
    usual = {name: _usual(field, _choices(field)) for name, field in unasked.items()}
    content: dict[str, Any] = {name: each for name, each in usual.items() if each is not None}
    if not asked:
        answer = await person.ask(f"The server {server} asks: {message}", _YES_OR_NO)
        return {"action": "accept", "content": content} if answer == "yes" else DECLINED
    for number, (name, field) in enumerate(asked.items()):
        lead = f"The server {server} asks: {message}" if number == 0 else f"{server} asks on:"
        value = await _field(lead, name, field, person, needed=name in required)
        if value is _NOTHING:
            return DECLINED
        if value is not None:
            content[name] = value
    return {"action": "accept", "content": content}


def _may_be_opened(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if not parts.hostname or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _NEAR)


def _texts(value: object) -> Iterator[str]:
    """All that a form says, wherever it says it: names, titles, descriptions, formats, choices."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _is_secret(text: str) -> bool:
    """Whether it asks for one, as a person would read it."""
    read = plain(unicodedata.normalize("NFKC", text), len(text) * 18 + 1).replace("_", " ")
    return bool(_SECRET.search(read) or _SPACED.search(re.sub(r"[\W\d]+", "", read)))


_NOTHING: Final = object()


async def _field(
    lead: str, name: str, field: Mapping[str, Any], person: Person, *, needed: bool
) -> Any:  # noqa: ANN401 - what the schema says
    """A value for one field; what the server would take by itself where the person skips it; None
    where it may be left out, and was; _NOTHING where there is none that fits."""
    title = plain(str(field.get("title") or field.get("description") or name), 80)
    choices = _choices(field)
    usual = _usual(field, choices)
    may_skip = not needed or usual is not None
    if usual is not None:
        title = f"{title} ({_said(usual, choices)}, if you {SKIP})"
    for _ in range(TRIES):
        shown = (*choices, *((SKIP,) if may_skip and choices else ()))
        answer = await person.ask(f"{lead} {title}?" if title not in lead else lead, shown)
        if may_skip and answer not in choices and _SKIP.fullmatch(answer.strip()):
            return usual
        value = choices.get(answer, _NOTHING) if choices else _value(answer, field)
        if value is not _NOTHING and not problems(value, _checked(field)):
            return value
    return _NOTHING


def _usual(field: Mapping[str, Any], choices: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """What the server takes where nothing is said; None where it names nothing that fits."""
    usual = field.get("default")
    fits = usual in choices.values() if choices else not isinstance(usual, dict | list)
    if field.get("type") == "array" and isinstance(usual, list):
        several = [each for values in choices.values() for each in values]
        fits = all(each in several for each in usual)
    return usual if fits and not problems(usual, _checked(field)) else None


def _said(usual: Any, choices: Mapping[str, Any]) -> str:  # noqa: ANN401
    """What the server takes by itself, in a few words."""
    named = next((name for name, value in choices.items() if value == usual), None)
    several = ", ".join(map(str, usual)) if isinstance(usual, list) else str(usual)
    return plain(named or several or "nothing", 40)


def _choices(field: Mapping[str, Any]) -> dict[str, Any]:
    """What the person chooses from, and what each means for the server."""
    if field.get("type") == "boolean":
        return {"yes": True, "no": False}
    if isinstance(field.get("oneOf"), list):
        pairs = [
            (each.get("title") or each.get("const"), each.get("const")) for each in field["oneOf"]
        ]
        return {plain(str(title), 80): const for title, const in pairs}
    if isinstance(field.get("enum"), list):
        names = field.get("enumNames") or field["enum"]
        return {
            plain(str(title), 80): value for title, value in zip(names, field["enum"], strict=False)
        }
    if field.get("type") == "array":
        inner = field.get("items") or {}
        several = inner.get("enum") or [each.get("const") for each in inner.get("anyOf", ())]
        return {plain(str(each), 80): [each] for each in several}
    return {}


def _value(answer: str, field: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """An answer as the kind of value that is wanted."""
    try:
        match field.get("type"):
            case "integer":
                return int(answer)
            case "number":
                return float(answer)
            case _:
                return answer.strip()
    except ValueError:
        return _NOTHING


def _checked(field: Mapping[str, Any]) -> Mapping[str, Any]:
    known = ("type", "minimum", "maximum", "minLength", "maxLength")
    return {name: field[name] for name in known if name in field}
