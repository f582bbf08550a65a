"""Several processes of one voice: one for a household, more when many answers are spoken."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from sayso.server.speech.engines.piper.voice_processes import MANY, VoiceProcesses
from sayso.server.speech.errors import WorkerFailed
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.speech.workers.supervisor import Ready

pytestmark = pytest.mark.virtual_time

CHUNK_S = 1.0


class Process:
    """One that speaks each chunk in a second."""

    def __init__(self, number: int, *, fails: bool) -> None:
        self.number = number
        self.trouble = ""
        self.restarts = 0
        self.closed = False
        self.speaks = 0
        self._fails = fails

    async def start(self) -> Ready:
        await asyncio.sleep(0.1)
        if self._fails:
            raise WorkerFailed("It does not start.")
        return Ready("a voice", 0.1, {})

    async def close(self) -> None:
        self.closed = True

    async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
        async for sound in self.stream(text, speed=speed):
            return sound
        raise AssertionError("it said nothing")

    async def stream(self, text: str, *, speed: float = 1.0) -> AsyncGenerator[Sound, None]:
        self.speaks += 1
        try:
            await asyncio.sleep(CHUNK_S)
            yield Sound(bytes([self.number]) * 2, 22_050)
        finally:
            self.speaks -= 1


class Voice:
    """A voice of up to so many processes."""

    def __init__(self, most: int, *, only: int = 100) -> None:
        self.processes: list[Process] = []
        self._only = only
        self.voice = VoiceProcesses(Path("a.onnx"), make=self._make, most=most)

    def _make(self, _: Path) -> Process:
        number = len(self.processes) + 1
        self.processes.append(Process(number, fails=number > self._only))
        return self.processes[-1]

    async def say(self, count: int) -> list[int]:
        sounds = await asyncio.gather(*(self.voice.synthesize("Hello.") for _ in range(count)))
        return [sound.pcm[0] for sound in sounds]


async def test_a_household_has_one_process() -> None:
    there = Voice(4)
    await there.voice.start()
    assert await there.say(MANY - 1) == [1] * (MANY - 1)
    assert len(there.processes) == 1
    await there.voice.close()


async def test_many_answers_at_once_are_shared_out() -> None:
    there = Voice(2)
    await there.voice.start()
    assert set(await there.say(MANY)) == {1}
    said = await there.say(6)
    assert sorted(said) == [1, 1, 1, 2, 2, 2]
    await there.say(40)
    assert len(there.processes) == 2
    await there.voice.close()
    assert all(process.closed for process in there.processes)


async def test_one_that_was_broken_off_is_counted_no_more() -> None:
    there = Voice(1)
    await there.voice.start()
    talking = [asyncio.create_task(there.voice.synthesize("Hello.")) for _ in range(MANY)]
    await asyncio.sleep(0.1)
    for task in talking:
        task.cancel()
    await asyncio.gather(*talking, return_exceptions=True)
    assert there.processes[0].speaks == 0
    assert await there.say(1) == [1]
    await there.voice.close()


async def test_where_no_more_can_be_started_the_first_goes_on_alone() -> None:
    there = Voice(3, only=1)
    await there.voice.start()
    await there.say(MANY)
    assert set(await there.say(MANY)) == {1}
    assert len(there.processes) == 2
    assert there.processes[1].closed
    assert there.voice.trouble == ""
    await there.voice.close()
