"""Holds the sentences that a device without a screen says by itself. They were spoken once by piper
and lie in the package as sound, so that they can be played while no server is there.

`scripts/sentences` speaks them anew after a change.
"""

from pathlib import Path
from typing import Literal

from sayso.audio.earcons import Earcon, earcon
from sayso.audio.pcm import RATE
from sayso.audio.resample import resample
from sayso.audio.wav import parse

Sentence = Literal[
    "ready",
    "away",
    "back",
    "anew",
    "unpaired",
    "refused",
    "microphone_gone",
    "microphone_back",
    "loudspeaker_back",
]
SpokenAs = Literal["sentences", "earcons"]
"""`earcons`: for households that do not speak English, or like it quiet."""

TEXTS: dict[Sentence, str] = {
    "ready": "I am ready.",
    "away": "I can't reach the server. I keep trying.",
    "back": "The server is back.",
    "anew": "The server has started again.",
    "unpaired": "I am not paired with a server. Please pair me.",
    "refused": "The server does not let me in. My log tells why.",
    "microphone_gone": "The microphone is gone. Please plug it in again.",
    "microphone_back": "The microphone is back.",
    "loudspeaker_back": "The loudspeaker is back.",
}
_EARCONS: dict[Sentence, Earcon] = {
    "ready": "listening",
    "away": "error",
    "back": "done",
    "anew": "done",
    "unpaired": "error",
    "refused": "error",
    "microphone_gone": "error",
    "microphone_back": "done",
    "loudspeaker_back": "done",
}
FOLDER = Path(__file__).with_name("spoken")


def sound(saying: Sentence, manner: SpokenAs, rate: int) -> bytes:
    """PCM16 mono at this rate."""
    if manner == "earcons":
        return earcon(_EARCONS[saying], rate)
    return resample(parse((FOLDER / f"{saying}.wav").read_bytes()).data, RATE, rate)
