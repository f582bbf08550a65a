"""Says a few words in a long silence, so that a person knows that their request is worked on.

    release                                                    the answer's first word
       |----------- FILLER_AFTER_S -----------| "One moment."         |

Once in a turn at most, only to those who asked aloud, and never over anybody.
"""

from typing import Literal

from sayso.server.turn.regions.capture import CaptureRegion
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.request import RequestRegion
from sayso.server.turn.regions.shared_state import SharedState

FILLER_AFTER_S = 1.2
"""Silence while work goes on, after which a few words say that it does. Shorter pauses are usual in
talk between people; after longer ones they ask "are you there?"."""


class Filler:
    """Watches for silence."""

    def __init__(
        self,
        shared: SharedState,
        capture: CaptureRegion,
        work: RequestRegion,
        playback: PlaybackRegion,
        wanted: Literal["on", "off"],
    ) -> None:
        self._wanted = wanted
        self._shared = shared
        self._capture = capture
        self._work = work
        self._playback = playback
        self._silent_since = 0.0
        self._was_silent = True
        self._filled_turn = 0
        """The last turn in which something was said."""
        self._count = 0

    @property
    def deadline(self) -> float:
        """When the silence will have lasted too long."""
        if not self._is_wanted or self._filled_turn == self._shared.ticket.turn:
            return float("inf")
        return self._silent_since + FILLER_AFTER_S

    def look_at_the_clock(self) -> None:
        """Say something when it is time."""
        if self.deadline <= self._shared.now:
            self._filled_turn = self._shared.ticket.turn
            acting = self._work.state == "acting"
            self._playback.say_aside("acting" if acting else "thinking", self._count)
            self._count += 1

    def follow(self) -> None:
        """After every event: is it silent?"""
        silent = not self._playback.is_speaking and not self._capture.is_anybody_speaking
        if silent and not self._was_silent:
            self._silent_since = self._shared.now
        self._was_silent = silent

    @property
    def _is_wanted(self) -> bool:
        request = self._work.request
        device = self._shared.devices.get(self._playback.device or "")
        return (
            self._wanted == "on"
            and request is not None
            and device is not None
            and device.language != ""
            and request.spoken
            and self._work.owes_words
            and self._work.state in ("thinking", "acting")
            and not self._playback.is_speaking
            and not self._playback.is_held
            and not self._capture.somebody_speaks
        )
