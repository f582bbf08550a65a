"""Opens the log's file: its owner's alone, one writer at a time, brought forward if it is old."""

import fcntl
import os
import sqlite3
from pathlib import Path
from typing import IO, Final, cast

from sayso.server.store.errors import StoreError
from sayso.server.store.schema import APPLICATION_ID, MIGRATIONS, VERSION

_BUSY_S: Final = 5.0
"""How long a write waits for a reader's lock: longer than a backup tool holds one."""

_CACHE_KIB: Final = 512
"""Of the log that SQLite keeps in memory, which by itself would come to 2 MB, little by little.
What is read often the kernel keeps, too."""


def open_locked(path: Path) -> tuple[IO[str], sqlite3.Connection]:
    """The lock, which is held until it is closed, and the database."""
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
        # them may be the intention to run code that has run since. It costs one flush per event, a
        # few in a turn, off the event loop.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
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
