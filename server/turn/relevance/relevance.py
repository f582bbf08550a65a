"""Decides whether words that nobody pressed a key for were meant for Sayso.

    after the wake word                  always
    where a voice alone was enough       what asks for something; while code runs, only what is
                                         understood without a model ("stop", "what time is it?")
    over speech, without the wake word   nothing that Sayso has just said itself, no "mm-hm"

An answer to a question is always one: to code that asks, and to what Sayso asked last. To the
approval that waits that is a yes or a no; other words are about it if they begin with one, ask what
the code does, or want something else instead.
"""

import re
from typing import Literal

from sayso.server.turn.during_work.new_start import begins_anew
from sayso.server.turn.during_work.question_about_code import asks_about_code
from sayso.server.turn.events import Heard
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.question_from_code import CodeQuestion
from sayso.server.turn.regions.request import RequestRegion
from sayso.server.turn.relevance.backchannel import is_backchannel
from sayso.server.turn.relevance.own_words import is_own_voice, is_short
from sayso.server.turn.utterance import Utterance

ECHO_S = 1.5
"""How long after Sayso fell silent its words may still come back: a loudspeaker's buffers, a room,
and a voice that begins before the last of them is over."""

_YES_OR_NO_FIRST = re.compile(
    r"\W*(?:no|nope|nah|yes|yeah|yep|okay|ok|nein|nee|ja|doch)\b", re.IGNORECASE
)

Ground = Literal["murmur", "own voice", "no request"]


class Relevance:
    """Looks at one utterance at a time; says why it counts for nothing."""

    def __init__(self, playback: PlaybackRegion, work: RequestRegion, code: CodeQuestion) -> None:
        self._playback = playback
        self._work = work
        self._code = code

    def why_dropped(self, heard: Heard, utterance: Utterance) -> Ground | None:
        """None: the words count."""
        if not utterance.hands_free or not heard.text:
            return None
        settles = heard.meaning in ("yes", "no") and self.is_awaited_by(utterance.device)
        if settles or heard.meaning == "stop":
            return None
        answers = self._code.is_for(utterance.device)
        beside = utterance.is_aside or self._work.is_at_work
        if beside and not answers and is_backchannel(heard.text):
            return "murmur"
        if utterance.addressed:
            return None
        if self.is_own(heard.text, utterance):
            return "own voice"
        if utterance.addressed is None or answers or self._is_asked(utterance.device):
            return None
        return None if self._asks(heard) else "no request"

    def _asks(self, heard: Heard) -> bool:
        if heard.meaning in ("yes", "no"):
            return False  # to nothing
        if heard.meaning != "request" or heard.form == "reflex":
            return True
        if heard.form != "request" or self._work.state == "acting":
            return False
        return self._work.state != "awaiting_approval" or _is_about_approval(heard.text)

    def is_own(self, text: str, utterance: Utterance) -> bool:
        """Whether these words are Sayso's own, which the microphone brought back."""
        near = utterance.began_at < self._playback.quiet_since + ECHO_S
        may_be = not utterance.addressed and (utterance.over_speech or near)
        if utterance.over_question and is_short(text):
            return False  # "Start or wait?" is answered with a word of it.
        return may_be and is_own_voice(text, self._playback.lately)

    def is_awaited_by(self, device: str) -> bool:
        """A yes or no to an approval is waited for from this device's person."""
        return self._work.state == "awaiting_approval" and self._work.is_of(device)

    def _is_asked(self, device: str) -> bool:
        approval = self._work.state == "awaiting_approval"
        return not approval and self._playback.asked_last and self._playback.spoke_to(device)


def _is_about_approval(text: str) -> bool:
    """Whether an order or a question is about the code that waits for a yes."""
    said_first = _YES_OR_NO_FIRST.match(text) is not None
    return said_first or asks_about_code(text) or begins_anew(text)
