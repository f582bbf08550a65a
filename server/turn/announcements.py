"""Announces what is no answer of the work's: shown at once, said in a gap, so that it interrupts
nobody. A gap is between two answers, and while code is at work for one.
"""

from collections import deque
from dataclasses import dataclass

from sayso.protocol.messages import Announce
from sayso.server.turn.events import Announced, Joined, Ticket
from sayso.server.turn.regions.capture import CaptureRegion
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.request import RequestRegion
from sayso.server.turn.regions.shared_state import SharedState

WAITING_ANNOUNCEMENTS = 32
"""Reminders that may wait for a gap, or for a device; beyond, the oldest stay on the screen only.
Nobody sets so many for one minute."""

TRIES = 2
"""How often one is tried if no word of it was heard: something else came at the same moment."""


@dataclass(slots=True)
class _Waiting:
    announced: Announced
    shown: bool
    tries: int = 0
    there_only: bool = False
    """Its device's person alone is to hear it."""
    was_asked: bool = False
    """Its person waits for it."""
    only_at: Ticket | None = None
    """It is of interest only as long as nothing new is asked."""


class Announcements:
    """Keeps them until there is a gap and somebody to hear them."""

    def __init__(
        self,
        shared: SharedState,
        capture: CaptureRegion,
        work: RequestRegion,
        playback: PlaybackRegion,
    ) -> None:
        self._shared = shared
        self._capture = capture
        self._work = work
        self._playback = playback
        self._waiting: deque[_Waiting] = deque(maxlen=WAITING_ANNOUNCEMENTS)
        self._answers: deque[_Waiting] = deque(maxlen=WAITING_ANNOUNCEMENTS)
        """What was asked for; it comes first."""
        self._current: _Waiting | None = None
        self._ticket = Ticket(0, 0)
        self._heard = False
        self._within = False
        """The current one is said while an answer is worked on."""

    def add(self, event: Announced) -> None:
        """Show it on all devices; it is said aloud later."""
        self._waiting.append(_Waiting(event, shown=bool(self._shared.devices)))
        if self._shared.devices:
            self._shared.tell(Announce(event.text))

    def say_there(self, text: str, device: str) -> None:
        """Say this to one device's person, who can read it already."""
        ticket = self._shared.ticket
        waiting = _Waiting(Announced(text, device), shown=True, there_only=True, only_at=ticket)
        self._waiting.appendleft(waiting)

    def answer(self, text: str, device: str, *, now_only: bool = False) -> None:
        """Say this to one device's person, who asked for it and can read it already, as soon as
        nothing else is said. `now_only`: it is of no interest once the work has ended."""
        at = self._shared.ticket if now_only else None
        waiting = _Waiting(
            Announced(text, device), shown=True, there_only=True, was_asked=True, only_at=at
        )
        self._answers.append(waiting)

    def joined(self, device: str) -> None:
        """Show what came up while nobody was there."""
        for waiting in self._waiting:
            if not waiting.shown:
                waiting.shown = True
                self._shared.tell(Announce(waiting.announced.text), device)

    def follow(self) -> None:
        """Note how far the current one is; if it was cut before its first word, it waits again."""
        if not self._current:
            return
        playback = self._playback
        played = playback.interjection_played if self._within else playback.answer_played
        self._heard = self._heard or played
        over = not playback.is_speaking if self._within else not playback.is_busy
        if over or self._shared.ticket != self._ticket:
            current, self._current = self._current, None
            if not self._heard and current.tries < TRIES:
                (self._answers if current.was_asked else self._waiting).appendleft(current)

    def say_in_gap(self) -> None:
        """Say one, if this is a gap."""
        somebody_speaks = self._capture.somebody_speaks
        if not self._work.is_busy and not somebody_speaks:
            self._say_next()
        between = self._work.state != "idle" and not self._playback.is_occupied
        if between and not self._capture.is_anybody_speaking:
            self._say_within(unasked=self._work.is_at_work and not somebody_speaks)

    def _say_next(self) -> None:
        """There is a gap: say one, if there is one and somebody who can hear it."""
        if said := self._take(self._answers or self._waiting):
            waiting, device = said
            self._shared.next_turn()
            self._begin(waiting, within=False)
            self._playback.open(device, answer=False)
            self._playback.say(waiting.announced.text, waiting.announced.tone)
            self._playback.finish()

    def _say_within(self, *, unasked: bool) -> None:
        """There is a gap while an answer is worked on: say one, and without `unasked` only what
        its person asked for. What waits for a yes there is put again after it, so that a yes is
        never to what was said in between."""
        if said := self._take(self._answers or (self._waiting if unasked else self._answers)):
            waiting, device = said
            self._begin(waiting, within=True)
            text = f"{waiting.announced.text} {self._work.question_at(device.device)}".strip()
            self._playback.interject(device, text, waiting.announced.tone)

    def _take(self, queue: deque[_Waiting]) -> tuple[_Waiting, Joined] | None:
        """The next of these, and the device where it is said. What nobody can hear is left out:
        screens have shown it."""
        while queue and self._shared.devices:
            waiting = queue.popleft()
            if device := self._place(waiting):
                return waiting, device
        return None

    def _begin(self, waiting: _Waiting, *, within: bool) -> None:
        waiting.tries += 1
        self._current, self._heard, self._within = waiting, False, within
        self._ticket = self._shared.ticket

    def _place(self, waiting: _Waiting) -> Joined | None:
        """Where it belongs; if that device is gone or mute, anywhere rather than nowhere."""
        able = {name: device for name, device in self._shared.devices.items() if device.speaks}
        there = able.get(waiting.announced.device)
        if waiting.only_at and waiting.only_at != self._shared.ticket:
            return None
        if waiting.there_only:
            return there
        return there or next(iter(able.values()), None)
