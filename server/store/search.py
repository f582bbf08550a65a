"""Searches what was said, while a server writes the log: a reader of its own, so that nobody waits
for it who wants something kept."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.server.store.errors import StoreError
from sayso.server.store.log_reader import opened

KINDS: Final = ("asked", "steered", "answered", "said.beside")
"""Of records with what was said, by the name of the field that holds it: `text`; `asked`, too."""

MOST_WORDS: Final = 8
MOST_READ: Final = 200_000
"""Records, the latest first: some hundred thousand sentences of a household's years."""

AROUND_CHARS: Final = 60
"""Of the text before and behind the first word that was found."""


@dataclass(frozen=True, slots=True)
class Found:
    """A place where all the words stand."""

    conversation: str
    time: float
    """Unix seconds."""
    excerpt: str
    by_person: bool
    """Whether the person said it."""


def search(path: Path, words: str, conversations: Sequence[str], most: int) -> Sequence[Found]:
    """The latest place in each of these conversations where all the words stand. Raises
    StoreError."""
    wanted = words.casefold().split()[:MOST_WORDS]
    left = set(conversations)
    found: list[Found] = []
    if not wanted or not left:
        return found
    try:
        with opened(path) as connection:
            rows = connection.execute(
                "SELECT conversation, time, kind, payload FROM event"
                " WHERE kind IN (SELECT value FROM json_each (?)) ORDER BY id DESC LIMIT ?",
                (json.dumps(KINDS), MOST_READ),
            )
            for name, when, kind, payload in rows:
                if name not in left or not (excerpt := _excerpt(payload, wanted)):
                    continue
                found.append(Found(name, when, excerpt, kind in ("asked", "steered")))
                left.remove(name)
                if not left or len(found) >= most:
                    break
    except (sqlite3.Error, ValueError) as problem:
        raise StoreError(f"The log cannot be searched ({problem}).") from problem
    return found


def _excerpt(payload: str, wanted: Sequence[str]) -> str:
    told = json.loads(payload)
    text = " ".join(f"{told.get('asked') or ''} {told.get('text') or ''}".split())
    plain = text.casefold()
    if not all(word in plain for word in wanted):
        return ""
    at = plain.find(wanted[0])
    start, end = max(0, at - AROUND_CHARS), at + len(wanted[0]) + AROUND_CHARS
    before, behind = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{text[start:end].strip()}{behind}"
