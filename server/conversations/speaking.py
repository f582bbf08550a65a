"""Speaks answers, one `Saying` each: text goes to synthesis, sound and events come back."""

from collections.abc import Callable
from functools import partial

from sayso.server.speech.synthesis.session import (
    Chunk,
    Handed,
    SpeakingStyle,
    SpeechSynthesis,
    SpokenReply,
    SynthesisFailed,
)
from sayso.server.turn import events
from sayso.server.turn.events import Event, Ticket


class SpokenAnswers:
    """Of one conversation. What comes of them are events."""

    def __init__(self, mouth: SpeechSynthesis, happened: Callable[[Event], None]) -> None:
        self._mouth = mouth
        self._happened = happened
        self._open: dict[Ticket, SpokenReply] = {}

    def say(self, ticket: Ticket, text: str, style: SpeakingStyle) -> None:
        """The next piece of an answer; its first one decides in which manner it is spoken."""
        if ticket not in self._open:

            def remark(message: str) -> None:
                self._happened(events.MouthRemarked(ticket, message))

            self._open[ticket] = self._mouth.speak(partial(self._spoken, ticket), style, remark)
        self._open[ticket].say(text)

    def finish(self, ticket: Ticket) -> None:
        """No further piece comes."""
        if saying := self._open.get(ticket):
            saying.finish()
        else:
            self._happened(events.MouthDone(ticket))

    def hush(self, ticket: Ticket) -> None:
        """Not another word of it."""
        if saying := self._open.pop(ticket, None):
            saying.stop()

    def hush_all(self) -> None:
        for ticket in list(self._open):
            self.hush(ticket)

    def _spoken(self, ticket: Ticket, chunk: Handed) -> None:
        match chunk:
            case Chunk(text=text, sound=sound, begun_at=at):
                spoken = events.ChunkSpoken(ticket, text, sound.rate, sound.pcm, sound.words, at)
                self._happened(spoken)
            case SynthesisFailed(message=message):
                self._open.pop(ticket, None)
                self._happened(events.MouthFailed(ticket, message))
            case None:
                self._open.pop(ticket, None)
                self._happened(events.MouthDone(ticket))
