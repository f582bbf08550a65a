"""Takes what is said while a request is worked on, so that it ends nothing that it does not say.

    a reflex                 is answered, and ends nothing; also while another device is spoken to
    a yes at another device  is told that it counts where the question was asked
    "stop after this"        ends the work when what runs now has ended
    fewer, or more updates   is noted until the request is over (`Narrator`)
    about code that waits    is answered, and the code goes on waiting
    about code that runs     is answered, and the code goes on
    anything else            is told to the model before its next reply (`RequestRegion`)

Each is acknowledged where it was said, aloud and on the screen.
"""

from collections.abc import Sequence

from sayso.protocol.messages import Announce
from sayso.server.turn import events
from sayso.server.turn.announcements import Announcements
from sayso.server.turn.during_work.narration_phrases import update_wish
from sayso.server.turn.during_work.narrator import Narrator
from sayso.server.turn.during_work.question_about_code import (
    asks_about_code,
    asks_about_running_code,
)
from sayso.server.turn.effects import AnswerAside, ExplainCode, StopAfter
from sayso.server.turn.phrases import Aside, words
from sayso.server.turn.regions.request import RequestRegion
from sayso.server.turn.regions.shared_state import SharedState
from sayso.server.turn.request import Request

MeanwhileHappened = (
    events.SteerKept | events.LeftEnded | events.AsideAnswered | events.BackgroundChanged
)


class WordsDuringWork:
    """Of one conversation."""

    def __init__(
        self,
        shared: SharedState,
        work: RequestRegion,
        announcements: Announcements,
        narrator: Narrator,
    ) -> None:
        self._shared = shared
        self._work = work
        self._announcements = announcements
        self._narrator = narrator
        self._count = 0

    def take(self, words: Request, meaning: events.Meaning) -> bool:
        """Whether these words are dealt with, and no request."""
        if self._work.state == "idle" and not self._work.is_elsewhere(words.device):
            return False
        if meaning == "aside" and not self._work.has_half(words.device):
            self._shared.do(AnswerAside(words.device, words.text, words.spoken))
            return True
        if self._work.state == "idle":
            return False
        if meaning == "stop_after":
            self._shared.do(StopAfter(self._shared.ticket, words.device))
            self._work.stops_after = True
            self.say("stopping_after", words.device, spoken=words.spoken)
            return True
        if wish := update_wish(words.text):
            self._narrator.wants(wish)
            self.say("steered", words.device, spoken=words.spoken)
            return True
        if meaning == "yes" and self._work.state == "awaiting_approval":
            self.say("not_from_here", words.device, spoken=words.spoken)
            return True
        return False

    def take_question(self, words: Request) -> bool:
        """Whether these words ask about code that waits for a yes, or that runs."""
        if self._work.state == "awaiting_approval":
            asks = asks_about_code(words.text)
        else:
            asks = self._work.runs_code and asks_about_running_code(words.text)
        if not asks:
            return False
        self._shared.do(ExplainCode(self._shared.ticket, words.device, words.text, words.spoken))
        return True

    def happened(self, event: MeanwhileHappened) -> None:
        """Something came of what was said, or goes on in the background."""
        match event:
            case events.BackgroundChanged():
                self._shared.in_background = event.goes_on
            case events.SteerKept():
                self._acknowledge(event)
            case events.LeftEnded():
                self._ended_too(event)
            case events.AsideAnswered():
                self._answered(event)

    def _answered(self, event: events.AsideAnswered) -> None:
        """There is an answer; without one the words are about the work, or a request."""
        if event.text:
            question = self._work.question_at(event.device) if event.by_model else ""
            shown = f"{event.text} {question}".strip()
            self._shared.tell(Announce(shown, "low", answers=True), event.device)
            self._announcements.answer(event.text, event.device)
        else:
            asked = Request(event.device, event.asked, self._shared.now, event.spoken)
            self._work.ask(asked)

    def not_taken_up(self, untold: Sequence[Request]) -> None:
        """The work was stopped before the model was told these."""
        for each in untold:
            known = self._shared.devices.get(each.device)
            said = words("not_taken_up", known.language if known else "en").format(text=each.text)
            self._tell(said, each.device, spoken=each.spoken)

    def _ended_too(self, event: events.LeftEnded) -> None:
        """Work was stopped, and with it what it had left in the background."""
        known = self._shared.devices.get(event.device)
        text = words("also_ended", known.language if known else "en").format(text=event.titles)
        self._tell(text, event.device, spoken=True)

    def _acknowledge(self, kept: events.SteerKept) -> None:
        """Words were passed on. Of work that was stopped since, more than that was said."""
        if kept.ticket == self._shared.ticket:
            self.say("steered", kept.device, spoken=kept.spoken)

    def say(self, aside: Aside, device: str, *, spoken: bool) -> None:
        """A few words in the language of the device."""
        if known := self._shared.devices.get(device):
            self._count += 1
            text = words(aside, known.language, self._count)
            self._tell(text, device, spoken=spoken, now_only=True)

    def _tell(self, text: str, device: str, *, spoken: bool, now_only: bool = False) -> None:
        self._shared.tell(Announce(text, "low", answers=True), device)
        if spoken:
            self._announcements.answer(text, device, now_only=now_only)
