"""Detects in what language each device is spoken to, once, and keeps it while it fits.

Finding out costs a Whisper that knows many languages a decoder step for each pass, and short words
are often taken for another language. So the first utterance that is understood well decides, and a
later one that is understood badly makes it be asked again.
"""

from collections import OrderedDict

from sayso.server.speech.recognition.recognizer import Transcript

SURE = 0.5
"""Probability of the language from which it is kept. Short words stay below."""

FITTING = 0.45
"""Confidence in the words under which the language that was kept is doubted: words that are heard
in the wrong language are guesses, and score about a third."""

MOST_DEVICES = 256
"""Devices that are remembered, the latest: those of a household many times over."""


class DeviceLanguages:
    """The languages of all devices."""

    def __init__(self) -> None:
        self._languages: OrderedDict[str, str] = OrderedDict()

    def language_of(self, device: str) -> str:
        """The language that is expected of it; empty if that must be found out."""
        return self._languages.get(device, "")

    def heard(self, device: str, transcript: Transcript) -> None:
        """Something was understood."""
        if not transcript.text:
            return
        if device in self._languages:
            if transcript.confidence < FITTING:
                del self._languages[device]
        elif transcript.language_sure >= SURE and transcript.confidence >= FITTING:
            self._languages[device] = transcript.language
            if len(self._languages) > MOST_DEVICES:
                self._languages.popitem(last=False)
