"""The event loop whose clock jumps keeps what its docstring promises."""

import asyncio
import os
import threading
import time

import pytest

from tests.virtual_time import Deadlock, RanAway, RealInputRefused, run


@pytest.mark.virtual_time
async def test_a_marked_test_runs_in_virtual_time() -> None:
    started = time.monotonic()
    await asyncio.sleep(1800)
    assert asyncio.get_running_loop().time() == 1800.0
    assert time.monotonic() - started < 10


async def test_an_unmarked_test_runs_in_real_time() -> None:
    assert asyncio.get_running_loop().time() > 0
    assert await asyncio.to_thread(lambda: "thread") == "thread"


@pytest.mark.virtual_time(limit_s=200_000)
async def test_a_mark_may_widen_the_limit() -> None:
    await asyncio.sleep(100_000)
    assert asyncio.get_running_loop().time() == 100_000.0


def test_timers_fire_in_order_at_their_exact_times() -> None:
    async def main() -> list[tuple[str, float]]:
        seen: list[tuple[str, float]] = []

        async def tick(name: str, period: float, times: int) -> None:
            for _ in range(times):
                await asyncio.sleep(period)
                seen.append((name, asyncio.get_running_loop().time()))

        async with asyncio.TaskGroup() as group:
            group.create_task(tick("fast", 0.1, 3))
            group.create_task(tick("slow", 0.25, 1))
        return seen

    assert run(main()) == [("fast", 0.1), ("fast", 0.2), ("slow", 0.25), ("fast", 0.3)]


def test_a_timeout_ends_at_its_time() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(12.5):
                await asyncio.Event().wait()
        return asyncio.get_running_loop().time()

    assert run(main()) == 12.5


def test_work_in_threads_takes_no_virtual_time() -> None:
    async def main() -> float:
        release = threading.Event()
        ticking = asyncio.create_task(asyncio.sleep(5))
        asyncio.get_running_loop().call_soon(release.set)
        assert await asyncio.to_thread(release.wait, 10)
        now = asyncio.get_running_loop().time()
        await ticking
        return now

    assert run(main()) == 0.0


def test_a_deadlock_says_where_each_task_waits() -> None:
    async def waits_for_ever() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.create_task(waits_for_ever(), name="the forgotten one")
        await asyncio.sleep(3)
        await task

    with pytest.raises(Deadlock, match="at 3 s") as caught:
        run(main())
    assert "the forgotten one: " in str(caught.value)
    assert "waits_for_ever (repository/test_virtual_time.py:" in str(caught.value)
    assert "Event.wait (asyncio/locks.py:" in str(caught.value)


def test_timers_set_for_ever_run_into_the_limit() -> None:
    async def main() -> None:
        async def tick() -> None:
            for _ in iter(int, 1):
                await asyncio.sleep(1)

        ticking = asyncio.create_task(tick(), name="ticking")
        await asyncio.Event().wait()
        await ticking

    with pytest.raises(RanAway, match=r"passed 60 s(.|\n)*ticking: .*tick"):
        run(main(), limit_s=60)


@pytest.mark.virtual_time
async def test_processes_are_refused() -> None:
    with pytest.raises(RealInputRefused, match="real time"):
        await asyncio.create_subprocess_exec("true")


@pytest.mark.virtual_time
async def test_connections_and_listeners_are_refused() -> None:
    with pytest.raises(RealInputRefused):
        await asyncio.open_connection("127.0.0.1", 9)
    with pytest.raises(RealInputRefused):
        await asyncio.start_unix_server(lambda _reader, _writer: None, "never-made")


@pytest.mark.virtual_time
async def test_pipes_are_refused() -> None:
    reading, writing = os.pipe()
    try:
        with pytest.raises(RealInputRefused):
            asyncio.get_running_loop().add_reader(reading, lambda: None)
    finally:
        os.close(reading)
        os.close(writing)


def test_two_runs_see_the_same_order() -> None:
    async def main() -> list[int]:
        order: list[int] = []

        async def step(number: int) -> None:
            await asyncio.sleep(number % 7 * 0.01)
            order.append(number)

        await asyncio.gather(*(step(number) for number in range(100)))
        return order

    assert run(main()) == run(main())
