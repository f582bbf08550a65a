"""Asks the recognizer for a pass over one utterance, and again when its process died."""

from collections.abc import Callable

from sayso.server.speech.errors import WorkerFailed
from sayso.server.speech.recognition.recognizer import (
    HEARING_RATE,
    Recognizer,
    RecognizerLost,
    Transcript,
)

TRIES = 2
"""How often a pass is made whose recognizer dies under it: a crash must not cost what was said."""

LONG = 10.0
"""Seconds of a pass that tells the language for the rest of its utterance."""

STARTED_AGAIN = (
    "The speech recogniser stopped and is started again. What you said is kept; it takes a moment."
)


class RetryingRecognizer:
    """Asks on behalf of one utterance. Its audio is kept until it is understood."""

    def __init__(
        self, recognizer: Recognizer, language: str, on_trouble: Callable[[str], None]
    ) -> None:
        self._recognizer = recognizer
        self._language = language
        """The one that is expected; empty if it must be found out."""
        self.on_trouble = on_trouble
        self._told = False

    async def ask(self, audio: bytes, prompt: str, *, draft: bool) -> Transcript:
        """One pass. A draft is worth no second try: the next one is on its way anyway."""
        for _ in range(1 if draft else TRIES):
            try:
                heard = await self._recognizer.transcribe(
                    audio, draft=draft, prompt=prompt, language=self._language
                )
            except RecognizerLost:
                self._tell()
                continue
            if not draft and len(audio) >= LONG * HEARING_RATE * 2:
                self._language = self._language or heard.language
            return heard
        raise WorkerFailed(
            "The speech recogniser stopped while it listened to this. Please say it again; "
            "if that happens again, run `sayso doctor`."
        )

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            self.on_trouble(STARTED_AGAIN)
