"""Announces what nobody asked for: shown at once, said in a gap, so that it interrupts nobody."""

from collections import deque
from dataclasses import dataclass

from sayso.protocol.messages import Announce
from sayso.server.turn.events import Announced, Joined, Ticket
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.shared_state import SharedState
from sayso.server.turn.timing import WAITING_ANNOUNCEMENTS

TRIES = 2
"""How often one is tried if no word of it was heard: something else came at the same moment."""


@dataclass(slots=True)
class _Waiting:
    announced: Announced
    shown: bool
    tries: int = 0
    only_at: Ticket | None = None
    """Its device's person alone is to hear it, and only as long as nothing new is asked."""


class Announcements:
    """Keeps them until there is a gap and somebody to hear them."""

    def __init__(self, shared: SharedState, playback: PlaybackRegion) -> None:
        self._shared = shared
        self._playback = playback
        self._waiting: deque[_Waiting] = deque(maxlen=WAITING_ANNOUNCEMENTS)
        self._current: _Waiting | None = None
        self._ticket = Ticket(0, 0)
        self._heard = False

    def add(self, event: Announced) -> None:
        """Show it on all devices; it is said aloud later."""
        self._waiting.append(_Waiting(event, shown=bool(self._shared.devices)))
        if self._shared.devices:
            self._shared.tell(Announce(event.text))

    def say_there(self, text: str, device: str) -> None:
        """Say this to one device's person, who can read it already."""
        waiting = _Waiting(Announced(text, device), shown=True, only_at=self._shared.ticket)
        self._waiting.appendleft(waiting)

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
        self._heard = self._heard or self._playback.answer_played
        if not self._playback.is_busy or self._shared.ticket != self._ticket:
            current, self._current = self._current, None
            if not self._heard and current.tries < TRIES:
                self._waiting.appendleft(current)

    def say_next(self) -> None:
        """There is a gap: say one, if there is one and somebody who can hear it."""
        if not self._waiting or not self._shared.devices:
            return
        waiting = self._waiting.popleft()
        device = self._place(waiting)
        if device is None:
            return  # There are screens only, and they have shown it.
        waiting.tries += 1
        self._current, self._heard = waiting, False
        self._shared.next_turn()
        self._ticket = self._shared.ticket
        self._playback.open(device, answer=False)
        self._playback.say(waiting.announced.text)
        self._playback.finish()

    def _place(self, waiting: _Waiting) -> Joined | None:
        """Where it belongs; if that device is gone or mute, anywhere rather than nowhere."""
        able = {name: device for name, device in self._shared.devices.items() if device.speaks}
        there = able.get(waiting.announced.device)
        if waiting.only_at:
            return there if waiting.only_at == self._shared.ticket else None
        return there or next(iter(able.values()), None)
