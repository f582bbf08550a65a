"""The same tests as an ordinary user, where they run as root: root may write into what is closed,
and an ordinary user must be able to undo even what closed folders to themselves.
"""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from sayso.server.runtimes.base_python import base_prefix
from tests.runtimes.sandbox.test_as_another_user import ROOT, as_nobody


@pytest.mark.thorough
@pytest.mark.timeout(180)
@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="not root: so it is already"
)
@pytest.mark.parametrize(
    "name",
    [
        "test_undo.py",
        "test_swapped.py",
        "hooks/test_guard.py",
        "hooks/test_recovery.py",
        "hooks/test_set_ids.py",
    ],
)
async def test_all_holds_for_an_ordinary_user_too(name: str) -> None:
    test = str(Path(__file__).parent / name)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    process = await asyncio.create_subprocess_exec(
        *as_nobody(command, [ROOT, Path(sys.executable), base_prefix()]),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={
            **os.environ,
            "HOME": "/nonexistent",
            "LOGNAME": "nobody",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"\n")  # and it stays open: nobody begins for a server that is gone
    said = await process.stdout.read()
    assert await process.wait() == 0, said.decode()
    assert b"passed" in said
