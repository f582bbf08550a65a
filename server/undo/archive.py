"""Stores file contents by hash, the latest state of folders, and what each run changed.

One SQLite file for a conversation. Every state is written in one transaction, so that a crash at
any moment leaves the state before or the state after. Contents are written ahead of the state that
needs them; those that no state needs are swept out when the archive is opened.
"""

import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Final, Literal, Self, cast

from sayso.server.undo import entries
from sayso.server.undo.file_contents import Name, Piece, name_of
from sayso.server.undo.tree import Change, Entry

VERSION: Final = 1

BATCH_BYTES: Final = 32 * 1024**2
"""Contents in one transaction: the write-ahead log does not grow far beyond it."""

_BUSY_S: Final = 5.0

_CACHE_KIB: Final = 128
"""Of each archive that SQLite keeps in memory: one is open for every open conversation, and is
looked into when code runs. By itself SQLite would take 2 MB for each, little by little."""

_DRAFT: Final = b""

Status = Literal["open", "done", "undone", "final"]
"""`open`: it runs, or Sayso ended while it ran. `final`: undone, and it cannot be redone any more,
because other code has run since."""

_TABLES: Final = """
CREATE TABLE content (name BLOB PRIMARY KEY, size INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE piece (content BLOB NOT NULL, place INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
CREATE INDEX piece_of_content ON piece (content, place);
CREATE TABLE root (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE) STRICT;
CREATE TABLE entry (
    root INTEGER NOT NULL, path BLOB NOT NULL, record TEXT NOT NULL, content BLOB,
    PRIMARY KEY (root, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, status TEXT NOT NULL,
    alive INTEGER NOT NULL, matters INTEGER NOT NULL, taken_back INTEGER NOT NULL
) STRICT;
CREATE TABLE change (
    run INTEGER NOT NULL, root INTEGER NOT NULL, path BLOB NOT NULL,
    before TEXT, before_content BLOB, after TEXT, after_content BLOB,
    PRIMARY KEY (run, root, path)
) STRICT, WITHOUT ROWID;
"""

_BY_PRODUCTS: Final = """
CREATE TABLE IF NOT EXISTS by_product (
    run INTEGER NOT NULL, root INTEGER NOT NULL, path BLOB NOT NULL, PRIMARY KEY (run, root, path)
) STRICT, WITHOUT ROWID;
"""
"""Which changes are by-products. Archives of before have none, and are the same otherwise."""

_SWEEP: Final = """
DELETE FROM content WHERE name NOT IN (
    SELECT content FROM entry WHERE content IS NOT NULL
    UNION SELECT before_content FROM change WHERE before_content IS NOT NULL
    UNION SELECT after_content FROM change WHERE after_content IS NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of code, as far as undoing is concerned."""

    name: str
    status: Status
    alive_ns: int
    """When it was last known to run, Unix time."""
    matters: bool
    """Whether it changed anything that a person would call a change, by-products aside."""
    taken_back: int
    """Runs that were undone together have the same number, later ones a higher one."""


class ArchiveInUse(Exception):
    """Another server has it open."""


