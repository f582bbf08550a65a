"""The question that running code asks the person: it is shown, said, and answered in words.

It is presented as the code's question, and no answer to it approves anything: an approval that is
pending at the same time has its own words, and comes first.
"""

from sayso.protocol.messages import Announce
from sayso.server.turn.effects import AnswerCode
from sayso.server.turn.events import CodeAsked, Meaning, Ticket, TimeAsked
from sayso.server.turn.phrases import words
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.request import RequestRegion
from sayso.server.turn.regions.shared_state import SharedState
from sayso.server.turn.regions.time_question import Stop, TimeQuestion

SHOWN = "The code asks: {text}"
SETTLED = "What the code asked is settled."


class CodeQuestion:
    """At most one at a time, of the work that counts."""

    def __init__(
        self, shared: SharedState, playback: PlaybackRegion, work: RequestRegion, stop: Stop
    ) -> None:
        self._shared = shared
        self._playback = playback
        self._work = work
        self._time = TimeQuestion(shared, playback, work, stop)
        self._id = ""
        self._shown = Announce("")
        self._ticket = Ticket(0, 0)
        self._asked_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether words are waited for."""
        return bool(self._id) and self._ticket == self._shared.ticket and self._runs

    @property
    def _runs(self) -> bool:
        return self._work.state == "acting"

    def asked(self, event: CodeAsked | TimeAsked) -> None:
        """Show it everywhere, and say it where the work was asked for. Without an id, the last one
        is settled. The question of how long it may go on is another one, and beside it."""
        if isinstance(event, TimeAsked):
            self._time.asked(event)
            return
        if event.ticket != self._shared.ticket:
            return
        if self._id and not event.id and self._shown.choices:
            self._shared.tell(Announce(SETTLED, "low", question=self._id))
        self._id, self._ticket, self._asked_at = event.id, event.ticket, self._shared.now
        if not event.id:
            return
        choices = f" ({' / '.join(event.choices)})" if event.choices else ""
        text = SHOWN.format(text=event.text + choices)
        self._shown = Announce(text, asks=True, choices=event.choices, question=event.id)
        self._shared.tell(self._shown)
        request = self._work.request
        known = self._shared.devices.get(request.device) if request else None
        if known and request and request.spoken:
            self._work.open_playback()
            offered = f" {', '.join(event.choices)}?" if event.choices else ""
            said = f"{words('code_asks', known.language)} {event.text}{offered}"
            self._playback.say_apart(said)
            self._work.owes_words = False

    def joined(self, device: str) -> None:
        """Show what is open to a device that is here again, or for the first time."""
        self._time.joined(device)
        if self.is_open:
            self._shared.tell(self._shown, device)

    def is_for(self, device: str) -> bool:
        """Whether what is said at this device may be meant for it: the work was asked for there, or
        whoever asked is gone."""
        request = self._work.request
        gone = request is not None and request.device not in self._shared.devices
        return self.is_open and (gone or self._work.is_of(device))

    def takes(
        self, device: str, text: str, began_at: float, meaning: Meaning, *, spoken: bool
    ) -> bool:
        """Whether these words are its answer. Those that began before it are about something else,
        and so is what is said at other devices; what is typed there is not."""
        if not self.is_open or began_at < self._asked_at or not text.strip():
            return self._time.takes(device, text, began_at, meaning, spoken=spoken)
        if spoken and not self.is_for(device):
            return False
        known = self._shared.devices.get(device)
        if known and known.may_approve:
            self._shared.do(AnswerCode(device, self._id, text))
            return True
        if not self.is_for(device):
            return False
        self._playback.say_aside("not_from_here")
        refusal = words("not_from_here", known.language if known else "en")
        self._shared.tell(Announce(refusal, "low"), device)
        return True
