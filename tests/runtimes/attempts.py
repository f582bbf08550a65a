"""Code that tries what it should not be able to do, and what it says if it can."""

from pathlib import Path

from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.sandboxes import told

TRY = """
import ctypes, mmap, os, pathlib, shutil, signal, socket, stat, struct, subprocess, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def system(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), 'refused')
def attempt(name, action):
    try:
        done = action()
    except (OSError, ValueError, subprocess.SubprocessError) as refusal:
        return
    if done is not False:
        print('DONE', name, repr(done)[:200])
"""


async def assert_nothing_done(code_runner: CodeRunner, code: str) -> None:
    run = await told(code_runner, TRY + code)
    assert run.ending.status == "ok", (run.ending, run.error)
    assert run.stdout == ""


def all_of(folder: Path) -> dict[Path, tuple[int, int, int, int]]:
    """What can be seen of each file in a folder."""
    found = {path: path.lstat() for path in folder.rglob("*")}
    return {
        path: (status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns)
        for path, status in found.items()
    }
