"""Speaks answers, one `Saying` each: text goes to synthesis, sound and events come back."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from sayso.server.speech.synthesis.chunk import best_rate
from sayso.server.speech.synthesis.loudness import USUAL_PERCENT, louder, ringing
from sayso.server.speech.synthesis.session import (
    Chunk,
    Handed,
    MoreSound,
    SpeakingStyle,
    SpeechSynthesis,
    SpokenReply,
    SynthesisFailed,
)
from sayso.server.turn import events
from sayso.server.turn.events import Event, Ticket

RATE_WITHOUT_VOICE: Final = 22_050
"""Samples a second of a tone that no words follow: a usual voice's, which devices know to play."""


class SpokenAnswers:
    """Of one conversation. What comes of them are events."""

    def __init__(self, synthesis: SpeechSynthesis, happened: Callable[[Event], None]) -> None:
        self._synthesis = synthesis
        self._happened = happened
        self._open: dict[Ticket, SpokenReply] = {}

    def say(self, ticket: Ticket, text: str, style: SpeakingStyle, tone: float = 0.0) -> None:
        """The next piece of an answer; its first one decides in which manner it is spoken, and how
        loud a tone (0 to 1) comes before it."""
        if ticket not in self._open:
            sounding = _Sounding(style.volume or USUAL_PERCENT, tone, style.rates)

            def remark(message: str) -> None:
                self._happened(events.SynthesisRemarked(ticket, message))

            self._open[ticket] = self._synthesis.speak(
                partial(self._spoken, ticket, sounding), style, remark
            )
        self._open[ticket].say(text)

    def finish(self, ticket: Ticket) -> None:
        """No further piece comes."""
        if saying := self._open.get(ticket):
            saying.finish()
        else:
            self._happened(events.SynthesisDone(ticket))

    def hush(self, ticket: Ticket) -> None:
        """Not another word of it."""
        if saying := self._open.pop(ticket, None):
            saying.stop()

    def hush_all(self) -> None:
        for ticket in list(self._open):
            self.hush(ticket)

    def _spoken(self, ticket: Ticket, sounding: "_Sounding", chunk: Handed) -> None:
        match chunk:
            case Chunk(text, sound, begun_at, samples, more):
                self._ring(ticket, sounding, sound.rate)
                said = (sound.rate, louder(sound.pcm, sounding.percent), sound.words)
                self._happened(
                    events.ChunkSpoken(ticket, text, *said, begun_at, samples=samples, more=more)
                )
            case MoreSound(pcm, more):
                self._happened(events.SoundCame(ticket, louder(pcm, sounding.percent), more))
            case SynthesisFailed(message=message):
                self._ring(ticket, sounding, best_rate(RATE_WITHOUT_VOICE, sounding.rates))
                self._open.pop(ticket, None)
                self._happened(events.SynthesisFailed(ticket, message))
            case None:
                self._open.pop(ticket, None)
                self._happened(events.SynthesisDone(ticket))

    def _ring(self, ticket: Ticket, sounding: "_Sounding", rate: int) -> None:
        """The tone before the first words, at the rate of all that follows."""
        if sounding.tone:
            pcm, sounding.tone = ringing(rate, sounding.tone), 0.0
            self._happened(events.ChunkSpoken(ticket, "", rate, pcm, ()))


@dataclass(slots=True)
class _Sounding:
    """How one answer sounds."""

    percent: int
    """Its loudness."""
    tone: float
    """How loud a tone is still to come before it; 0: none."""
    rates: tuple[int, ...]
    """Samples a second that the loudspeaker takes; empty: any."""
