"""Reads the log while a server may be writing it, for commands that only read."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from sayso.server.store.access import NO_CONVERSATION
from sayso.server.store.codec import decode
from sayso.server.store.errors import StoreError
from sayso.server.store.records import ConversationBegan, ConversationNamed, Event
from sayso.server.store.schema import APPLICATION_ID, VERSION

_BUSY_S: Final = 5.0


def read_events(path: Path, conversation: str = "") -> list[Event]:
    """All events in order; of one conversation, by its id or its name, if it is given.

    Raises StoreError, also if there is no such conversation.
    """
    try:
        with opened(path) as connection:
            rows = connection.execute(
                "SELECT id, conversation, parent, source, time, kind, payload FROM event"
                " ORDER BY id"
            )
            events = [
                Event(name, source, decode(kind, payload), parent, when, number)
                for number, name, parent, source, when, kind, payload in rows
            ]
    except sqlite3.Error as problem:
        raise StoreError(f"The log {path} cannot be read ({problem}).") from problem
    if not conversation:
        return events
    wanted = _id_of(conversation, events)
    return [event for event in events if event.conversation == wanted]


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise StoreError(f"There is no log at {path} yet; it begins with the first conversation.")
    address = f"{path.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_S)) as connection:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise StoreError(f"{path} is no log of Sayso's.")
        if version > VERSION:
            raise StoreError(f"{path} was written by a newer Sayso; update Sayso.")
        yield connection


def _id_of(wanted: str, events: list[Event]) -> str:
    names: dict[str, str] = {}
    for event in events:
        if event.conversation == NO_CONVERSATION:
            continue
        names.setdefault(event.conversation, event.conversation)
        if isinstance(event.record, (ConversationBegan, ConversationNamed)) and event.record.name:
            names[event.conversation] = event.record.name
    if wanted in names:
        return wanted
    plain = wanted.strip().casefold()
    for conversation, name in names.items():
        if name.casefold() == plain:
            return conversation
    known = ", ".join(sorted(names.values())) or "none"
    raise StoreError(f"There is no conversation {wanted}; these are in the log: {known}.")