class Archive:
    """Used by one thread."""

    def __init__(self, path: Path, lock: IO[str], connection: sqlite3.Connection) -> None:
        self.path = path
        self._lock = lock
        self._connection = connection
        self._batch = 0

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or make it. Raises ArchiveInUse, OSError and sqlite3.Error."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = path.with_suffix(".lock").open("w")
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ArchiveInUse from None
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            return cls(path, lock, _connect(path))
        except BaseException:
            lock.close()
            raise

    def close(self) -> None:
        self._connection.close()
        self._lock.close()

    @contextmanager
    def whole(self) -> Iterator[None]:
        """All that is written in here is kept together, or nothing of it."""
        self._begin()
        try:
            yield
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.execute("COMMIT")
        self._batch = 0

    def _begin(self) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    # --- contents ---

    def keep(self, size: int, content: Iterable[Piece]) -> bytes:
        """Keep a file's content; returns its name.

        To be called within `whole`, but kept for good at once: what was kept in vain is swept out.
        """
        content = iter(content)
        head = list(islice(content, 2))
        if len(head) < 2:  # noqa: PLR2004 (small: its name is known before it is written)
            known = name_of(size, head)
            if self._has(known):
                return known
        name = Name(size)
        self._connection.execute("SAVEPOINT content")
        # The name is known only at the end: until then the pieces belong to an impossible one.
        for piece in chain(head, content):
            name.take(piece)
            self._connection.execute("INSERT INTO piece VALUES (?, ?, ?)", (_DRAFT, *piece))
            self._batch += len(piece[1])
        if self._has(name.name):
            self._connection.execute("ROLLBACK TO content")
        else:
            self._connection.execute(
                "UPDATE piece SET content = ? WHERE content = ?", (name.name, _DRAFT)
            )
            self._connection.execute("INSERT INTO content VALUES (?, ?)", (name.name, size))
        self._connection.execute("RELEASE content")
        if self._batch >= BATCH_BYTES:
            self._connection.execute("COMMIT")
            self._batch = 0
            self._begin()
        return name.name

    def _has(self, name: bytes) -> bool:
        found = self._connection.execute("SELECT 1 FROM content WHERE name = ?", (name,))
        return found.fetchone() is not None

    def content(self, name: bytes) -> Iterator[Piece]:
        """The pieces of a kept content."""
        rows = self._connection.execute(
            "SELECT place, data FROM piece WHERE content = ? ORDER BY place", (name,)
        )
        yield from cast(Iterator[Piece], rows)

    # --- the latest state ---

    def root(self, path: bytes, before: bytes) -> int:
        """The number of a root; made if it is new. `before`: the name that it had in an archive
        which did not know which folder it was."""
        self._connection.execute(
            "UPDATE OR IGNORE root SET path = ? WHERE path = ?", (path, before)
        )
        self._connection.execute("INSERT OR IGNORE INTO root (path) VALUES (?)", (path,))
        found = self._connection.execute("SELECT id FROM root WHERE path = ?", (path,))
        return cast(int, found.fetchone()[0])

    def roots(self) -> dict[int, bytes]:
        return dict(self._connection.execute("SELECT id, path FROM root"))

    def entries(self, root: int) -> dict[str, Entry]:
        rows = self._connection.execute(
            "SELECT path, record, content FROM entry WHERE root = ?", (root,)
        )
        return {os.fsdecode(path): entries.read(record, name) for path, record, name in rows}

    def update(self, root: int, changes: Iterable[tuple[str, Entry | None]]) -> None:
        """These paths are now so."""
        gone, here = [], []
        for path, entry in changes:
            if entry is None:
                gone.append((root, os.fsencode(path)))
            else:
                record, name = entries.write(entry)
                here.append((root, os.fsencode(path), record, name))
        self._connection.executemany("DELETE FROM entry WHERE root = ? AND path = ?", gone)
        self._connection.executemany("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?)", here)

    # --- runs ---

    def runs(self) -> list[Run]:
        """All that are known, the oldest first."""
        rows = self._connection.execute(
            "SELECT name, status, alive, matters, taken_back FROM run ORDER BY id"
        )
        return [
            Run(name, status, alive, bool(m), number) for name, status, alive, m, number in rows
        ]

    def begin(self, run: str, now_ns: int) -> None:
        """It is about to run; what was undone before cannot be redone any more."""
        self._connection.execute("UPDATE run SET status = 'final' WHERE status = 'undone'")
        self._connection.execute(
            "INSERT INTO run (name, status, alive, matters, taken_back)"
            " VALUES (?, 'open', ?, 0, 0)",
            (run, now_ns),
        )

    def alive(self, run: str, now_ns: int) -> None:
        """It still runs."""
        self._connection.execute("UPDATE run SET alive = ? WHERE name = ?", (now_ns, run))

    def end(self, run: str, root: int, changes: Sequence[Change]) -> None:
        """It changed these paths in one of the roots."""
        (number,) = self._connection.execute("SELECT id FROM run WHERE name = ?", (run,)).fetchone()
        rows = [
            (number, root, os.fsencode(change.path), *_pair(change.before), *_pair(change.after))
            for change in changes
        ]
        self._connection.executemany("INSERT INTO change VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self._connection.executemany(
            "INSERT INTO by_product VALUES (?, ?, ?)",
            [(number, root, os.fsencode(c.path)) for c in changes if c.by_product],
        )
        self._connection.execute(
            "UPDATE run SET matters = matters OR ? WHERE id = ?",
            (any(change.told for change in changes), number),
        )

    def mark(self, runs: Iterable[str], status: Status, taken_back: int = 0) -> None:
        self._connection.executemany(
            "UPDATE run SET status = ?, taken_back = ? WHERE name = ?",
            [(status, taken_back, run) for run in runs],
        )

    def forget(self, run: str) -> None:
        """It never ran, or is too long ago to be undone."""
        for forgotten in (
            "DELETE FROM change WHERE run = (SELECT id FROM run WHERE name = ?)",
            "DELETE FROM by_product WHERE run = (SELECT id FROM run WHERE name = ?)",
        ):
            self._connection.execute(forgotten, (run,))
        self._connection.execute("DELETE FROM run WHERE name = ?", (run,))

    def changes(self, run: str) -> dict[int, list[Change]]:
        """What it changed, by root."""
        rows = self._connection.execute(
            "SELECT root, path, before, before_content, after, after_content,"
            " by_product.path IS NOT NULL"
            " FROM change LEFT JOIN by_product USING (run, root, path)"
            " WHERE run = (SELECT id FROM run WHERE name = ?) ORDER BY path",
            (run,),
        )
        found: dict[int, list[Change]] = {}
        for root, path, before, before_name, after, after_name, by_product in rows:
            old, new = _entry(before, before_name), _entry(after, after_name)
            change = Change(os.fsdecode(path), old, new, bool(by_product))
            found.setdefault(root, []).append(change)
        return found

    # --- room ---

    def used_bytes(self) -> int:
        """How much is kept; freed pages, which are used again, not counted."""
        (size,), (pages,), (free,) = (
            self._connection.execute(f"PRAGMA {name}").fetchone()
            for name in ("page_size", "page_count", "freelist_count")
        )
        return cast(int, size * (pages - free))

    def sweep(self) -> None:
        """Let go of contents that nothing needs, and give their room back to the disk."""
        with self.whole():
            self._connection.execute(_SWEEP)
            self._connection.execute(
                "DELETE FROM piece WHERE content NOT IN (SELECT name FROM content)"
            )
        self._connection.execute("PRAGMA incremental_vacuum").fetchall()


def _pair(entry: Entry | None) -> tuple[str | None, bytes | None]:
    return (None, None) if entry is None else entries.write(entry)


def _entry(record: str | None, name: bytes | None) -> Entry | None:
    return None if record is None else entries.read(record, name)


def _check(version: int) -> None:
    if version not in (0, VERSION):
        raise sqlite3.DatabaseError(f"its version is {version}, and this Sayso knows {VERSION}")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
    )
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        _check(version)
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        # A run starts when its checkpoint is on the disk: a power cut does not cost it.
        connection.execute("PRAGMA synchronous = FULL")
        if version == 0:
            connection.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        connection.executescript(_BY_PRODUCTS)
    except BaseException:
        connection.close()
        raise
    return connection
