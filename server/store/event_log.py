"""The append-only log on SQLite: one file, one writer, typed events in and out.

All work on the database happens in one thread of the log's own, in the order in which it was asked
for, so the event loop never waits for a disk and there is never more than one writer. `append`
returns when the event is safe: an intention that was appended is known after a crash.
"""

import asyncio
import errno
import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Final, Self, TypeVar, cast

from sayso.server.store.codec import decode, encode, kind_of
from sayso.server.store.decisions import WorkspaceChosen
from sayso.server.store.errors import StoreClosed, StoreError, StoreFull
from sayso.server.store.records import (
    Asked,
    Conversation,
    ConversationBegan,
    ConversationNamed,
    Event,
    Record,
    Source,
)
from sayso.server.store.schema import APPLICATION_ID, EVENT_REMAINS, MIGRATIONS, VERSION

_BUSY_S: Final = 5.0
"""How long a write waits for a reader's lock: longer than a backup tool holds one."""

_TITLE_CHARS: Final = 80
"""One line of a list of conversations."""

_UNWRITABLE: Final = (
    "SQLITE_READONLY",
    "SQLITE_CANTOPEN",
    "SQLITE_PERM",
    "EACCES",
    "EPERM",
    "EROFS",
)
_FULL: Final = ("SQLITE_FULL", "ENOSPC", "EDQUOT")
_DAMAGED: Final = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
_LOCKED: Final = ("SQLITE_BUSY", "SQLITE_LOCKED")

Answer = TypeVar("Answer")


class EventLog:
    """The log. Made by `open`; used from the event loop; closed once."""

    def __init__(
        self, path: Path, lock: IO[str], thread: ThreadPoolExecutor, connection: sqlite3.Connection
    ) -> None:
        self.path = path
        self._lock = lock
        self._thread = thread
        self._connection = connection
        self._closed = False

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open the log, make it if there is none, bring it forward if it is old.

        Raises StoreError if it cannot be written, is no log, is a newer Sayso's, or is in use.
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sayso-log")
        opening = _translated(path, lambda: _open_locked(path))
        try:
            lock, connection = await asyncio.get_running_loop().run_in_executor(thread, opening)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(path, lock, thread, connection)

    async def append(self, event: Event) -> int:
        """Keep an event for good and return its id.

        Once asked for it happens, even if the one who asked is cancelled meanwhile. Raises
        StoreError if it could not be kept; the log is then as it was before.
        """
        return await asyncio.shield(self._ask(lambda: self._write(event)))

    async def conversation(self, conversation: str) -> list[Event]:
        """Everything that happened in one conversation, in order."""
        return await self._ask(lambda: self._read(conversation))

    async def of_types(self, *types: type[Record], since: float) -> list[Event]:
        """The events of all conversations with records of these types, in order.

        `since`: Unix seconds; what was kept before is left out.
        """
        return await self._ask(lambda: self._read_types(types, since))

    async def forget(self, conversation: str) -> None:
        """Take a conversation out of the log, and its traces out of the file.

        The one exception to "append-only", and the person's alone to ask for. Raises StoreError;
        the log is then as it was before.
        """
        await asyncio.shield(self._ask(lambda: self._erase(conversation)))

    async def conversations(self) -> list[Conversation]:
        """All conversations, the latest first."""
        return await self._ask(self._list)

    async def close(self) -> None:
        """Finish what was asked for and let go of the file."""
        if self._closed:
            return
        closing = self._ask(self._end)
        self._closed = True
        try:
            await asyncio.shield(closing)
        finally:
            self._thread.shutdown(wait=False)

    def _ask(self, work: Callable[[], Answer]) -> asyncio.Future[Answer]:
        if self._closed:
            raise StoreClosed("The log is closed; start Sayso again.")
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(self._thread, _translated(self.path, work))

    def _write(self, event: Event) -> int:
        kind, payload = encode(event.record)
        when = event.time or time.time()
        cursor = self._connection.execute(
            "INSERT INTO event (conversation, parent, source, time, kind, payload)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (event.conversation, event.parent, event.source, when, kind, payload),
        )
        return cast(int, cursor.lastrowid)

    def _read(self, conversation: str) -> list[Event]:
        rows = self._connection.execute(
            "SELECT id, conversation, parent, source, time, kind, payload FROM event"
            " WHERE conversation = ? ORDER BY id",
            (conversation,),
        )
        return [_event(*row) for row in rows]

    def _read_types(self, types: tuple[type[Record], ...], since: float) -> list[Event]:
        rows = self._connection.execute(
            "SELECT id, conversation, parent, source, time, kind, payload FROM event"
            " WHERE kind IN (SELECT value FROM json_each (?)) AND time >= ? ORDER BY id",
            (json.dumps([kind_of(one) for one in types]), since),
        )
        return [_event(*row) for row in rows]

    def _erase(self, conversation: str) -> None:
        self._connection.execute("PRAGMA secure_delete = ON")
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.execute("DROP TRIGGER event_remains")
            self._connection.execute("DELETE FROM event WHERE conversation = ?", (conversation,))
            self._connection.execute(EVENT_REMAINS)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        # What was written lately also stands in the journal beside the file.
        self._connection.execute("PRAGMA wal_checkpoint (TRUNCATE)")

    def _list(self) -> list[Conversation]:
        rows = self._connection.execute(
            """
            SELECT conversation, MIN (time), MAX (time), COUNT (*),
                (SELECT first.payload FROM event AS first
                 WHERE first.conversation = event.conversation AND first.kind = 'asked'
                 ORDER BY first.id LIMIT 1),
                (SELECT setup.payload FROM event AS setup
                 WHERE setup.conversation = event.conversation
                   AND setup.kind = 'conversation.began' ORDER BY setup.id LIMIT 1),
                (SELECT named.payload FROM event AS named
                 WHERE named.conversation = event.conversation
                   AND named.kind = 'conversation.named' ORDER BY named.id DESC LIMIT 1),
                (SELECT chosen.payload FROM event AS chosen
                 WHERE chosen.conversation = event.conversation
                   AND chosen.kind = 'workspace.chosen' ORDER BY chosen.id DESC LIMIT 1)
            FROM event GROUP BY conversation ORDER BY MAX (id) DESC
            """
        )
        return [_summary(*row) for row in rows]

    def _end(self) -> None:
        self._connection.close()
        self._lock.close()


