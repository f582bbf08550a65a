"""Settles the approval that waits by a yes or no in words, or says why the yes does not count."""

from dataclasses import dataclass
from typing import Literal, Self

from sayso.protocol.messages import Announce, ApprovalRequest
from sayso.server.turn.effects import AnswerApprovalByWord
from sayso.server.turn.events import Joined, Meaning, Typed
from sayso.server.turn.phrases import Aside, words
from sayso.server.turn.regions import approval_wording
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.request import RequestRegion
from sayso.server.turn.regions.shared_state import SharedState
from sayso.server.turn.utterance import Utterance

SHOWN_S = 1.0
"""A question is out for so long before a yes in words counts: nobody reads it sooner, and a yes
that was meant for the one before may still be on its way."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's yes or no, and what is known of how it was said."""

    device: str
    decision: Literal["yes", "no"]
    began_at: float
    """When its words were begun."""
    question: str | None
    """The approval request that was on the screen then, as far as its device tells."""
    over_speech: bool
    """It was said before the question was heard out."""

    @classmethod
    def spoken(cls, utterance: Utterance, meaning: Meaning) -> Self:
        decision: Literal["yes", "no"] = "yes" if meaning == "yes" else "no"
        began_at, over_speech = utterance.began_at, utterance.over_speech
        return cls(utterance.device, decision, began_at, utterance.question, over_speech)

    @classmethod
    def typed(cls, event: Typed, now: float) -> Self:
        decision: Literal["yes", "no"] = "yes" if event.meaning == "yes" else "no"
        return cls(event.device, decision, now, event.question, over_speech=False)


class SpokenApproval:
    """A no counts at any time; a yes if this device was sent the question whole, long enough before
    the person began, names no other one, it was heard out, and a word can settle it."""

    def __init__(self, shared: SharedState, playback: PlaybackRegion, work: RequestRegion) -> None:
        self._shared = shared
        self._playback = playback
        self._work = work

    def is_given_by(self, device: str, meaning: Meaning) -> bool:
        """Whether words of this meaning, said there, answer it: a yes only where it was asked."""
        if self._work.state != "awaiting_approval":
            return False
        return meaning == "no" or (meaning == "yes" and self._work.is_of(device))

    def settle(self, answer: Answer) -> None:
        """Hand the answer to those who asked, or refuse it aloud and on the screen."""
        question = self._work.question
        if question is None:
            return
        self._work.open_playback()
        refusal = self._why_not(question, answer) if answer.decision == "yes" else None
        if refusal is None:
            opens = question.tap and answer.decision == "yes"
            self._shared.do(
                AnswerApprovalByWord(answer.device, question.id, answer.decision, opens=opens)
            )
        else:
            self._playback.say_aside(refusal)
            self.show(refusal, answer.device)
            if refusal == "not_read_out":
                self._work.put_aloud(question, answer.device)

    def is_late(self, device: str, meaning: Meaning, question: str | None) -> bool:
        """Whether this is a yes or no to an approval that was settled meanwhile. It is an answer to
        nothing that came since, and no request; a yes is told that."""
        waits = self._work.question.id if self._work.question else ""
        late = meaning in ("yes", "no") and bool(question) and question != waits
        if late and meaning == "yes":
            if self._work.is_of(device):
                self._work.open_playback()
                self._playback.say_aside("settled")
            self.show("settled", device)
        return late

    def show(self, aside: Aside, device: str) -> None:
        """Put this on one device's screen."""
        if known := self._shared.devices.get(device):
            self._shared.tell(Announce(words(aside, known.language), "low"), device)

    def _why_not(self, question: ApprovalRequest, answer: Answer) -> Aside | None:
        """Why a yes in words does not count."""
        known = self._shared.devices.get(answer.device)
        shown_at = self._work.shown_at(answer.device)
        if known and not known.may_approve:
            return "not_from_here"
        if question.tap:
            if known and approval_wording.opens_by_word(question, known):
                return self._why_not_heard(question, known, answer)
            return "on_a_screen"
        if known and known.reads_out:
            return self._why_not_heard(question, known, answer)
        if shown_at is None:
            return "not_whole"
        if answer.over_speech:
            return "ask_again"
        if answer.question is not None and answer.question != question.id:
            return "too_soon"
        return "too_soon" if answer.began_at < shown_at + SHOWN_S else None

    def _why_not_heard(
        self, question: ApprovalRequest, known: Joined, answer: Answer
    ) -> Aside | None:
        """Where nothing is shown: it must have been read out, and heard to its last word."""
        if not approval_wording.whole(question, known.language):
            return "not_whole"
        if answer.over_speech or not self._playback.was_read_out:
            return "not_read_out"
        named = answer.question
        return None if named in (None, question.id) else "too_soon"
