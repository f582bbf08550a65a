"""Words spoken by piper, as a microphone would record them."""

from typing import TYPE_CHECKING

import numpy as np
import soxr

from sayso.server.speech.recognition.loudness import Samples, from_pcm
from sayso.server.speech.recognition.recognizer import HEARING_RATE

if TYPE_CHECKING:
    from sayso.server.speech.engines.piper.engine import PiperEngine


def spoken(piper: "PiperEngine", text: str) -> Samples:
    """From -1 to 1, at the hearing rate."""
    sound = piper.speak(text)
    heard = soxr.resample(from_pcm(sound.pcm), sound.rate, HEARING_RATE)
    return np.asarray(heard, dtype=np.float32)
