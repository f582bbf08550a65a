"""Listens to one utterance: recognises it and, without a talk key, finds where it ends."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from sayso.audio.endpointing import AdaptiveSilence
from sayso.audio.voice_gate import VoiceGate
from sayso.server.log_context import log_ids
from sayso.server.speech.recognition.agreement import Partial
from sayso.server.speech.recognition.end_of_speech import EndOfSpeech, Gate
from sayso.server.speech.recognition.recognizer import Transcript
from sayso.server.speech.recognition.session import SpeechRecognition
from sayso.server.turn import events
from sayso.server.turn.effects import Listen
from sayso.server.turn.events import Event, Meaning

ENGLISH_ONLY = (
    "I hear English only. For other languages get a model that hears them, with "
    "`sayso models get base`, and set `ears.model` to base."
)


class UtteranceListener:
    """For one utterance. What it hears are events.

    `language` is what endings are judged by; `fixed_language` is what the device says that it
    speaks, and nothing else is then heard.
    """

    def __init__(
        self,
        listen: Listen,
        ears: SpeechRecognition,
        happened: Callable[[Event], None],
        meaning: Callable[[str], Meaning],
        *,
        language: str,
        fixed_language: str = "",
        make_gate: Callable[[], Gate] = VoiceGate,
    ) -> None:
        self.device = listen.device
        self._utterance = listen.utterance
        self._happened = happened
        self._meaning = meaning
        self._hearing = ears.listen(
            self._partly,
            listen.device,
            self._remark,
            language=fixed_language,
            on_wordless=self._wordless,
        )
        self._ending: EndOfSpeech | None = None
        if listen.mode == "hands_free":
            began = partial(events.VoiceBegan, self._utterance)
            over = partial(events.VoiceEnded, self._utterance)
            self._ending = EndOfSpeech(
                make_gate,
                AdaptiveSilence(language, patience_ms=listen.wait_ms),
                lambda sample: happened(began(sample)),
                lambda reason: happened(over(reason)),
            )

    def feed(self, pcm: bytes) -> None:
        """Take the next samples."""
        with log_ids(device=self.device):
            self._hearing.feed(pcm)
            if self._ending:
                self._ending.feed(pcm)

    async def finish(self) -> Transcript:
        """The utterance is whole: what was said. Raises SpeechError."""
        if self._ending:
            self._ending.stop()
        with log_ids(device=self.device):
            transcript = await self._hearing.finish()
        if not transcript.foreign:
            return transcript
        # Without a key it may be anybody's: what is said aloud would only make them go on.
        spoken = self._ending is None
        said = events.Announced(ENGLISH_ONLY, self.device)
        shown = events.RecognitionRemarked(self._utterance, ENGLISH_ONLY)
        self._happened(said if spoken else shown)
        return replace(transcript, text="")

    def drop(self) -> None:
        """Forget it; nobody wants to know."""
        if self._ending:
            self._ending.stop()
        self._hearing.drop()

    def _remark(self, message: str) -> None:
        self._happened(events.RecognitionRemarked(self._utterance, message))

    def _wordless(self, so_far: bool) -> None:
        if self._ending:
            self._ending.understood("" if so_far else None)

    def _partly(self, understood: Partial) -> None:
        # On the wire the two stand one after the other, as they are shown.
        gap = " " if understood.stable and understood.tail else ""
        tail = gap + understood.tail
        text = understood.stable + tail
        if self._ending:
            self._ending.understood(text)
        partly = events.PartlyHeard(self._utterance, understood.stable, tail, self._meaning(text))
        self._happened(partly)
