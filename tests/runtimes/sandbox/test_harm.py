"""Harm that code could do without leaving its folders: to the disk, to memory."""

from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.attempts import all_of, assert_nothing_done


@pytest.mark.thorough
async def test_neither_a_huge_file_nor_a_huge_allocation_hurts_the_host(
    code_runner: CodeRunner, workspace: Path
) -> None:
    code = """
def huge():
    with open('huge', 'wb') as file:
        file.truncate(100 * 1024**3)
def filled():
    with open('filled', 'wb') as file:
        os.posix_fallocate(file.fileno(), 0, 100 * 1024**3)
def allocation():
    return len(bytearray(10 * 1024**3))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
attempt('a file of 100 GB', huge)
attempt('100 GB of disk', filled)
try:
    attempt('10 GB of memory', allocation)
except MemoryError:
    pass
"""
    await assert_nothing_done(code_runner, code)
    assert all(size < 5 * 1024**3 for _, _, size, _ in all_of(workspace).values())
