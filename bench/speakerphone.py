"""Measures a device whose microphone hears its loudspeaker: the real client in a terminal, a real
server, and a sound card made of software.

    python -m bench.speakerphone [TAKES] [PERCENT] [BUSY]      60 percent are -13 dB, 40 are -24

Takes with nobody in the room tell how often it starts by its own voice; every other one begins with
the microphone just opened. Takes with a "stop" over the answer tell how often it ends, and how long
after the word. BUSY is how many programs compute beside it all the while.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.hands_free import ANSWERS
from bench.interruption import Watcher
from tests.client.programs import Window, window
from tests.e2e.speech import Voice
from tests.kernels import lend_kernels
from tests.pulse import SoundCard
from tests.rig import Server
from tests.scripted_model import ScriptedModel, says

LISTENS = "listening"
"""In the client's status line, while somebody is listened to."""
TOLD = [text.replace("\n", " ") for text in ANSWERS if LISTENS not in text]
TAKES = 20
PERCENT = 60
STOPS = ("Stop.", "Stop it.", "Please stop.")
INTO_S = (2.0, 3.5)
"""How far into an answer somebody says stop."""
ENDS_S = 5.0
"""A stop that was not heard until then never is."""
ANSWER_S = 60.0
SETTLED_S = 1.5
"""So long silent, an answer is over."""
MUTE = "\x14"


@dataclass
class Found:
    """What was seen."""

    takes: int = 0
    starts: int = 0
    """Answers over which it listened to somebody."""
    requests: int = 0
    """What was asked of the model and by nobody."""
    stops: int = 0
    listened: int = 0
    """Stops for which it listened, as it would for a start."""
    stopped: list[float] = field(default_factory=list)
    """Seconds from the end of the word to silence."""


@contextmanager
def busy(programs: int) -> Iterator[None]:
    """So many compute all the while."""
    started = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(programs)
    ]
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


def measure(takes: int, percent: int, programs: int) -> Found:
    """Both kinds of takes."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        lend_kernels(folder)
        stops = [folder / f"stop-{number}.wav" for number in range(len(STOPS))]
        for text, path in zip(STOPS, stops, strict=True):
            Voice().speak(text, path)
        with ScriptedModel([]) as model, Server(folder, model) as server, SoundCard() as card:
            card.hear_the_loudspeaker(percent)
            with busy(programs):
                return asyncio.run(_takes(server, model, card, stops, takes))


async def _takes(
    server: Server, model: ScriptedModel, card: SoundCard, stops: list[Path], takes: int
) -> Found:
    found = Found()
    watcher = Watcher(server.variables | card.environment)
    place = ("talk", "--hands-free", "--server", server.url)
    try:
        async with window(*place, environment=server.variables | card.environment) as terminal:
            await terminal.sees("waiting for the wake word")
            for number in range(takes):
                if number % 2:
                    await _open_the_microphone_anew(terminal)
                await _alone(found, terminal, model, watcher, number)
            for number in range(takes):
                path = stops[number % len(stops)]
                await _stopped(found, terminal, model, watcher, card, path, number)
    finally:
        watcher.close()
    return found


async def _open_the_microphone_anew(terminal: Window) -> None:
    terminal.type(MUTE)
    await terminal.sees("muted")
    await asyncio.sleep(0.5)
    terminal.type(MUTE)
    await terminal.sees("waiting for the wake word", "go on")


async def _ask(terminal: Window, model: ScriptedModel, watcher: Watcher, number: int) -> float:
    """Returns when the answer was first heard."""
    model.add(says(TOLD[number % len(TOLD)]))
    asked = time.monotonic()
    terminal.type(f"Tell me story number {number} about that, in your own words\r")
    async with asyncio.timeout(ANSWER_S):
        while watcher.heard_at < asked:  # noqa: ASYNC110 (another thread watches)
            await asyncio.sleep(0.02)
    return watcher.heard_at


async def _silence(watcher: Watcher) -> float:
    """Returns when it was last heard."""
    async with asyncio.timeout(ANSWER_S):
        while time.monotonic() - watcher.heard_at < SETTLED_S:  # noqa: ASYNC110 (as above)
            await asyncio.sleep(0.02)
    return watcher.heard_at


async def _alone(
    found: Found, terminal: Window, model: ScriptedModel, watcher: Watcher, number: int
) -> None:
    before = len(model.requests)
    await _ask(terminal, model, watcher, number)
    await _silence(watcher)
    found.takes += 1
    found.starts += LISTENS in terminal.new
    found.requests += len(model.requests) - before - 1


async def _stopped(
    found: Found,
    terminal: Window,
    model: ScriptedModel,
    watcher: Watcher,
    card: SoundCard,
    path: Path,
    number: int,
) -> None:
    low, high = INTO_S
    await _ask(terminal, model, watcher, number)
    await asyncio.sleep(low + (high - low) * (number % 5) / 4)
    with wave.open(str(path)) as file:
        seconds = file.getnframes() / file.getframerate()
    began = time.monotonic()
    await asyncio.to_thread(card.speak_into_microphone, path)
    over = min(time.monotonic(), began + seconds)
    silent_at = await _silence(watcher)
    found.stops += 1
    found.listened += LISTENS in terminal.new
    if silent_at - over < ENDS_S:
        found.stopped.append(max(0.0, silent_at - over))


def table(found: Found) -> str:
    """For people."""
    late = sum(seconds > 1.0 for seconds in found.stopped)
    median = statistics.median(found.stopped) if found.stopped else float("nan")
    slowest = max(found.stopped, default=float("nan"))
    return (
        f"{found.takes} answers alone: {found.starts} starts, {found.requests} requests\n"
        f"{found.stops} stops: {found.listened} listened to, {len(found.stopped)} ended it, "
        f"{late} of them later than 1 s; median {median:.2f} s, slowest {slowest:.2f} s"
    )


def main() -> None:
    given = [int(one) for one in sys.argv[1:]]
    takes, percent, programs = [*given, *(TAKES, PERCENT, 0)[len(given) :]]
    print(f"{percent} %, {programs} busy: {table(measure(takes, percent, programs))}")


if __name__ == "__main__":
    main()
