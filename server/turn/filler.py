"""A few words in a long silence, so that a person knows that their request is being worked on.

    release                                                    the answer's first word
       |----------- FILLER_AFTER_S -----------| "One moment."         |

Once in a turn at most, only to those who asked aloud, and never over anybody.
"""

from typing import Literal

from sayso.server.turn.regions.capture import Ears
from sayso.server.turn.regions.playback import Mouth
from sayso.server.turn.regions.request import Work
from sayso.server.turn.regions.shared_state import Floor
from sayso.server.turn.timing import FILLER_AFTER_S


class Filler:
    """Watches for silence."""

    def __init__(
        self, floor: Floor, ears: Ears, work: Work, mouth: Mouth, wanted: Literal["on", "off"]
    ) -> None:
        self._wanted = wanted
        self._floor = floor
        self._ears = ears
        self._work = work
        self._mouth = mouth
        self._silent_since = 0.0
        self._was_silent = True
        self._filled_turn = 0
        """The last turn in which something was said."""
        self._count = 0

    @property
    def deadline(self) -> float:
        """When the silence will have lasted too long."""
        if not self._is_wanted or self._filled_turn == self._floor.ticket.turn:
            return float("inf")
        return self._silent_since + FILLER_AFTER_S

    def look_at_the_clock(self) -> None:
        """Say something when it is time."""
        if self.deadline <= self._floor.now:
            self._filled_turn = self._floor.ticket.turn
            acting = self._work.state == "acting"
            self._mouth.say_aside("acting" if acting else "thinking", self._count)
            self._count += 1

    def follow(self) -> None:
        """After every event: is it silent?"""
        silent = not self._mouth.is_speaking and not self._ears.is_anybody_speaking
        if silent and not self._was_silent:
            self._silent_since = self._floor.now
        self._was_silent = silent

    @property
    def _is_wanted(self) -> bool:
        request = self._work.request
        device = self._floor.devices.get(self._mouth.device or "")
        return (
            self._wanted == "on"
            and request is not None
            and device is not None
            and device.language != ""
            and request.spoken
            and self._work.owes_words
            and self._work.state in ("thinking", "acting")
            and not self._mouth.is_speaking
            and not self._mouth.is_held
            and not self._ears.somebody_speaks
        )
