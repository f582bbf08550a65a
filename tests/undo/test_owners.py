"""A root server that takes code's changes back gives nobody a file that it did not make itself."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.undo.place import place

CODES = 65_530

PUTTING = """
import os, sys
os.chdir(sys.argv[1])
print('begun', flush=True)
number = 0
while os.getppid() == int(sys.argv[2]):
    for name in os.listdir():
        if name.startswith('.sayso-draft-'):
            try:
                os.rename(f'other{number % 100}', name)
                number += 1
            except OSError:
                pass
"""


@contextlib.contextmanager
def putting(folder: Path) -> Iterator[None]:
    """Code that was left running puts other files in the place of what is being written."""
    command = [sys.executable, "-c", PUTTING, str(folder), str(os.getpid())]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        try:
            yield
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="not a server of root's")
async def test_no_file_outside_is_given_away_while_changes_are_taken_back(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("root's")
    async with place(tmp_path) as here:
        files = [here.workspace / f"file{number}" for number in range(40)]
        for file in files:
            file.write_text("before")
            os.chown(file, CODES, CODES)

        def change(_: Path) -> None:
            for file in files:
                file.unlink()

        await here.run(change)
        for number in range(100):
            (here.workspace / f"other{number}").hardlink_to(outside)
        with putting(here.workspace):
            await here.undo()
    status = outside.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (0, 0, 0o644)
