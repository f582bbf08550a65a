"""Counts how often a hands-free device starts by its own voice, where it knows the room least.

    python -m bench.own_voice [TAKES]

Each take is one answer, in a room that is not known yet: as after the microphone was closed. Then
the same with the way from the loudspeaker to the microphone getting longer or shorter in the middle
of it, as it does when a busy machine is late. `opened` is how often the ear opened, and `acted` how
often Whisper understood there what are not Sayso's own words.
"""

import asyncio
import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.hands_free import ANSWERS, openings, say
from bench.support.room_acoustics import RATE, Room, Sound
from sayso.protocol.home import Home
from sayso.server.models import InstalledModels
from sayso.server.speech.engines.piper.synthesizer import PiperSynthesizer
from sayso.server.speech.engines.whisper.recognizer import WhisperRecognizer
from sayso.server.turn.relevance.backchannel import is_backchannel
from sayso.server.turn.relevance.own_words import is_own_voice

LEVELS_DB = (-13.0, -24.0)
TAKES = 20
JUMPS_S = (-0.06, -0.02, 0.02, 0.06, 0.12)
DELAYS_S = (0.06, 0.18)
DRIFT_PPM = 30.0


@dataclass
class Count:
    """Of one kind of takes."""

    takes: int = 0
    opened: int = 0
    acted: int = 0


async def measure(takes: int = TAKES) -> dict[str, Count]:
    """So many takes of each kind, by what they are."""
    installed = InstalledModels(Home.find())
    voice = installed.ready("voice", "en_US-joe-medium").path
    mouth = PiperSynthesizer(voice, seed=secrets.randbelow(2**31))
    whisper = WhisperRecognizer(installed.ready("ears", "tiny.en").path)
    await asyncio.gather(mouth.start(), whisper.start())
    found: dict[str, Count] = {}
    try:
        for level_db in LEVELS_DB:
            for kind in ("not known", "jumps"):
                count = found[f"{level_db:g} dB, {kind}"] = Count()
                for number in range(takes):
                    text = ANSWERS[number % len(ANSWERS)].replace("\n", " ")
                    far = await say(mouth, text)
                    echo = _echo(far, level_db, jumps=kind == "jumps")
                    count.takes += 1
                    for words in _opened(far, echo):
                        count.opened += 1
                        heard = (await whisper.transcribe(words)).text
                        own = is_backchannel(heard) or is_own_voice(heard, [text])
                        count.acted += bool(heard) and not own
                print(table(found).splitlines()[-1], flush=True)
    finally:
        await mouth.close()
        await whisper.close()
    return found


def _echo(far: Sound, level_db: float, *, jumps: bool) -> Sound:
    chance = np.random.default_rng()
    delay_s = chance.uniform(*DELAYS_S)
    echo = Room(level_db, delay_s, DRIFT_PPM).echo(far)
    if jumps:
        at = int(chance.uniform(0.3, 0.7) * len(far))
        after = Room(level_db, delay_s + chance.choice(JUMPS_S), DRIFT_PPM).echo(far)
        echo = np.concatenate([echo[:at], after[at:]])
    return echo + Room(level_db, 0.0).hiss(len(far))


def _opened(far: Sound, echo: Sound) -> Iterator[bytes]:
    silence = np.zeros(2 * RATE)
    far, echo = np.concatenate([far, silence]), np.concatenate([echo, silence])
    return (sound for _, sound in openings(far, echo, np.zeros(len(far))))


def table(found: dict[str, Count]) -> str:
    """For people."""
    head = f"{'':24}{'takes':>8}{'opened':>8}{'acted':>8}"
    rows = (f"{kind:24}{c.takes:8}{c.opened:8}{c.acted:8}" for kind, c in found.items())
    return "\n".join([head, *rows])


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else TAKES))
