"""Code that swaps what it left for another kind of thing, while Sayso looks at it."""

import ctypes
import fcntl
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from sayso.server.runtimes.protection.paths_beneath import OpenedFolders
from sayso.server.undo import partial_files

pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "renameat2"), reason="names cannot be swapped"
)

TRIES = 8_000
STUCK_S = 60.0


SWAP = """
import ctypes, sys
libc = ctypes.CDLL(None)
one, other = (name.encode() for name in sys.argv[1:])
print("begun", flush=True)
while True:
    libc.renameat2(-100, one, -100, other, 2)  # RENAME_EXCHANGE
"""


@contextmanager
def swapping(one: Path, other: Path) -> Iterator[None]:
    """Exchange two names without a pause."""
    argv = [sys.executable, "-c", SWAP, str(one), str(other)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout
        swapper.stdout.readline()
        try:
            yield
        finally:
            swapper.kill()


def test_a_pipe_in_the_place_of_an_upload_holds_nobody_up(tmp_path: Path) -> None:
    draft, pipe, kept = (tmp_path / name for name in (f"{partial_files.DRAFT}1", "pipe", "kept"))
    draft.touch()
    kept.hardlink_to(draft)
    os.mkfifo(pipe)
    root = os.open(tmp_path, os.O_RDONLY)

    def remove() -> None:
        for _ in range(TRIES):
            partial_files.remove(root, [draft.name])
            for path in (draft, pipe):  # one of them is gone now
                with suppress(FileExistsError):
                    os.mkfifo(path) if kept.stat().st_nlink > 1 else path.hardlink_to(kept)

    with draft.open() as upload:
        fcntl.flock(upload, fcntl.LOCK_EX)
        removing = threading.Thread(target=remove, daemon=True)
        with swapping(draft, pipe):
            removing.start()
            removing.join(STUCK_S)
        stuck = removing.is_alive()
        for path in (draft, pipe):
            with suppress(OSError):
                os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        removing.join(STUCK_S)
    os.close(root)
    assert not stuck


def test_a_file_in_the_place_of_a_closed_folder_keeps_its_mode(tmp_path: Path) -> None:
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir(0o055)
    file.touch(0o600)
    root, kept = os.open(tmp_path, os.O_RDONLY), os.open(file, os.O_RDONLY)
    held = os.open(folder, os.O_PATH)
    try:
        with swapping(folder, file):
            for _ in range(TRIES):
                doors = OpenedFolders(root)
                with suppress(OSError):
                    doors.open("folder", 0o500)
                    doors.close()
                os.chmod(f"/proc/self/fd/{held}", 0o055)  # noqa: PTH101 - by its handle
                assert stat.S_IMODE(os.fstat(kept).st_mode) == 0o600
    finally:
        for descriptor in (root, kept, held):
            os.close(descriptor)
