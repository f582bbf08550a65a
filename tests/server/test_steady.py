"""Nobody waits for what goes on in the background, not even the end of the program."""

import subprocess
import sys

import pytest

from sayso.server.steady import in_background

LEAVES = """
import asyncio, sys, time
from sayso.server.steady import in_background, leave

async def main():
    task = asyncio.create_task(in_background(lambda: time.sleep(600), "a long import"))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    print("said before the end")
    return 7

sys.exit(leave(asyncio.run(main())))
"""


async def test_what_is_done_in_the_background_is_waited_for_like_anything() -> None:
    assert await in_background(lambda: 6 * 7, "a thought") == 42
    with pytest.raises(ZeroDivisionError):
        await in_background(lambda: 1 // 0, "a mistake")


def test_a_program_ends_while_its_background_still_works() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LEAVES], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout) == (7, "said before the end\n")
    assert ended.stderr == ""
