"""Measures hands-free listening: does the device hear itself, does it hear "stop" while it speaks,
and what does it cost to do nothing.

The client's real wake gate listens (gates, echo cancellation, pre-roll), and the real Whisper
transcribes what it sends. The rooms are simulated, so that a machine without a room can measure.
"""

import asyncio
import contextlib
import re
import secrets
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import soxr

from bench.support.room_acoustics import RATE, ROOMS, Room, Sound, floats, pcm
from sayso.audio.echo import EchoCanceller
from sayso.audio.pcm import FRAME_SAMPLES as FRAME
from sayso.audio.playback_reference import Heard
from sayso.audio.voice_gate import VoiceGate
from sayso.audio.wake_word import find_wake_word, load
from sayso.client.listening.wake_gate import WakeGate
from sayso.protocol.home import Home
from sayso.server.models import InstalledModels
from sayso.server.speech.engines.piper.synthesizer import PiperSynthesizer
from sayso.server.speech.engines.whisper.recognizer import WhisperRecognizer
from sayso.server.turn.relevance.hurried_stop import is_hurried_stop

ANSWERS = """
The old lighthouse keeper climbed the stairs every evening, counting each of the two hundred steps
under his breath. At the top he lit the great lamp.

You have three meetings today. The first one is at nine thirty with the design team, the second at
eleven, and the last one at a quarter past four.

To make the dough, mix five hundred grams of flour with three hundred millilitres of water, a
spoon of salt and a little yeast, and let it rest for two hours.

I found seven files that match. The largest is four hundred megabytes, the newest was changed
yesterday evening, and two of them are copies of each other.

The speed of light is about three hundred thousand kilometres per second, so sunlight takes a
little more than eight minutes to reach the earth.

It will be cloudy in the morning with a few showers, and sunny in the afternoon with up to
nineteen degrees. Tomorrow stays dry.

The script is finished. It read twelve thousand lines, dropped forty that were broken, and wrote
the averages of each month into a new table.

Once there was a fox who wanted to learn how to sing. He asked the nightingale, who laughed kindly
and said that he should begin by listening.
""".strip().split("\n\n")
"""What it says: ordinary answers, a minute and a half with a breath between them."""
STOPS = ("Stop.", "Stop!", "Stop it.", "Stop that.", "Please stop.", "Okay, stop.")
STOP_SPEEDS = (0.9, 1.1)
PITCHES = (0.88, 1.0, 1.12)
"""The one voice there is, made lower and higher, stands for other people."""
SECONDS = 120
"""Of each room without a word over it."""
BETWEEN_STOPS_S = 3.0
LOOKS_S = (0.5, 0.9, 1.3)
"""When the server looks at what it has heard since the ear opened: every 0.4 s."""
IDLE_SECONDS = 60


def measure(model: Path | None = None) -> dict[str, float]:
    """Gives `false_starts` in ten minutes, `stops_heard` in percent of those that are understood
    when nothing is spoken over, `idle_core_percent` and `tv_core_percent`."""
    home = Home.find()
    answers, stops = asyncio.run(
        _speak(InstalledModels(home).ready("voice", "en_US-joe-medium").path)
    )
    ears = model or InstalledModels(home).ready("ears", "tiny.en").path
    far = _repeat(answers, SECONDS)
    false_starts = sum(len(openings(far, room.echo(far), room.hiss(len(far)))) for room in ROOMS)
    heard, understood = asyncio.run(_stops(ears, answers, stops))
    silence = np.random.default_rng(1).normal(0, 10 / 32_768, IDLE_SECONDS * RATE)
    return {
        "false_starts": float(false_starts),
        "stops_heard": 100 * heard / max(1, understood),
        "idle_core_percent": _cost(silence),
        "tv_core_percent": _cost(_repeat(answers, IDLE_SECONDS)),
    }


def table(figures: Mapping[str, float]) -> str:
    return "\n".join(
        f"{label:<62}{figures[key]:>8.1f}{bound:>12}"
        for key, label, bound in (
            ("false_starts", "false starts by its own voice in 10 minutes", "0"),
            ("stops_heard", 'spoken "stop"s over its own voice that are heard, %', ">= 95"),
            ("idle_core_percent", "of a core in silence, %", "<= 2"),
            ("tv_core_percent", "of a core while a television talks, %", "<= 15"),
        )
    )