def _event(
    number: int,
    conversation: str,
    parent: int | None,
    source: Source,
    when: float,
    kind: str,
    payload: str,
) -> Event:
    return Event(conversation, source, decode(kind, payload), parent, when, number)


def _summary(
    name: str,
    began: float,
    last: float,
    count: int,
    asked: str | None,
    setup: str | None,
    named: str | None,
    chosen: str | None,
) -> Conversation:
    first = decode("asked", asked) if asked else None
    title = first.text[:_TITLE_CHARS] if isinstance(first, Asked) else ""
    record = decode("conversation.began", setup) if setup else None
    made = record if isinstance(record, ConversationBegan) else ConversationBegan()
    later = decode("conversation.named", named) if named else None
    called = later.name if isinstance(later, ConversationNamed) else made.name
    place = decode("workspace.chosen", chosen) if chosen else None
    workspace = place.path if isinstance(place, WorkspaceChosen) else made.workspace
    return Conversation(name, began, last, count, title, called, made.owner, workspace)


def _open_locked(path: Path) -> tuple[IO[str], sqlite3.Connection]:
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = _lock(path)
    try:
        # What is said at home is the household's: the log, and SQLite's files beside it, which
        # take over its mode, are for its owner's eyes.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return lock, _connect(path)
    except BaseException:
        lock.close()
        raise


def _lock(path: Path) -> IO[str]:
    """One writer: a second server would take the first one's running code for lost."""
    lock = path.with_name(path.name + ".lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise StoreError(
            f"Another Sayso server is using {path}; stop it, or give this one another home."
        ) from None
    return lock


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
    )
    try:
        version = _examine(path, connection)
        connection.execute("PRAGMA journal_mode = WAL")
        # FULL: in WAL mode anything less may forget the last commits in a power cut, and among
        # them may be the intention to run code that has run since. It costs one flush per event,
        # of which a turn has a few, off the event loop.
        connection.execute("PRAGMA synchronous = FULL")
        for number in range(version, VERSION):
            _migrate(connection, number)
    except BaseException:
        connection.close()
        raise
    return connection


def _examine(path: Path, connection: sqlite3.Connection) -> int:
    """The log's version; zero for a new file."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT COUNT (*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID and tables:
        raise StoreError(f"{path} is another program's database; move it away and start again.")
    if version > VERSION:
        raise StoreError(
            f"{path} was written by a newer Sayso; update Sayso, or move the file away."
        )
    return cast(int, version)


def _migrate(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in MIGRATIONS[number]:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _translated(path: Path, work: Callable[[], Answer]) -> Callable[[], Answer]:
    """The same work, with the database's and the system's errors in words for the person."""

    def translated() -> Answer:
        try:
            return work()
        except (sqlite3.Error, OSError) as problem:
            raise _explain(path, problem) from problem

    return translated


def _explain(path: Path, problem: sqlite3.Error | OSError) -> StoreError:
    if isinstance(problem, OSError):
        name = errno.errorcode.get(problem.errno or 0, "")
    else:
        name = getattr(problem, "sqlite_errorname", "")
    if name.startswith(_FULL):
        return StoreFull(f"The disk with {path.parent} is full; free some space and ask again.")
    if name.startswith(_UNWRITABLE):
        return StoreError(f"Sayso may not write {path}; make it writable or choose another home.")
    if name.startswith(_DAMAGED):
        return StoreError(f"{path} is damaged or no Sayso log; move it away and start again.")
    if name.startswith(_LOCKED):
        return StoreError(f"Another program keeps {path} locked; close it and ask again.")
    return StoreError(f"The log {path} could not be used ({problem}); check the disk, ask again.")
