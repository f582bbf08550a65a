"""Repeats what a person missed of an answer while their device was disconnected.

    the line breaks ──▶ what was heard until then is noted, the work goes on
    it is back ───────▶ the answer goes on from the sentence that was cut, at once or in a gap

The text of it all is on the screen anyway. What was heard of the answer counts as heard, no more.
"""

import re
from dataclasses import dataclass

from sayso.server.turn.announcements import Announcements
from sayso.server.turn.events import Joined, ReplyDelta, Ticket
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.request import RequestRegion
from sayso.server.turn.regions.shared_state import SharedState

MOST_CHARS = 8_000
"""Of an answer: some ten minutes of speech, which nobody wants read out after the event."""
MOST_DEVICES = 16
"""That are away at a time, in the middle of an answer."""

_SENTENCE = re.compile(r"[^.!?…\n]*[.!?…\n]+[\"')\]]*\s*|[^.!?…\n]+$")


@dataclass(slots=True)
class _Owed:
    ticket: Ticket
    heard_words: int
    text: str


class MissedSpeech:
    """Follows who leaves in the middle of what."""

    def __init__(
        self,
        shared: SharedState,
        playback: PlaybackRegion,
        work: RequestRegion,
        said: Announcements,
    ) -> None:
        self._shared = shared
        self._playback = playback
        self._work = work
        self._announcements = said
        self._ticket = Ticket(0, 0)
        self._reply = ""
        self._owed: dict[str, _Owed] = {}

    def grew(self, event: ReplyDelta) -> None:
        """The answer is this much longer."""
        if event.ticket != self._shared.ticket:
            return
        if event.ticket != self._ticket:
            self._ticket, self._reply = event.ticket, ""
        self._reply = (self._reply + event.text)[:MOST_CHARS]
        for owed in self._owed.values():
            if owed.ticket == event.ticket:
                owed.text = self._reply

    def leaving(self, device: str) -> None:
        """The device's connection breaks. To be called before playback loses it."""
        known = self._shared.devices.get(device)
        spoken_to = self._playback.device == device and self._playback.is_answer
        if not known or not known.speaks or not (spoken_to or self._work.is_of(device)):
            return
        reply = self._reply if self._ticket == self._shared.ticket else ""
        heard = self._playback.heard_words if spoken_to else 0
        self._owed[device] = _Owed(self._shared.ticket, heard, reply)
        while len(self._owed) > MOST_DEVICES:
            del self._owed[next(iter(self._owed))]

    def joined(self, event: Joined) -> None:
        """A device is here; perhaps again. To be called after the request began to speak to it."""
        device = event.device
        owed = self._owed.pop(device, None)
        rest = rest_of(owed.text, owed.heard_words) if owed else ""
        if owed is None or not event.returns or not rest.strip():
            return
        if owed.ticket == self._shared.ticket and self._playback.device == device:
            self._playback.say(rest)
        else:
            self._announcements.say_there(rest, device)


def rest_of(text: str, heard_words: int) -> str:
    """What follows the sentences that were heard whole. In doubt a sentence is said twice."""
    sentences: list[str] = _SENTENCE.findall(text)
    while sentences:
        heard_words -= _spoken_words(sentences[0])
        if heard_words < 0:
            break
        del sentences[0]
    return "".join(sentences)


def _spoken_words(text: str) -> int:
    """At most so many words are spoken for it: a digit may become a word of its own."""
    return sum(1 + sum(map(str.isdigit, word)) for word in text.split())
