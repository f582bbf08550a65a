"""Several processes of a recogniser: one for a household, more when somebody has to wait."""

import asyncio
from collections.abc import Sequence

import pytest

from sayso.server.speech.engines.recognizer_pool import AGAIN_AFTER_S, RecognizerPool
from sayso.server.speech.errors import WorkerFailed
from sayso.server.speech.recognition.recognizer import Transcript
from sayso.server.speech.recognition.scheduler import PassScheduler, Rank

pytestmark = pytest.mark.virtual_time

PASS_S = 1.0
LOAD_S = 2.0


class Slow:
    """A recogniser that takes a second for each pass, one at a time."""

    def __init__(self, name: str, *, fails: bool = False) -> None:
        self.name = name
        self.trouble = ""
        self.restarts = 0
        self.closed = False
        self._fails = fails
        self._working = asyncio.Lock()

    async def start(self) -> object:
        await asyncio.sleep(LOAD_S)
        if self._fails:
            raise WorkerFailed("It does not start.")
        return None

    async def close(self) -> None:
        self.closed = True

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        assert not self._working.locked(), "asked for two at once"
        async with self._working:
            await asyncio.sleep(PASS_S)
        return Transcript(self.name)


class Made:
    """What makes them, one after the other."""

    def __init__(self, fails: Sequence[bool] = ()) -> None:
        self.all: list[Slow] = []
        self._fails = list(fails)

    def __call__(self) -> Slow:
        fails = self._fails.pop(0) if self._fails else False
        self.all.append(Slow(str(len(self.all) + 1), fails=fails))
        return self.all[-1]


async def finals(scheduler: PassScheduler, pool: RecognizerPool, count: int) -> list[str]:
    asks = [scheduler.ask(Rank.FINAL, lambda: pool.transcribe(b"")) for _ in range(count)]
    return [(await ask.result).text for ask in asks]


async def test_one_process_is_there_until_somebody_has_to_wait() -> None:
    made = Made()
    pool = RecognizerPool(made, 4)
    await pool.start()
    scheduler = PassScheduler(pool)
    for _ in range(3):
        assert await finals(scheduler, pool, 1) == ["1"]
    assert len(made.all) == pool.places == 1
    await pool.close()


async def test_people_who_speak_at_once_get_processes_up_to_the_bound() -> None:
    made = Made()
    pool = RecognizerPool(made, 3)
    await pool.start()
    scheduler = PassScheduler(pool)
    for _ in range(4):
        await finals(scheduler, pool, 8)
    assert pool.places == 3
    began = asyncio.get_running_loop().time()
    assert sorted(set(await finals(scheduler, pool, 6))) == ["1", "2", "3"]
    assert asyncio.get_running_loop().time() - began == 2 * PASS_S
    await pool.close()
    assert all(one.closed for one in made.all)


async def test_one_that_does_not_start_is_not_tried_again_at_once() -> None:
    made = Made([False, True])
    pool = RecognizerPool(made, 2)
    await pool.start()
    scheduler = PassScheduler(pool)
    await finals(scheduler, pool, 9)
    assert len(made.all) == 2
    assert made.all[1].closed
    assert pool.trouble == ""
    await asyncio.sleep(AGAIN_AFTER_S)
    await finals(scheduler, pool, 9)
    assert pool.places == 2
    await pool.close()


async def test_one_that_is_being_restarted_is_passed_over() -> None:
    made = Made()
    pool = RecognizerPool(made, 2)
    await pool.start()
    scheduler = PassScheduler(pool)
    await finals(scheduler, pool, 4)
    made.all[0].trouble = "It stopped and is being started again."
    assert pool.trouble == ""
    assert await finals(scheduler, pool, 1) == ["2"]
    made.all[1].trouble = made.all[0].trouble
    assert pool.trouble == made.all[0].trouble
    await pool.close()
