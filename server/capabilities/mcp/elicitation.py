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
"""Of one form: more is no conversation."""

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
    properties = schema.get("properties") or {}
    if len(properties) > FIELDS_MOST or any(map(_is_secret, (message, *_texts(schema)))):
        return DECLINED
    if not properties:
        answer = await person.ask(f"The server {server} asks: {message}", _YES_OR_NO)
        return {"action": "accept", "content": {}} if answer == "yes" else DECLINED
    content: dict[str, Any] = {}
    for number, (name, field) in enumerate(properties.items()):
        lead = f"The server {server} asks: {message}" if number == 0 else f"{server} asks on:"
        value = await _field(lead, name, field, person, needed=name in schema.get("required", ()))
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
    """A value for one field; None where it may be left out, and was; _NOTHING where there is none
    that fits."""
    title = plain(str(field.get("title") or field.get("description") or name), 80)
    choices = _choices(field)
    for _ in range(TRIES):
        shown = tuple(choices)
        answer = await person.ask(f"{lead} {title}?" if title not in lead else lead, shown)
        if not needed and not choices and _SKIP.fullmatch(answer.strip()):
            return None
        value = choices.get(answer, _NOTHING) if choices else _value(answer, field)
        if value is not _NOTHING and not problems(value, _checked(field)):
            return value
    return _NOTHING


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
