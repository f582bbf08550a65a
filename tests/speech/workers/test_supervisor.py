"""Worker processes die, hang and talk nonsense; who asks is told, and they are started again."""

import asyncio
import errno
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sayso.server.speech.errors import ModelBroken, WorkerFailed
from sayso.server.speech.workers.supervisor import Supervisor, WorkerLost
from sayso.server.speech.workers.wire import Note
from tests import leaks

LONG = 20.0
"""Seconds that nothing here takes, unless it hangs."""

Start = Callable[[str], Awaitable[Supervisor]]


def odd(model: str) -> Supervisor:
    order = Note("load", {"model": model})
    return Supervisor("tests.speech.workers.odd_worker", order, name="odd worker", threads=1)


@pytest.fixture(autouse=True)
def _tests_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))


@pytest.fixture
async def worker() -> AsyncIterator[Supervisor]:
    supervisor = odd("good")
    await supervisor.start()
    yield supervisor
    await supervisor.close()


async def pid_of(worker: Supervisor) -> int:
    return (await worker.ask("pid", Note("pid"), limit=LONG)).whole("pid")


async def gone(pid: int) -> None:
    """Wait until there is no such process."""
    await asyncio.to_thread(_wait_until_gone, pid)


def _wait_until_gone(pid: int) -> None:
    until = time.monotonic() + LONG
    while _lives(pid):
        assert time.monotonic() < until, f"{pid} is still there"
        time.sleep(0.01)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        # An orphan may stay as a zombie where nobody collects it.
        return sys.platform != "linux" or ") Z " not in Path(f"/proc/{pid}/stat").read_text("utf-8")
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_it_answers(worker: Supervisor) -> None:
    answer = await worker.ask(
        "echo", Note("echo", {"text": "h\u00e9"}, b"abc" * 100_000), limit=LONG
    )
    assert answer.text("text") == "h\u00e9"
    assert answer.load == b"cba" * 100_000
    assert (worker.state, worker.trouble) == ("ready", "")


async def test_it_tells_what_it_loaded_and_how_long_it_took() -> None:
    supervisor = odd("good")
    ready = await supervisor.start()
    assert ready.what == "nothing"
    assert 0 < ready.seconds < LONG
    assert await supervisor.ready() == ready
    await supervisor.close()


@pytest.mark.parametrize("order", ["die", "babble", "defect"])
async def test_a_request_that_kills_it_is_lost_and_the_next_is_answered(
    worker: Supervisor, order: str
) -> None:
    before = await pid_of(worker)
    with pytest.raises(WorkerLost):
        await worker.ask(order, Note(order), limit=LONG)
    assert await pid_of(worker) != before
    assert worker.state == "ready"


async def test_killed_from_outside_it_comes_back(worker: Supervisor) -> None:
    busy = asyncio.create_task(worker.ask("busy", Note("busy"), limit=LONG))
    await asyncio.sleep(0)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerLost):
        await busy
    assert (worker.state, "started again" in worker.trouble) == ("restarting", True)
    assert (await worker.ask("echo", Note("echo", {"text": "again"}), limit=LONG)).text(
        "text"
    ) == "again"


async def test_what_hangs_is_ended_and_started_again(worker: Supervisor) -> None:
    before = await pid_of(worker)
    with pytest.raises(WorkerLost):
        await worker.ask("sleep", Note("sleep"), limit=0.1)
    assert await pid_of(worker) != before


async def test_what_is_cancelled_is_given_up_there_too(worker: Supervisor) -> None:
    busy = asyncio.create_task(worker.ask("busy", Note("busy"), limit=LONG))
    await asyncio.sleep(0.05)
    busy.cancel()
    await asyncio.wait([busy])
    assert (await worker.ask("echo", Note("echo", {"text": "next"}), limit=LONG)).text(
        "text"
    ) == "next"


async def test_a_model_that_cannot_be_used_is_told_as_the_worker_tells_it() -> None:
    supervisor = odd("broken")
    with pytest.raises(ModelBroken, match="Get another"):
        await supervisor.start()
    assert supervisor.state == "failed"
    assert "Get another" in supervisor.trouble
    with pytest.raises(ModelBroken):
        await supervisor.ask("echo", Note("echo", {"text": ""}), limit=LONG)
    await supervisor.close()


