"""Nobody waits for what goes on in the background, not even the end of the program; and memory that
threads are done with is there for others.
"""

import gc
import platform
import subprocess
import sys

import pytest

from sayso.server.process import CUT_SHORT, HEAPS, in_background, loading
from tests.machine import lacking

LEAVES = """
import asyncio, sys, time
from sayso.server.process import in_background, leave

async def main():
    task = asyncio.create_task(in_background(lambda: time.sleep(600), "a long import"))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    print("said before the end")
    return 7

sys.exit(leave(asyncio.run(main())))
"""

HEAPS_OF_THREADS = """
import ctypes, os, tempfile, threading
from sayso.server.process import share_heaps

share_heaps()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.fdopen.restype = ctypes.c_void_p
together = threading.Barrier(8)

def take():
    together.wait()
    libc.malloc(1000)
    together.wait()

threads = [threading.Thread(target=take) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with tempfile.NamedTemporaryFile() as file:
    stream = ctypes.c_void_p(libc.fdopen(os.dup(file.fileno()), b"w"))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    file.seek(0)
    print(file.read().count(b"<heap "))
"""


def test_many_threads_share_few_heaps() -> None:
    if platform.libc_ver()[0] != "glibc":
        lacking("other C libraries have one heap")
    done = subprocess.run(
        [sys.executable, "-c", HEAPS_OF_THREADS],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert int(done.stdout) == HEAPS


def test_nothing_is_looked_through_for_garbage_while_a_library_is_loaded() -> None:
    with loading():
        assert not gc.isenabled()
    assert gc.isenabled()


NEVER_ENDS = """
import asyncio, time
from sayso.server.process import Shutdown

async def main():
    asyncio.get_running_loop().run_in_executor(None, time.sleep, 600)
    ending = Shutdown(within_s=0.2)
    ending.begin()
    ending.begin()

asyncio.run(main())
"""


def test_a_program_that_waits_for_something_ends_all_the_same_and_says_for_what() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", NEVER_ENDS], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == CUT_SHORT
    assert "cut short after 0.2 s; still there: " in ended.stderr
    assert "asyncio_0" in ended.stderr


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
