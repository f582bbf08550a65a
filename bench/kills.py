"""Kills processes (-9) at any moment: the server, its recogniser, its synthesiser, and the
interpreter in which code runs.

A real server with Whisper and piper, and a scripted language model that has code run. What the
person was told is compared with the log; who is left over is seen in /proc.
"""

import asyncio
import os
import random
import signal
import tempfile
import time
import wave
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import TypedDict

from bench.support.device_client import Visitor, visitor
from bench.support.figures import spread
from bench.support.progress import step
from bench.support.server_processes import Victim, below, descriptors
from sayso.protocol import messages as m
from sayso.server.store.log_reader import read_events
from sayso.server.store.records import Asked, RunIntended, RunReported
from tests.e2e.speech import Voice
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import Reply, ScriptedModel, runs, says

MEDDLE_S = 0.6
"""The moment of a kill lies by chance within so many seconds after a request was taken up."""
ORPHAN_S = 1.0
"""After which nothing of a killed server may be left."""
PATIENCE_S = 60.0
"""A process that is not back after that is lost."""
ASK_AGAIN_S = 5.0
"""A request may join one that is under way, and end with it: then it is made again."""
LOOK_S = 0.05
"""Between two looks at /health."""
CODE = """
import time
print('begun', flush=True)
with open('tally', 'a') as file: file.write('x')
time.sleep(0.3)
print('ended', flush=True)
"""
STORIES = 1_000
"""More than anybody asks for: what was said before is not synthesized again."""
FLAGS = ("--set=approvals.mode=workspace", "--set=agent.day_steps=100000")
REPLIES = (
    Reply(says=["It is done."], when="ended"),
    Reply(says=["It was lost."], when="interpreter"),
    runs(CODE, "I run it. ", when="run"),
    *(
        Reply(says=[f"Story {n} begins. ", f"Story {n} ends."], between_s=0.1, when=f"story {n},")
        for n in range(STORIES)
    ),
    says("I am here."),
)
QUESTION = "How deep is the sea?"


class Figures(TypedDict):
    """What is found out here."""

    kills: int
    kills_lost: int
    """Events that a person was told of and the log does not hold, or code that ran twice."""
    kills_orphans: int
    kill_told_p95_s: float
    """Until it is said, of all but the server."""
    kill_back_p95_s: float
    """Until the next turn is through, of all but the server."""
    server_back_p95_s: float
    """Until the new server answers the next request."""
    kill_fd_growth: int
    """Descriptors that the server has more of at the end, after all that was killed around it."""


@dataclass
class Toll:
    """What became of it."""

    kills: int = 0
    lost: int = 0
    orphans: int = 0
    growth: int = 0
    told_s: list[float] = field(default_factory=list)
    back_s: list[float] = field(default_factory=list)
    server_back_s: list[float] = field(default_factory=list)


def measure(each: int) -> Figures:
    """So many kills of each of the four."""
    _question()
    toll = asyncio.run(_both(each))
    return Figures(
        kills=toll.kills,
        kills_lost=toll.lost,
        kills_orphans=toll.orphans,
        kill_told_p95_s=spread(toll.told_s, 2)["p95"],
        kill_back_p95_s=spread(toll.back_s, 2)["p95"],
        server_back_p95_s=spread(toll.server_back_s, 2)["p95"],
        kill_fd_growth=toll.growth,
    )


async def _both(each: int) -> Toll:
    toll = Toll()
    with ScriptedModel(REPLIES) as model:
        await kill_parts(model, toll, each)
        await kill_servers(model, toll, each)
    return toll


@asynccontextmanager
async def _server(model: ScriptedModel) -> AsyncIterator[Server]:
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        home = Path(folder)
        lend_kernels(home)
        server = Server(home, model, FLAGS)
        await asyncio.to_thread(server.__enter__)
        try:
            yield server
        finally:
            await asyncio.to_thread(server.stop)


# ── Parts ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Part:
    """One that can be killed, and how a person notices that it is back."""

    name: str
    """As /health calls it."""
    process: str
    """In the command line."""
    ask: Callable[[Visitor], Coroutine[None, None, None]]
    came: Callable[[Visitor], int]
    """How often what only this part can give has come."""


async def _speak(device: Visitor) -> None:
    await device.speak(_question())


_stories = count()


async def _have_told(device: Visitor) -> None:
    await device.say(m.Text(f"tell me story {next(_stories)}, please"))


async def _have_run(device: Visitor) -> None:
    await device.say(m.Text("run it"))


@cache
def _question() -> bytes:
    """What a microphone records of the question, 16 kHz."""
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        path = Path(folder) / "question.wav"
        Voice().speak(QUESTION, path)
        with wave.open(str(path)) as file:
            pcm: bytes = file.readframes(file.getnframes())
        return pcm


def _heard(device: Visitor) -> int:
    return sum(
        bool(final.text) for final in device.all(m.SttFinal) if isinstance(final, m.SttFinal)
    )


def _spoken(device: Visitor) -> int:
    return sum(
        stop.reason == "done" for stop in device.all(m.SpeechStop) if isinstance(stop, m.SpeechStop)
    )


def _ran(device: Visitor) -> int:
    return sum(end.status == "ok" for end in device.all(m.CodeEnd) if isinstance(end, m.CodeEnd))


PARTS = (
    _Part("ears", "engines.whisper.worker", _speak, _heard),
    _Part("voice", "engines.piper.worker", _have_told, _spoken),
    _Part("code", "python_kernel", _have_run, _ran),
)


