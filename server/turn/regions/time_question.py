"""The question what to do with work that takes long: it goes on while it is asked.

A yes gives it as much time again, a no stops it, and "in the background" lets it go on there. So
does silence, when its time is up. Any other words are not for it.
"""

import re
from collections.abc import Callable
from typing import Final, Literal

from sayso.protocol.messages import Announce
from sayso.server.turn.effects import UseTime
from sayso.server.turn.events import Meaning, Ticket, TimeAsked
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.request import RequestRegion
from sayso.server.turn.regions.shared_state import SharedState

_ANEW: Final = re.compile(
    r"(yes|yeah|yep|sure|ok|okay|please|go on|go ahead|carry on|continue|keep going)"
    r"( (please|sure|do|go on|go ahead|carry on|continue|keep going|it|with it))*"
)
_BACKGROUND: Final = re.compile(
    r"((yes|please|ok|okay|do|put|send|move|let|go on|continue|it|that|this|run|with) )*"
    r"(in|into|to) (the )?background( please)?"
)
CHOICES: Final = ("Go on", "In the background", "Stop")
"""Words that answer it, for those who would rather choose: the reflexes know the last."""

_TAKEN: Final = {
    "anew": "It may take as long again.",
    "background": "It is to go on in the background.",
}

_NO: Final = re.compile(r"(no|nope|nah|no thanks|no thank you|end it|no stop( it)?)")

Said = Literal["anew", "background", "no"]

Stop = Callable[[str, float | None], None]
"""Stops what a device's person asked for, as their "stop" does; takes when the word was begun, if
it was spoken."""


class TimeQuestion:
    """At most one, of the work that counts."""

    def __init__(
        self, shared: SharedState, playback: PlaybackRegion, work: RequestRegion, stop: Stop
    ) -> None:
        self._shared = shared
        self._playback = playback
        self._work = work
        self._stop = stop
        self._ticket = Ticket(0, 0)
        self._asked_at = 0.0
        self._is_open = False
        self._text = ""

    def asked(self, event: TimeAsked) -> None:
        """Show it everywhere, and say it where the work was asked for."""
        if event.ticket != self._shared.ticket:
            return
        self._ticket, self._asked_at, self._is_open = event.ticket, self._shared.now, True
        self._text = event.text
        self._shared.tell(self._shown)
        if self._work.request and self._work.request.spoken:
            self._work.open_playback()
            self._playback.say_apart(event.text)
            self._work.owes_words = False

    @property
    def _shown(self) -> Announce:
        return Announce(self._text, asks=True, choices=CHOICES, question=self._name)

    @property
    def _name(self) -> str:
        return f"time-{self._ticket.turn}-{self._ticket.gen}"

    @property
    def _waits(self) -> bool:
        return (
            self._is_open and self._ticket == self._shared.ticket and self._work.state == "acting"
        )

    def joined(self, device: str) -> None:
        """Show it to a device that is here again, or for the first time."""
        if self._waits:
            self._shared.tell(self._shown, device)

    def takes(
        self, device: str, text: str, began_at: float, meaning: Meaning, *, spoken: bool
    ) -> bool:
        """Whether these words are its answer. It is the answer of whoever may decide, or asked for
        the work."""
        if not self._waits:
            return False
        known = self._shared.devices.get(device)
        theirs = self._work.is_of(device) or (known is not None and known.may_approve)
        how = _how(text, meaning)
        if how is None or not theirs or began_at < self._asked_at:
            return False
        self._is_open = False
        if how == "no":
            self._stop(device, began_at if spoken else None)
        else:
            self._shared.tell(Announce(_TAKEN[how], "low", question=self._name))
            self._shared.do(UseTime(device, how))
        return True


def _how(text: str, meaning: Meaning) -> Said | None:
    """A yes and a no are understood in the person's own language."""
    words = " ".join(re.findall(r"[a-z]+", text.lower()))
    if meaning == "yes" or _ANEW.fullmatch(words):
        return "anew"
    if _BACKGROUND.fullmatch(words):
        return "background"
    return "no" if meaning == "no" or _NO.fullmatch(words) else None
