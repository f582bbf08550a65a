"""Measures how many people can talk to one server at once: with speech, at the pace of speech.

Each has a device and a conversation, says a question of three seconds, hears an answer of ten, and
is silent for the rest of a minute. More and more of them come, until the words or the answers of
one in twenty are late. The server is the product's; the language model answers at once.
"""

import asyncio
import os
import tempfile
import time
import wave
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypedDict

from bench.support.device_client import FRAME_BYTES, Visitor, visitor
from bench.support.figures import percentile
from bench.support.questions import speak_all
from sayso.protocol import messages as m
from sayso.protocol.frames import AudioFrame
from sayso.protocol.home import Home
from sayso.server.models import InstalledModels
from sayso.server.speech.engines.recognizer_pool import RecognizerPool
from sayso.server.speech.engines.whisper.options import WhisperOptions
from sayso.server.speech.engines.whisper.recognizer import WhisperRecognizer
from sayso.server.speech.recognition.scheduler import PassScheduler, Rank
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel, says

ANSWER: Final = (
    "I have looked at it, and there are three things that you may want to know. "
    "The first one is the largest, and it was changed last week. "
    "The other two are small, and nobody has opened them for a year."
)
"""Some ten seconds."""

MINUTE_S: Final = 60.0
ROUND_S: Final = 30.0
"""For each size of the crowd: half of them speak in it, evenly, as in any minute."""

FINAL_S: Final = 1.0
FIRST_AUDIO_S: Final = 1.5
"""After the release, for 19 of 20."""

LOST_AFTER_S: Final = 20.0
"""An utterance of which no words came until then is lost."""

SIZES: Final = (4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256)

PIECE_FRAMES: Final = 5
"""Frames that a device sends together: a tenth of a second."""
FRAME_S: Final = 0.02

FINALS: Final = 24
"""Passes for the speed of two processes beside that of one."""


class Figures(TypedDict):
    """What is found out here."""

    cores: int
    talkers: int
    """The largest crowd that was served in time."""
    talkers_per_core: float
    final_p95_s: float
    """Of that crowd, as is the next."""
    first_audio_p95_s: float
    two_workers_speedup: float
    """Finals a second of two recognisers with a thread each, beside those of one."""
    lost: int
    """Utterances, over all crowds."""


@dataclass
class Waits:
    """What a crowd had to wait for, in seconds."""

    finals: list[float] = field(default_factory=list)
    first_audio: list[float] = field(default_factory=list)
    refused: int = 0
    """Who was told to say it again."""
    lost: int = 0

    @property
    def in_time(self) -> bool:
        """Whether 19 of 20 were served in time, and nobody refused or lost."""
        if self.refused or self.lost or not self.first_audio:
            return False
        return (
            percentile(self.finals, 95, 3) <= FINAL_S
            and percentile(self.first_audio, 95, 3) <= FIRST_AUDIO_S
        )


def measure(most: int = SIZES[-1]) -> Figures:
    """Larger and larger crowds, up to so many."""
    speedup = asyncio.run(two_workers_speedup())
    home = Home.find()
    with tempfile.TemporaryDirectory(prefix="sayso-") as scratch:
        folder = Path(scratch)
        lend_kernels(folder)
        questions = [_pcm(each.sudden) for each in speak_all(home, folder, 12)]
        workers = f"{max(1, _cores() // 2)}"
        flags = (f"--set=ears.workers={workers}", f"--set=voice.workers={workers}")
        with ScriptedModel([says(ANSWER)]) as answers, Server(folder, answers, flags) as server:
            talkers, best, lost = asyncio.run(_crowds(server, questions, most))
    return Figures(
        cores=_cores(),
        talkers=talkers,
        talkers_per_core=round(talkers / _cores(), 1),
        final_p95_s=percentile(best.finals or [0.0], 95, 2),
        first_audio_p95_s=percentile(best.first_audio or [0.0], 95, 2),
        two_workers_speedup=round(speedup, 2),
        lost=lost,
    )


def table(figures: Figures) -> str:
    """For people."""
    return "\n".join(f"{name:24}{value:>10}" for name, value in figures.items())