async def test_one_that_crashes_while_loading_is_tried_again_and_then_told() -> None:
    supervisor = odd("crashing")
    with pytest.raises(WorkerFailed, match="out of memory"):
        await supervisor.start()
    assert supervisor.state == "failed"
    await supervisor.close()


async def test_where_no_process_can_be_started_it_is_tried_again(
    worker: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, short_of_memory = asyncio.create_subprocess_exec, [True, True]

    async def start_if_there_is_memory(*given: Any, **named: Any) -> asyncio.subprocess.Process:  # noqa: ANN401
        if short_of_memory:
            short_of_memory.pop()
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        return await start(*given, **named)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_if_there_is_memory)
    before = await pid_of(worker)
    with pytest.raises(WorkerLost):
        await worker.ask("die", Note("die"), limit=LONG)
    async with asyncio.timeout(LONG):
        assert await pid_of(worker) != before
    assert (short_of_memory, worker.restarts) == ([], 3)


async def test_where_no_process_can_be_started_at_first_that_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere")
    supervisor = odd("good")
    with pytest.raises(WorkerFailed, match="No such file"):
        async with asyncio.timeout(LONG):
            await supervisor.start()
    assert "No such file" in supervisor.trouble
    await supervisor.close()


async def test_closing_ends_it_whatever_it_does(worker: Supervisor) -> None:
    pid = await pid_of(worker)
    busy = asyncio.create_task(worker.ask("sleep", Note("sleep"), limit=LONG))
    await asyncio.sleep(0.05)
    await worker.close()
    with pytest.raises((WorkerLost, WorkerFailed)):
        await busy
    assert worker.state == "closed"
    await gone(pid)
    with pytest.raises(WorkerFailed):
        await worker.ask("echo", Note("echo", {"text": ""}), limit=LONG)


@pytest.mark.slow
async def test_closed_at_any_moment_of_its_start_it_leaves_no_process() -> None:
    before = _children()
    for moments in range(40):
        supervisor = odd("good")
        starting = asyncio.create_task(supervisor.start())
        for _ in range(moments):
            await asyncio.sleep(0)
        await supervisor.close()
        assert _children() == before, f"after {moments} moments"
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)


def _children() -> set[int]:
    running = leaks.left_processes(frozenset(), "odd_worker")
    return {each.pid for each in running if each.parent == os.getpid()}


async def test_ctrl_c_in_the_terminal_is_not_for_it(worker: Supervisor) -> None:
    pid = await pid_of(worker)
    assert os.getsid(pid) != os.getsid(0), "a terminal's Ctrl-C does not reach it"
    os.kill(pid, signal.SIGINT)
    assert await pid_of(worker) == pid


SERVER = """
import asyncio, sys
from tests.speech.workers.test_supervisor import odd, pid_of
async def main():
    worker = odd("good")
    await worker.start()
    print(await pid_of(worker), flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


async def test_it_ends_when_the_server_is_killed() -> None:
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    async with asyncio.timeout(LONG):
        pid = int(await server.stdout.readline())
    server.kill()
    await server.wait()
    await gone(pid)


async def test_many_requests_that_are_given_up_while_it_works_do_not_end_it(
    worker: Supervisor,
) -> None:
    pid = await pid_of(worker)
    napping = asyncio.create_task(worker.ask("nap", Note("nap"), limit=LONG))
    for _ in range(40):
        asking = asyncio.create_task(worker.ask("echo", Note("echo", {"text": "no"}), limit=LONG))
        await asyncio.sleep(0.002)
        asking.cancel()
        await asyncio.wait([asking])
    assert (await napping).kind == "rested"
    assert await pid_of(worker) == pid
    assert worker.restarts == 0


async def test_whose_next_part_is_needed_first_goes_on(worker: Supervisor) -> None:
    """One that is far ahead of what is heard of it lets a newcomer by between two steps."""
    came: list[str] = []

    async def count(name: str, upto: int, lasts: float) -> None:
        wanted = Note("count", {"upto": upto, "lasts": lasts})
        async for part in worker.ask_in_parts("count", wanted, limit=LONG):
            came.append(f"{name} {part.whole('number')}")
            if came == ["ahead 0"]:
                others.append(asyncio.create_task(count("new", 3, 0.001)))

    others: list[asyncio.Task[None]] = []
    await count("ahead", 400, 60.0)
    await asyncio.gather(*others)
    assert came.index("new 3") < came.index("ahead 399")
    assert [one for one in came if one.startswith("ahead")] == [f"ahead {n}" for n in range(401)]