async def _speak(voice: Path) -> tuple[list[Sound], list[Sound]]:
    mouth = PiperSynthesizer(voice, seed=secrets.randbelow(2**31))  # no run repeats another's takes
    await mouth.start()
    try:
        answers = [await say(mouth, text) for text in ANSWERS]
        stops = [await say(mouth, text, speed) for text in STOPS for speed in STOP_SPEEDS]
    finally:
        await mouth.close()
    pitched = [soxr.resample(sound, RATE * pitch, RATE) for pitch in PITCHES for sound in stops]
    return answers, pitched


async def say(mouth: PiperSynthesizer, text: str, speed: float = 1.0) -> Sound:
    """As loud as a person at the device."""
    sound = await mouth.synthesize(text, speed=speed)
    resampled: Sound = soxr.resample(floats(sound.pcm), sound.rate, RATE)
    return resampled * float(0.1 / np.sqrt(np.mean(resampled**2)))


def _repeat(sounds: list[Sound], seconds: int) -> Sound:
    breath = np.zeros(RATE // 3)
    once = np.concatenate([part for sound in sounds for part in (sound, breath)])
    return np.resize(once, seconds * RATE)


def openings(far: Sound, echo: Sound, voices: Sound) -> list[tuple[int, bytes]]:
    """Where the ear opened over the answer, in samples, and what it handed on.

    The loudspeaker goes on as loud as before; the real one is lowered then, which helps.
    """
    canceller = EchoCanceller()
    played = b""
    ear = WakeGate(VoiceGate(), None, lambda frame: canceller.take(frame, played), "cancelled")
    found: list[tuple[int, bytes]] = []
    begun, open_until, sent = 0, -1, b""
    for number, at in enumerate(range(0, len(far) - FRAME + 1, FRAME)):
        part = slice(at, at + FRAME)
        played = pcm(far[part])
        words, opening = ear.take(
            pcm(echo[part] + voices[part]),
            open_already=number < open_until,
            speaking=True,
            working=False,
        )
        sent += words
        if opening is not None:
            begun, sent = number, opening.pre_roll
            open_until = number + int(LOOKS_S[-1] * RATE / FRAME)
        if number == open_until:
            found.append((begun * FRAME, sent))
    return found


async def _stops(ears: Path, answers: list[Sound], stops: list[Sound]) -> tuple[int, int]:
    """How many "stop"s are heard over the answers, and how many with nothing over them."""
    whisper = WhisperRecognizer(ears)
    await whisper.start()
    try:
        clear = [stop for stop in stops if await _is_stop(whisper, _alone(stop))]
        heard = 0
        for room in ROOMS:
            heard += await _heard_in(room, whisper, answers, clear)
        return heard, len(clear) * len(ROOMS)
    finally:
        await whisper.close()


async def _heard_in(
    room: Room, whisper: WhisperRecognizer, answers: list[Sound], stops: list[Sound]
) -> int:
    far = _repeat(answers, int(4 + BETWEEN_STOPS_S * (len(stops) + 1)))
    voices = room.hiss(len(far))
    places = [int((4 + BETWEEN_STOPS_S * number) * RATE) for number in range(len(stops))]
    for place, stop in zip(places, stops, strict=True):
        voices[place : place + len(stop)] += stop
    found = openings(far, room.echo(far), voices)
    heard = 0
    for place, stop in zip(places, stops, strict=True):
        end = place + len(stop) + RATE // 4
        looks = [
            sound[: len(sound) - int((LOOKS_S[-1] - look_s) * RATE) * 2]
            for at, sound in found
            if place <= at <= end
            for look_s in LOOKS_S
        ]
        heard += any([await _is_stop(whisper, look, over_answer=True) for look in looks])
    return heard


def _alone(stop: Sound) -> bytes:
    return pcm(np.concatenate([np.zeros(RATE // 2), stop, np.zeros(RATE // 2)]))


async def _is_stop(whisper: WhisperRecognizer, sound: bytes, *, over_answer: bool = False) -> bool:
    text = (await whisper.transcribe(sound)).text.lower()
    return bool(re.search(r"\bstop\b", text)) or (over_answer and is_hurried_stop(text))


def _cost(near: Sound) -> float:
    """Percent of a core that listening to this takes: gates and wake word, not the sound card."""
    ear = WakeGate(
        VoiceGate(),
        load(find_wake_word("hey jarvis")),
        lambda frame: Heard(frame, frame),
        "cancelled",
    )
    raw = pcm(near)
    frames = [raw[at : at + 2 * FRAME] for at in range(0, len(raw) - 2 * FRAME + 1, 2 * FRAME)]
    began = time.process_time()
    for frame in frames:
        ear.take(frame, open_already=False, speaking=False, working=False)
    return 100 * (time.process_time() - began) / (len(frames) / 50)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        print(table(measure()))
