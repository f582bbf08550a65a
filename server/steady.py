"""Nobody waits for what the interpreter does on the side: collecting garbage, and importing.

What a server loads at its start (litellm alone makes 300,000 objects) stays until its end. Looked
through again and again for garbage, it would halt everybody for a fifth of a second each time.
"""

import asyncio
import gc
import logging
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def keep_for_good() -> None:
    """What is in memory now is no garbage; what comes later is looked through as always."""
    gc.freeze()


async def in_background(work: Callable[[], Result], name: str) -> Result:
    """Do something in a thread whose end nothing waits for. Raises what the work raises.

    An import cannot be stopped, and a large one takes half a minute on a slow machine.
    """
    future: Future[Result] = Future()

    def run() -> None:
        future.set_running_or_notify_cancel()
        try:
            future.set_result(work())
        except BaseException as problem:  # noqa: BLE001 (it is raised where it is waited for)
            future.set_exception(problem)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await asyncio.wrap_future(future)


def leave(status: int) -> int:
    """The last thing that a program does: end at once if something still goes on in background.

    The interpreter's own way out would meet that thread in the middle of native code.
    """
    if not any(thread.daemon for thread in threading.enumerate()):
        return status
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


async def end(task: asyncio.Task[None]) -> None:
    """Cancel a task and see it to its end."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
