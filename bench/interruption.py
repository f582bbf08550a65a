"""Measures how long the loudspeaker goes on after an interruption.

The real client in a process of its own plays an answer on a sound card made of software; the key is
pressed in the middle, and what comes out of the loudspeaker is watched. The way from the card back
to the watcher counts, too, so the figure errs on the safe side.

    python -m bench.interruption SERVER COUNT       is that process; `silences` starts it
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import IO

import numpy as np

from sayso.client.devices.sound import find_sound
from sayso.client.options import make_link
from sayso.client.session.session import Session
from sayso.client.terminal.events import FirstAudioPlayed, Seen
from tests.pulse import SoundCard, missing
from tests.rig import Server

RATE = 16_000
BLOCK_S = 0.005
LOUD = 150
"""Of 32767: a block with a sample above it is heard."""
INTO_S = 1.2
"""How far into the answer the key is pressed."""
SPEAKING_S = 0.02
"""Heard so shortly before the press, it was speaking."""
SILENCE_S = 0.2
"""A pause so long is no pause between two syllables."""
QUIET_S = 0.8
"""So long silent, and it is over."""
ANSWER_S = 30.0
"""An answer begins within it, or something is wrong."""


def silences(server: Server, count: int) -> list[float]:
    """Milliseconds from each press to the last sound; empty where there is no sound card."""
    if missing():
        return []
    with SoundCard() as card:
        done = subprocess.run(
            [sys.executable, "-m", "bench.interruption", server.url, str(count)],
            env=server.variables | card.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60 + 4 * count * (INTO_S + QUIET_S) + ANSWER_S,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"The client that is interrupted failed: {done.stderr[-2000:]}")
    return [float(value) for value in json.loads(done.stdout)]


class Watcher:
    """Remembers when the loudspeaker was last heard."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        raw = f"--raw --format=s16le --channels=1 --rate={RATE} --latency-msec=5"
        self._recorder = subprocess.Popen(
            ["parec", "--device=speaker.monitor", *raw.split()],
            env=environment,
            stdout=subprocess.PIPE,
        )
        assert self._recorder.stdout
        self._sound: IO[bytes] = self._recorder.stdout
        self.heard_at = 0.0
        self.begins: list[float] = []
        """When it was heard after a silence."""
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        size = int(BLOCK_S * RATE) * 2
        while block := self._sound.read(size):
            samples = np.frombuffer(block[: len(block) // 2 * 2], "<i2").astype(np.int32)
            if samples.size and np.abs(samples).max() > LOUD:
                now = time.monotonic()
                if now - self.heard_at > SILENCE_S:
                    self.begins.append(now)
                self.heard_at = now

    def close(self) -> None:
        self._recorder.terminate()
        self._recorder.wait()


class Screen:
    """Notices when an answer is heard."""

    def __init__(self) -> None:
        self.playing = asyncio.Event()

    def show(self, seen: Seen) -> None:
        if isinstance(seen, FirstAudioPlayed):
            self.playing.set()


async def _interrupted(server: str, count: int) -> list[float]:
    watcher, screen = Watcher(), Screen()
    sound = await find_sound("", "", "real", screen.show)
    session = Session(make_link(server, "bench"), sound.speaker, screen)
    running = asyncio.create_task(session.run())
    found: list[float] = []
    try:
        while len(found) < count:
            screen.playing.clear()
            session.say("Tell me a story.")
            async with asyncio.timeout(ANSWER_S):
                await screen.playing.wait()
            await asyncio.sleep(INTO_S)
            pressed = time.monotonic()
            session.press()
            await asyncio.sleep(QUIET_S)
            session.cancel()
            after = watcher.heard_at - pressed
            if after > -SPEAKING_S:  # else it was silent anyway, between two words
                found.append(max(0.0, after) * 1000)
    finally:
        await session.leave()
        await running
        watcher.close()
    return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_interrupted(sys.argv[1], int(sys.argv[2])))))