async def kill_parts(model: ScriptedModel, toll: Toll, each: int) -> None:
    """Recogniser, synthesiser and interpreter of one server, in no order."""
    chance = random.Random(1)
    turns = [part for part in PARTS for _ in range(each)]
    chance.shuffle(turns)
    async with _server(model) as server, visitor(server, PATIENCE_S) as device:
        for part in PARTS:
            await _works(part, server, device)
        before = descriptors(server.process.pid)
        for number, part in enumerate(turns, 1):
            device.told.clear()
            await part.ask(device)
            await device.until(lambda: bool(device.all(m.TurnState)), PATIENCE_S)
            await asyncio.sleep(chance.uniform(0.0, MEDDLE_S))
            await _kill_part(part, server, device, toll)
            step("parts killed", number, len(turns))
        toll.growth = max(toll.growth, descriptors(server.process.pid) - before)


async def _kill_part(part: _Part, server: Server, device: Visitor, toll: Toll) -> None:
    victims = await _there(part, server)
    if not victims:
        toll.lost += 1
        return
    announced, ended = len(device.all(m.Announce)), len(device.all(m.CodeEnd))
    os.kill(victims[-1].pid, signal.SIGKILL)
    toll.kills += 1
    killed = time.monotonic()

    async def tell() -> None:
        while time.monotonic() - killed < PATIENCE_S:
            health = await asyncio.to_thread(server.health)
            said = len(device.all(m.Announce)) > announced or len(device.all(m.CodeEnd)) > ended
            if said or part.name in health["degraded"]:
                break
            await asyncio.sleep(LOOK_S)
        toll.told_s.append(time.monotonic() - killed)

    telling = asyncio.create_task(tell())
    back = await _works(part, server, device)
    toll.lost += not back
    toll.back_s.append(time.monotonic() - killed)
    await telling


async def _there(part: _Part, server: Server) -> list[Victim]:
    """The part's processes; one that was killed again and again waits before it starts again."""
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE_S:
        if victims := below(server.process.pid, part.process):
            return victims
        await asyncio.sleep(LOOK_S)
    return []


async def _works(part: _Part, server: Server, device: Visitor) -> bool:
    """Ask for what only this part gives until it comes: what is under way may end without it, and
    counts only if the part is there again."""
    came = part.came(device)
    for _ in range(int(PATIENCE_S / ASK_AGAIN_S)):
        await _quiet(device)
        # An interpreter that died at the end of its run is replaced when the next one is asked for.
        if part.came(device) > came and below(server.process.pid, part.process):
            return await _is_back(part, server)
        device.told.clear()
        came = 0
        await part.ask(device)
        if await device.until(lambda: part.came(device) > 0, ASK_AGAIN_S):
            return await _is_back(part, server)
    return False


async def _is_back(part: _Part, server: Server) -> bool:
    """Whether it can work again. One that is killed before it can, again and again, must wait ever
    longer for its next start, and a benchmark with it."""
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE_S:
        health = await asyncio.to_thread(server.health)
        if part.name not in health["degraded"] and below(server.process.pid, part.process):
            return True
        await asyncio.sleep(LOOK_S)
    return False


async def _quiet(device: Visitor) -> None:
    """Wait until what was asked is over."""

    def over() -> bool:
        states = device.all(m.TurnState)
        return not states or states[-1] == m.TurnState("idle", "idle", "silent")

    await device.until(over, PATIENCE_S)


# ── The server ───────────────────────────────────────────────────────────────────────────────────


async def kill_servers(model: ScriptedModel, toll: Toll, count: int) -> None:
    """One server after the other, of the same home."""
    chance = random.Random(2)
    acknowledged: set[str] = set()
    async with _server(model) as server:
        for number in range(count):
            asked = f"run number {number}"
            async with visitor(server, PATIENCE_S) as device:
                await device.say(m.Text(asked))
                await asyncio.sleep(chance.uniform(0.0, 2 * MEDDLE_S))
                family = below(server.process.pid)
                os.kill(server.process.pid, signal.SIGKILL)
                killed = time.monotonic()
                toll.kills += 1
                await device.until(lambda: False, PATIENCE_S)
                if device.all(m.CodeStart) or device.all(m.ReplyDelta):
                    acknowledged.add(asked)
            watching = asyncio.create_task(_orphans(family, killed))
            await asyncio.to_thread(_start_again, server)
            async with visitor(server, PATIENCE_S) as device:
                await device.say(m.Text("tell me a story"))
                answered = await device.until(lambda: bool(device.all(m.ReplyDelta)), PATIENCE_S)
                toll.server_back_s.append(time.monotonic() - killed)
                toll.lost += not answered
            toll.orphans += await watching
            step("servers killed", number + 1, count)
        toll.lost += _missing(server.home, acknowledged)


def _start_again(server: Server) -> None:
    """As a service manager does, at once."""
    server.process.wait()
    server.log.close()
    server.start()


async def _orphans(family: list[Victim], killed: float) -> int:
    await asyncio.sleep(max(0.0, killed + ORPHAN_S - time.monotonic()))
    return sum(victim.alive for victim in family)


def _missing(home: Path, acknowledged: set[str]) -> int:
    """What was acknowledged and is not in the log, and runs beyond those that were meant."""
    records = [event.record for event in read_events(home / "events.sqlite")]
    asked = {record.text for record in records if isinstance(record, Asked)}
    meant = {record.run for record in records if isinstance(record, RunIntended)}
    reported = {record.run for record in records if isinstance(record, RunReported)}
    tally = home / "workspaces" / "main" / "tally"
    ran = len(tally.read_text()) if tally.exists() else 0
    return len(acknowledged - asked) + len(meant - reported) + max(0, ran - len(meant))
