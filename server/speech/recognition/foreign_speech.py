"""Tells speech in a language that the recogniser does not hear from speech that it hears badly.

A model for one language writes nonsense of that language for every other one, and is unsure of it:
German, French and Spanish sentences to Whisper's tiny.en scored -0.6 to -1.4 in the mean log
probability of a token, English ones -0.3 to -0.6, and with strange names in them -1.0. So one very
unsure sentence is believed to be foreign, and a less unsure one if the device's last was unsure,
too, or its person said that they speak another language.
"""

import math
from collections import OrderedDict

from sayso.server.speech.recognition.recognizer import Transcript

UNSURE = math.exp(-0.75)
"""Confidence under which a sentence may be of another language."""
VERY_UNSURE = math.exp(-1.0)
"""Confidence under which it is taken for one."""
LEAST_WORDS = 3
"""Shorter ones are always unsure, and tell nothing."""
MOST_DEVICES = 256
"""Devices that are remembered, the latest."""


class ForeignSpeech:
    """For a recogniser that hears one language alone."""

    def __init__(self, only: str) -> None:
        """`only`: its language; empty: it hears many, and nothing is foreign to it."""
        self._only = only
        self._unsure: OrderedDict[str, bool] = OrderedDict()
        """By device: whether its last sentence was."""

    def is_foreign(self, device: str, transcript: Transcript, spoken: str) -> bool:
        """Whether this was hardly said in the language that is heard. `spoken`: what the device's
        person says that they speak, if they do."""
        if not self._only or len(transcript.text.split()) < LEAST_WORDS:
            return False
        unsure = transcript.confidence < UNSURE
        known = spoken.partition("-")[0].lower() not in ("", self._only)
        again = known or self._unsure.get(device, False)
        self._unsure[device] = unsure
        while len(self._unsure) > MOST_DEVICES:
            self._unsure.popitem(last=False)
        return transcript.confidence < VERY_UNSURE or (unsure and again)
