"""Two names that are exchanged all the time, as a program that code left running may do."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SWAPPING = """
import ctypes, os, sys
libc, one, other = ctypes.CDLL(None), os.fsencode(sys.argv[1]), os.fsencode(sys.argv[2])
print('begun', flush=True)
while os.getppid() == int(sys.argv[3]):
    for _ in range(1_000):
        libc.renameat2(-100, one, -100, other, 2)
"""


@contextlib.contextmanager
def swapping(one: Path, other: Path) -> Iterator[None]:
    """Code that was left running exchanges two names for as long as it may."""
    command = [sys.executable, "-c", SWAPPING, str(one), str(other), str(os.getpid())]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        try:
            yield
        finally:
            process.kill()
