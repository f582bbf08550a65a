"""The append-only log on SQLite: one file, one writer, typed events in and out.

All work on the database happens in one thread of the log's own, in the order in which it was asked
for, so the event loop never waits for a disk and there is never more than one writer. `append`
returns when the event is safe: an intention that was appended is known after a crash. Events that
wait while the disk is busy are made safe together, so that many who talk at once wait for one
flush and not for one each.
"""

import asyncio
import json
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Self, TypeVar, cast

from sayso.server.store.access import MOST_KEPT
from sayso.server.store.codec import decode, encode, kind_of
from sayso.server.store.decisions import ConversationPinned, WorkspaceChosen
from sayso.server.store.error_words import explained
from sayso.server.store.errors import StoreClosed
from sayso.server.store.opening import open_locked
from sayso.server.store.records import (
    Asked,
    Conversation,
    ConversationBegan,
    ConversationNamed,
    Event,
    Record,
    Source,
)
from sayso.server.store.schema import (
    CONVERSATIONS,
    EVENT_REMAINS,
    FORGET_ACCESS,
    FORGET_CONVERSATION,
    OLD_ACCESS,
)

_TITLE_CHARS: Final = 80
"""One line of a list of conversations."""

Answer = TypeVar("Answer")


@dataclass(slots=True, eq=False)
class _Waiting:
    """An event that is to be kept."""

    event: Event
    id: int = 0
    """Zero until it is safe."""


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
        self._waiting: deque[_Waiting] = deque()
        """As many as turns are being talked: who notes something waits until it is safe."""
        self.trouble = ""
        """Why the last event could not be kept; empty if it could."""

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open the log, make it if there is none, bring it forward if it is old.

        Raises StoreError if it cannot be written, is no log, is a newer Sayso's, or is in use.
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sayso-log")
        opening = explained(path, lambda: open_locked(path))
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
        waiting = _Waiting(event)
        self._waiting.append(waiting)
        keeping = self._ask(lambda: self._keep(waiting))
        keeping.add_done_callback(self._note_trouble)
        return await asyncio.shield(keeping)

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
        await asyncio.shield(self._ask(lambda: self._erase(FORGET_CONVERSATION, conversation)))

    async def forget_access(self, *, before: float = 0.0, newest: int = MOST_KEPT) -> None:
        """Take out of it who came and went before then (Unix seconds), and all but the newest of
        these records. Raises StoreError."""
        await asyncio.shield(self._ask(lambda: self._erase_access(before, newest)))

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
        return loop.run_in_executor(self._thread, explained(self.path, work))

    def _note_trouble(self, kept: asyncio.Future[int]) -> None:
        problem = None if kept.cancelled() else kept.exception()
        self.trouble = str(problem or "")

    def _keep(self, wanted: _Waiting) -> int:
        """Make an event safe, and with it all that wait by now."""
        if wanted.id:
            return wanted.id  # together with an earlier one
        together = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            self._write(together)
        except BaseException:
            # Each is asked for by itself, and fails by itself.
            together.remove(wanted)
            self._waiting.extendleft(reversed(together))
            if not together:
                raise
            self._write([wanted])
        return wanted.id

    def _write(self, together: Sequence[_Waiting]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            ids = [self._insert(waiting.event) for waiting in together]
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        for waiting, number in zip(together, ids, strict=True):
            waiting.id = number

    def _insert(self, event: Event) -> int:
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

    def _erase(self, statement: str, *values: object) -> None:
        self._connection.execute("PRAGMA secure_delete = ON")
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.execute("DROP TRIGGER event_remains")
            self._connection.execute(statement, values)
            self._connection.execute(EVENT_REMAINS)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        # What was written lately also stands in the journal beside the file.
        self._connection.execute("PRAGMA wal_checkpoint (TRUNCATE)")

    def _erase_access(self, before: float, newest: int) -> None:
        if self._connection.execute(OLD_ACCESS, (before, newest)).fetchone():
            self._erase(FORGET_ACCESS, before, newest)

    def _list(self) -> list[Conversation]:
        rows = self._connection.execute(CONVERSATIONS)
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
    pinned: str | None,
) -> Conversation:
    first = decode("asked", asked) if asked else None
    title = first.text[:_TITLE_CHARS] if isinstance(first, Asked) else ""
    record = decode("conversation.began", setup) if setup else None
    made = record if isinstance(record, ConversationBegan) else ConversationBegan()
    later = decode("conversation.named", named) if named else None
    called = later.name if isinstance(later, ConversationNamed) else made.name
    place = decode("workspace.chosen", chosen) if chosen else None
    if isinstance(place, WorkspaceChosen):
        workspace, seen = place.path, place.seen
    else:
        workspace, seen = made.workspace, made.seen
    pin = decode("conversation.pinned", pinned) if pinned else None
    own = (made.owner, workspace, seen, made.device)
    is_pinned = isinstance(pin, ConversationPinned) and pin.pinned
    return Conversation(name, began, last, count, title, called, *own, pinned=is_pinned)
