"""Listens to one utterance: recognises it and, without a talk key, finds where it ends."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from sayso.audio.voice_gate import VoiceGate
from sayso.server.log_context import log_ids
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.recognition.agreement import Partial
from sayso.server.speech.recognition.end_of_speech import EndOfSpeech, Gate
from sayso.server.speech.recognition.endpointing import AdaptiveSilence
from sayso.server.speech.recognition.recognizer import Transcript
from sayso.server.speech.recognition.rival_devices import Rivals, Voice
from sayso.server.speech.recognition.session import SpeechRecognition
from sayso.server.turn import events
from sayso.server.turn.effects import Listen
from sayso.server.turn.events import Event, Meaning
from sayso.server.turn.relevance.address import without_wake_word

ENGLISH_ONLY = (
    "I hear English only. For other languages get a model that hears them, with "
    "`sayso models get base`, and set `ears.model` to base."
)
SETTLING: Final[tuple[Meaning, ...]] = ("stop", "stop_after", "yes", "no")

HEARD_BETTER = "Another device of yours heard that better, and does it."


class UtteranceListener:
    """For one utterance. What it hears are events.

    `language` is what endings are judged by; `fixed_language` is what the device says that it
    speaks, and nothing else is then heard.
    """

    def __init__(
        self,
        listen: Listen,
        recognition: SpeechRecognition,
        happened: Callable[[Event], None],
        meaning: Callable[[str], Meaning],
        rivals: Rivals,
        *,
        language: str,
        fixed_language: str = "",
        make_gate: Callable[[], Gate] = VoiceGate,
    ) -> None:
        self.device = listen.device
        self._addressed = listen.addressed is not False
        self._utterance = listen.utterance
        self._happened = happened
        self._meaning = meaning
        self._hearing = recognition.listen(
            self._partly,
            listen.device,
            self._remark,
            language=fixed_language,
            on_wordless=self._wordless,
        )
        self._rivals = rivals
        self._voice: Voice | None = None
        """Without a key: other devices may hear it, too."""
        self._ending: EndOfSpeech | None = None
        if listen.mode == "hands_free":
            over = partial(events.VoiceEnded, self._utterance)
            self._ending = EndOfSpeech(
                make_gate,
                AdaptiveSilence(language, patience_ms=listen.wait_ms),
                self._began,
                lambda reason: happened(over(reason)),
                lambda: self._hearing.understood_until,
            )

    def feed(self, pcm: bytes) -> None:
        """Take the next samples."""
        with log_ids(device=self.device):
            self._hearing.feed(pcm)
            if self._voice:
                self._voice.feed(pcm)
            if self._ending:
                self._ending.feed(pcm)

    async def finish(self) -> Transcript:
        """The utterance is whole: what was said. Raises SpeechError."""
        if self._ending:
            self._ending.stop()
        with log_ids(device=self.device):
            try:
                transcript = await self._hearing.finish()
            except SpeechError:
                self._leave_it_to_others()
                raise
        if not transcript.foreign:
            return await self._unless_heard_better(transcript)
        self._leave_it_to_others()
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
        self._leave_it_to_others()
        self._hearing.drop()

    def _began(self, sample: int) -> None:
        self._voice = self._voice or self._rivals.began(self.device, addressed=self._addressed)
        self._happened(events.VoiceBegan(self._utterance, sample))

    async def _unless_heard_better(self, transcript: Transcript) -> Transcript:
        """Nothing was said where another device acts on the same words."""
        if self._voice is None:
            return transcript
        text = without_wake_word(transcript.text)
        settles = self._meaning(text) in SETTLING
        if await self._rivals.is_heard_best(self._voice, text, settles=settles):
            return transcript
        self._happened(events.RecognitionRemarked(self._utterance, HEARD_BETTER))
        return replace(transcript, text="")

    def _leave_it_to_others(self) -> None:
        if self._voice:
            self._rivals.drop(self._voice)

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
