"""Measures the talking client on a desktop: a process in a terminal, with a simulated sound card.

Keys are pressed in the terminal, frames are seen on the wire, and the loudspeaker is listened to;
the way from the card back to the listener counts, too, so the figures err on the safe side.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import wave
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any

from bench.interruption import Watcher
from bench.support.network_delay import Way
from tests.client.programs import command, window
from tests.pulse import SoundCard
from tests.scripted_server import TALKS, Running, scripted_server
from tests.speech.sounds import voice

SPEAKS_S = 0.5
"""How long the key is held: more than a tap."""
PAUSES_S = (0.3, 0.9)
"""Between an answer and the next press, by chance, as the microphone's frames come by their own."""
SHORT = "Yes."
LONG = " ".join(["This goes on for a while, so that a network has time to go wrong."] * 6)
"""Half a minute."""
AWAY_S = (0.5, 4.0)
"""How long the line is cut."""
PATIENCE_S = 60.0
"""Longest wait for anything, on a busy machine."""
LOOK_S = 0.001
MOST_FRAMES = 1_000
"""The last frames that passed, among which one is looked for."""
VOICE_S = 600.0
"""Longer than all presses together."""
RATE = 16_000
PRESS, RELEASE = "\x1b[32;1:1u", "\x1b[32;1:3u"
"""The space bar, in a terminal that tells releases."""


@dataclass
class AtTheDesk:
    """What was measured, in milliseconds and megabytes."""

    start: list[float] = field(default_factory=list)
    press_to_wire: list[float] = field(default_factory=list)
    arrival_to_played: list[float] = field(default_factory=list)
    rss_mb: float = 0.0


async def at_the_desk(presses: int, starts: int) -> AtTheDesk:
    """Start, press, speak, let go, listen; again and again."""
    found = AtTheDesk()
    with _server(SHORT) as running, SoundCard() as card:
        environment = _environment(running) | card.environment
        for _ in range(starts):
            began = _now()
            async with window("talk", "--server", running.url, environment=environment) as terminal:
                await terminal.sees("ready")
                found.start.append((_now() - began) * 1000)
        async with Way(running.port) as way, _voice(card):
            watcher = Watcher(os.environ | card.environment)
            try:
                await _press_often(found, presses, way, watcher, environment)
            finally:
                watcher.close()
    return found


async def _press_often(
    found: AtTheDesk, presses: int, way: Way, watcher: Watcher, environment: Mapping[str, str]
) -> None:
    talk = ("talk", "--server", way.url)
    async with window(*talk, kitty=True, environment=environment) as terminal:
        await terminal.sees("ready")
        for number in range(presses + 1):
            await asyncio.sleep(random.uniform(*PAUSES_S))
            pressed = _now()
            terminal.type(PRESS)
            sent = await _after(way.up, pressed)
            await asyncio.sleep(SPEAKS_S)
            released = _now()
            terminal.type(RELEASE)
            arrived = await _after(way.down, released)
            heard = await _after(watcher.begins, released)
            if number:  # The first one opens the loudspeaker.
                found.press_to_wire.append((sent - pressed) * 1000)
                found.arrival_to_played.append((heard - arrived) * 1000)
            await terminal.sees("ready")
        found.rss_mb = _most_megabytes(terminal.process.pid)


async def bare_start(count: int) -> list[float]:
    """Milliseconds that a Python takes which does nothing."""
    found = []
    for _ in range(count):
        began = _now()
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")
        await process.wait()
        found.append((_now() - began) * 1000)
    return found


async def gaps(jitter_s: float, answers: int) -> list[int]:
    """How often each answer's sound stops in the middle, with a line that delays by chance."""
    with _server(LONG) as running:
        question = running.home / "question.wav"
        _write(question, 1.0)
        return await asyncio.gather(
            *(_gaps(running, question, jitter_s, number) for number in range(answers))
        )


async def _gaps(running: Running, question: Path, jitter_s: float, number: int) -> int:
    """In one answer, in a conversation of its own, over a line of its own."""
    answer = running.home / f"answer {number}.wav"
    flags = ("--mic", f"file:{question}", "--speaker", f"file:{answer}", "--once")
    async with Way(running.port, jitter_s, number) as way:
        place = ("--conversation", TALKS[number])
        client = _told("talk", *flags, *place, server=way.url, environment=_environment(running))
        async with client as told:
            events = [event async for event in told]
    if not any(event["event"] == "audio.done" for event in events):
        raise SystemExit(f"No answer was played: {events[-3:]}")
    return sum(event["event"] == "audio.gap" for event in events)


async def resumes(count: int) -> list[float]:
    """Milliseconds from each mending of the line to the session's going on."""
    found = []
    with _server(SHORT) as running:
        environment = _environment(running)
        async with (
            Way(running.port) as way,
            _told("talk", server=way.url, environment=environment) as told,
        ):
            await _until_up(told)
            for _ in range(count):
                way.cut()
                await asyncio.sleep(random.uniform(*AWAY_S))
                mended = await way.mend()
                event = await _until_up(told)
                if event["session"] != "resumed":
                    raise SystemExit(f"The session did not go on: {event}")
                found.append((event["at"] - mended) * 1000)
    return found


async def _until_up(told: AsyncIterator[Mapping[str, Any]]) -> Mapping[str, Any]:
    async with asyncio.timeout(PATIENCE_S):
        async for event in told:
            if event["event"] == "link.state" and event["state"] == "up":
                return event
    raise SystemExit("The client ended.")


@asynccontextmanager
async def _told(
    verb: str, *flags: str, server: str, environment: Mapping[str, str]
) -> AsyncIterator[AsyncIterator[Mapping[str, Any]]]:
    """The client's events, as it tells them to programs."""
    process = await asyncio.create_subprocess_exec(
        *command(verb, "--json", "--server", server, *flags),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
    )
    assert process.stdout
    lines = process.stdout

    async def events() -> AsyncIterator[Mapping[str, Any]]:
        async for line in lines:
            yield json.loads(line)

    try:
        yield events()
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


@contextmanager
def _server(answer: str) -> Iterator[Running]:
    with (
        tempfile.TemporaryDirectory(prefix="sayso-") as folder,
        scripted_server(Path(folder), answer) as running,
    ):
        yield running


def _environment(running: Running) -> dict[str, str]:
    """The environment in which a client finds the server's token."""
    return os.environ | {"SAYSO_HOME": str(running.home)}


@asynccontextmanager
async def _voice(card: SoundCard) -> AsyncIterator[None]:
    """Somebody talks into the microphone all the time."""
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        path = Path(folder) / "voice.wav"
        _write(path, VOICE_S)
        process = await asyncio.create_subprocess_exec(
            *("paplay", "--device=air", "--latency-msec=20", str(path)),
            env={**os.environ, **card.environment},
        )
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


def _write(path: Path, seconds: float) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(voice(seconds))


def _most_megabytes(process: int) -> float:
    """That a process had resident."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _after(moments: list[float], since: float) -> float:
    """The first of these after that moment."""
    async with asyncio.timeout(PATIENCE_S):
        for pause in repeat(LOOK_S):
            later = [moment for moment in moments[-MOST_FRAMES:] if moment > since]
            if later:
                return later[0]
            await asyncio.sleep(pause)
    raise AssertionError
