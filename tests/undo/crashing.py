"""A program that keeps checkpoints and is killed, or fails, at its Nth write; for test_crashes.py.

    python crashing.py FOLDER kill|fail FIRST STRIDE

For each point it forks a child that works until there. Then another one looks at what is left: the
archive must be whole, and all that runs did must be undone to the last byte. A point is a statement
to the database, or something that changes the file system. Ends when a child gets through.
"""

import errno
import os
import shutil
import signal
import sqlite3
import sys
import traceback
from pathlib import Path
from typing import Any

from sayso.server.undo.archive import Archive
from sayso.server.undo.file_contents import name_of
from sayso.server.undo.roots import Root
from sayso.server.undo.store import Room, UndoStore
from tests.undo.place import Picture, picture

_CHANGING = (
    *("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod"),
    *("os.chown", "os.utime", "os.truncate"),
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
GOT_THROUGH, FAILED, BROKEN = 0, 3, 70

_connect = sqlite3.connect


def full() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


class Point:
    """Counts, and strikes once."""

    def __init__(self, number: int, way: str) -> None:
        self._left = number
        self._way = way
        self.armed = False
        self.struck = False

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        flags = arguments[2] if event == "open" else 0
        if event in _CHANGING or (isinstance(flags, int) and flags & _WRITING):
            self._pass()

    def connect(self, *arguments: Any, **more: Any) -> sqlite3.Connection:  # noqa: ANN401
        connection: sqlite3.Connection = _connect(*arguments, **more)
        connection.set_trace_callback(self._statement)
        return connection

    def _statement(self, _: str) -> None:
        if self._way == "kill":
            self._pass()

    def _pass(self) -> None:
        if not self.armed:
            return
        self._left -= 1
        if self._left == 0:
            if self._way == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            self.struck = True
            raise full()


def keeper(folder: Path) -> tuple[UndoStore, Archive]:
    archive = Archive.open(folder / "state" / "archive.sqlite")
    return UndoStore(archive, folder / "workspace", Room(), frozenset()), archive


def furnish(folder: Path) -> None:
    workspace = folder / "workspace"
    (workspace / "deep/er").mkdir(parents=True)
    (workspace / "one").write_text("one")
    (workspace / "deep/two").write_text("two")
    (workspace / "deep/er/three").write_text("three")
    (workspace / "link").symlink_to("one")
    (workspace / "large").write_bytes(bytes(range(256)) * 12_000)


def work(folder: Path, point: Point) -> None:
    """What a server does in an afternoon."""
    workspace = folder / "workspace"
    roots = [Root(workspace)]
    point.armed = True
    keep, archive = keeper(folder)
    keep.open(roots)
    keep.before("r1", roots)
    point.armed = False
    shutil.rmtree(workspace / "deep")
    (workspace / "one").write_text("changed")
    (workspace / "large").write_bytes(b"small")
    (workspace / "new").mkdir()
    (workspace / "new/file").write_text("new")
    point.armed = True
    keep.after("r1", roots)
    keep.before("r2", roots)
    point.armed = False
    (workspace / "link").unlink()
    (workspace / "link").write_text("no link")
    (workspace / "new/file").unlink()
    point.armed = True
    keep.after("r2", roots)
    for _ in range(2):
        keep.undo([["r2"], ["r1"]])
    keep.redo()
    archive.close()
    point.armed = False


def check(folder: Path, before: Picture) -> None:
    """Everything is there, and everything can be undone."""
    keep, archive = keeper(folder)
    connection = archive._connection
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for (name,) in connection.execute(
        "SELECT content FROM entry WHERE content IS NOT NULL"
        " UNION SELECT before_content FROM change WHERE before_content IS NOT NULL"
        " UNION SELECT after_content FROM change WHERE after_content IS NOT NULL"
    ).fetchall():
        (size,) = connection.execute("SELECT size FROM content WHERE name = ?", (name,)).fetchone()
        assert name_of(size, archive.content(name)) == name
    keep.open([Root(folder / "workspace")])
    keep.redo()
    while keep.undo([["r2"], ["r1"]]).outcome == "done":
        pass
    now = picture(folder / "workspace")
    assert now == before, sorted(str(p) for p in now | before if now.get(p) != before.get(p))
    archive.close()


def forked(work_of_child: "Work") -> int:
    """The status of a child that did it."""
    child = os.fork()
    if child == 0:
        code = BROKEN
        try:
            work_of_child()
            code = GOT_THROUGH
        except OSError as error:
            code = FAILED if error.errno == errno.ENOSPC else BROKEN
        finally:
            if code == BROKEN:
                traceback.print_exc()
            os._exit(code)
    return os.waitpid(child, 0)[1]


class Work:
    """Something for a child to do."""

    def __init__(self, folder: Path, number: int, way: str) -> None:
        self._folder = folder
        self._point = Point(number, way)

    def __call__(self) -> None:
        sys.addaudithook(self._point.hook)
        sqlite3.connect = self._point.connect  # type: ignore[assignment]
        work(self._folder, self._point)
        if self._point.struck:
            raise full()  # it coped


class Check(Work):
    def __init__(self, folder: Path, before: Picture) -> None:
        self._folder = folder
        self._before = before

    def __call__(self) -> None:
        check(self._folder, self._before)


def main() -> None:
    base, way, number, stride = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    struck = 0
    while True:
        folder = base / str(number)
        furnish(folder)
        before = picture(folder / "workspace")
        status = forked(Work(folder, number, way))
        if forked(Check(folder, before)) != 0:
            sys.exit(f"after the {way} at point {number}, not everything was as it should be")
        shutil.rmtree(folder)
        if os.waitstatus_to_exitcode(status) == GOT_THROUGH:
            break
        if os.waitstatus_to_exitcode(status) not in (-signal.SIGKILL, FAILED):
            sys.exit(f"the work broke at point {number}")
        struck += 1
        number += stride
    sys.stdout.write(f"{struck} points\n")


if __name__ == "__main__":
    main()
