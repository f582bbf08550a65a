"""How often each wake word is heard: through the gates, as a device listens, and without them.

    python -m bench.wake_words

Piper says each word five times with a pause before the command and five times without, at three
pitches. It says "Mycroft" in several ways, and no model knows some of them: so it is spelled, too.
"""

import asyncio
from collections.abc import Callable

import numpy as np
import soxr

from bench.support.room_acoustics import HISS, RATE, Sound, floats, pcm
from sayso.audio.pcm import FRAME_BYTES
from sayso.audio.voice_gate import VoiceGate
from sayso.audio.wake_word import CHUNK_BYTES, SURE, Spotter, find_wake_word, load
from sayso.protocol.home import Home
from sayso.server.models import InstalledModels
from sayso.server.speech.engines.piper.synthesizer import PiperSynthesizer

SPELLED = {
    "hey jarvis": ("Hey Jarvis",),
    "okay nabu": ("Okay Nabu",),
    "hey mycroft": ("Hey Mycroft", "Hey my croft"),
    "alexa": ("Alexa",),
}
COMMANDS = (
    "what time is it?",
    "turn on the light.",
    "set a timer for five minutes.",
    "stop.",
    "how many files are there?",
)
PITCHES = (0.9, 1.0, 1.12)
PAUSE_S = 0.7
AROUND_S = 1.5
"""Of hiss before and after."""
LOUDNESS = 0.05
"""Root mean square: -26 dB."""


async def measure() -> list[str]:
    """A line for each spelling, with and without a pause."""
    mouth = PiperSynthesizer(InstalledModels(Home.find()).ready("voice", "en_US-joe-medium").path)
    await mouth.start()
    lines = []
    try:
        for word, spellings in SPELLED.items():
            spotter = load(find_wake_word(word))
            for spelling in spellings:
                for pause in (True, False):
                    said = await _all(mouth, spelling, pause=pause)
                    gated = sum(_hears(spotter, sound) for sound in said)
                    free = sum(_knows(spotter, sound) for sound in said)
                    how = "with a pause" if pause else "without one"
                    lines.append(f"{spelling:14}{how:14}{gated:4} of {len(said)}, ungated {free}")
    finally:
        await mouth.close()
    return lines


async def _all(mouth: PiperSynthesizer, spelling: str, *, pause: bool) -> list[bytes]:
    sounds: list[bytes] = []
    for command in COMMANDS:
        parts = [f"{spelling}.", command] if pause else [f"{spelling}, {command}"]
        spoken = [await _say(mouth, part) for part in parts]
        joined = np.concatenate([p for part in spoken for p in (part, _quiet(PAUSE_S))][:-1])
        sounds += [_in_a_room(soxr.resample(joined, RATE * pitch, RATE)) for pitch in PITCHES]
    return sounds


async def _say(mouth: PiperSynthesizer, text: str) -> Sound:
    sound = await mouth.synthesize(text)
    resampled: Sound = soxr.resample(floats(sound.pcm), sound.rate, RATE)
    return resampled * float(LOUDNESS / np.sqrt(np.mean(resampled**2)))


def _quiet(seconds: float) -> Sound:
    return np.zeros(int(seconds * RATE))


def _in_a_room(sound: Sound) -> bytes:
    whole = np.concatenate([_quiet(AROUND_S), sound, _quiet(AROUND_S)])
    return pcm(whole + np.random.default_rng(1).normal(0, HISS, len(whole)))


def _hears(spotter: Spotter, sound: bytes) -> bool:
    spotter.reset()
    gate = VoiceGate()
    frames = _pieces(sound, FRAME_BYTES)
    return any(spotter.take(frame, voice=gate.hears(frame)) for frame in frames)


def _knows(spotter: Spotter, sound: bytes) -> bool:
    """Does the model know the word when it is fed everything?"""
    spotter.reset()
    score: Callable[[bytes], float] = spotter.score
    return max(score(chunk) for chunk in _pieces(sound, CHUNK_BYTES)) >= SURE


def _pieces(sound: bytes, size: int) -> list[bytes]:
    return [sound[at : at + size] for at in range(0, len(sound) - size + 1, size)]


if __name__ == "__main__":
    print("\n".join(asyncio.run(measure())))