async def two_workers_speedup() -> float:
    """How many more finals two processes make than one, each with one thread."""
    home = Home.find()
    model = InstalledModels(home).ready("ears", "tiny.en").path
    with tempfile.TemporaryDirectory(prefix="sayso-") as scratch:
        question = _pcm((await asyncio.to_thread(speak_all, home, Path(scratch), 1))[0].sudden)
    rates = []
    for workers in (1, 2):
        one = partial(WhisperRecognizer, model, options=WhisperOptions(threads=1))
        pool = RecognizerPool(one, workers)
        await pool.start()
        try:
            scheduler = PassScheduler(pool)
            await _finals(scheduler, pool, question, 4)
            async with asyncio.timeout(LOST_AFTER_S):
                while pool.places < workers:
                    await _finals(scheduler, pool, question, 4)
            began = time.perf_counter()
            await _finals(scheduler, pool, question, FINALS)
            rates.append(FINALS / (time.perf_counter() - began))
        finally:
            await pool.close()
    return rates[1] / rates[0]


async def _finals(scheduler: PassScheduler, pool: RecognizerPool, pcm: bytes, count: int) -> None:
    asks = [scheduler.ask(Rank.FINAL, lambda: pool.transcribe(pcm)) for _ in range(count)]
    await asyncio.gather(*(ask.result for ask in asks))


async def _crowds(server: Server, questions: Sequence[bytes], most: int) -> tuple[int, Waits, int]:
    """The largest crowd that is served in time, its waits, and how many utterances were lost."""
    talkers, best, lost = 0, Waits(), 0
    async with AsyncExitStack() as stack:
        there: list[_Talker] = []
        for size in (each for each in SIZES if each <= most):
            while len(there) < size:
                device = await stack.enter_async_context(visitor(server, LOST_AFTER_S))
                there.append(_Talker(device))
                await there[-1].begin(f"talker {len(there)}")
            waits = Waits()
            speaking = there[: max(1, round(size * ROUND_S / MINUTE_S))]
            await asyncio.gather(
                *(
                    talker.ask(questions[at % len(questions)], at * ROUND_S / len(speaking), waits)
                    for at, talker in enumerate(speaking)
                )
            )
            lost += waits.lost
            if not waits.in_time:
                break
            talkers, best = size, waits
    return talkers, best, lost


class _Talker:
    """One person with a device of their own."""

    def __init__(self, device: Visitor) -> None:
        self._device = device
        self._streams = 0

    async def begin(self, name: str) -> None:
        """In a conversation of their own."""
        await self._device.say(m.Command("new", name))
        assert await self._device.until(lambda: bool(self._device.all(m.CommandDone)), 10.0)

    async def ask(self, pcm: bytes, after_s: float, waits: Waits) -> None:
        """Say a question at the pace of speech, and wait for its answer."""
        await asyncio.sleep(after_s)
        device, clock = self._device, asyncio.get_running_loop().time
        device.told.clear()
        released = await self._speak(pcm)
        device.first_sound_at = 0.0
        failed = partial(device.all, m.Error)
        if not await device.until(lambda: bool(device.all(m.SttFinal) or failed()), LOST_AFTER_S):
            waits.lost += 1
            return
        if not device.all(m.SttFinal):
            waits.refused += 1
            return
        waits.finals.append(clock() - released)
        if await device.until(lambda: bool(device.first_sound_at), LOST_AFTER_S):
            waits.first_audio.append(device.first_sound_at - released)
        else:
            waits.lost += 1

    async def _speak(self, pcm: bytes) -> float:
        """Returns when the key came up."""
        device, clock = self._device, asyncio.get_running_loop().time
        self._streams += 1
        began = clock()
        await device.say(m.ListenStart("ptt", self._streams))
        for number, at in enumerate(range(0, len(pcm), FRAME_BYTES)):
            frame = AudioFrame(self._streams, number, at // 2, pcm[at : at + FRAME_BYTES])
            await device.socket.send(frame.pack())
            if number % PIECE_FRAMES == PIECE_FRAMES - 1:
                await asyncio.sleep(began + (number + 1) * FRAME_S - clock())
        await device.say(m.ListenStop(self._streams, len(pcm) // 2))
        return clock()


def _cores() -> int:
    return os.cpu_count() or 1


def _pcm(path: Path) -> bytes:
    with wave.open(str(path)) as file:
        return bytes(file.readframes(file.getnframes()))
