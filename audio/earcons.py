"""Short sounds that say something without words, made from sines: no file needs to be shipped."""

import math
from array import array
from typing import Literal

from sayso.audio.pcm import from_samples

Earcon = Literal["listening", "done", "error"]

_NOTES: dict[Earcon, tuple[tuple[float, float], ...]] = {
    # (hertz, seconds): a rising fourth asks, a falling one rests, a low third says no. All are over
    # in 0.2 s, before they are in anybody's way.
    "listening": ((659.3, 0.07), (880.0, 0.09)),
    "done": ((880.0, 0.07), (659.3, 0.09)),
    "error": ((329.6, 0.09), (261.6, 0.11)),
}
_PEAK = 0.16
"""Of full scale: clearly quieter than speech."""
_EDGE_SECONDS = 0.008
"""Each note fades in and out, or it would click."""


def earcon(name: Earcon, rate: int) -> bytes:
    """Makes the sound as PCM16 mono."""
    samples = array("h")
    for hertz, seconds in _NOTES[name]:
        count = int(seconds * rate)
        edge = max(1, int(_EDGE_SECONDS * rate))
        for position in range(count):
            envelope = min(1.0, position / edge, (count - 1 - position) / edge)
            angle = 2 * math.pi * hertz * position / rate
            # A little of the octave makes it sound like a bell rather than a test tone.
            wave = 0.8 * math.sin(angle) + 0.2 * math.sin(2 * angle)
            samples.append(int(32_767 * _PEAK * envelope * wave))
    return from_samples(samples)
