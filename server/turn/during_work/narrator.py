"""Tells in a few words that long work goes on, where it was asked for aloud. Pure.

    news (a step that took long has ended, one failed,
    or the next of the plan begins)                     in the next gap, 20 s after anything said
    silence for a minute                                "Still at it."
    every 3 minutes of silence after that               the same, and that "stop" ends it

It never speaks over anybody nor over an answer, and has sentences of its own alone: no path, code
or symbol can be among them. News that the model tells itself is none.
"""

from typing import Literal, NamedTuple

from sayso.protocol.messages import CodeEnd, CodeStart
from sayso.server.turn.during_work.narration_phrases import Narration, narrated
from sayso.server.turn.events import AgentMessage, ReplyDelta
from sayso.server.turn.regions.capture import CaptureRegion
from sayso.server.turn.regions.playback import PlaybackRegion
from sayso.server.turn.regions.request import RequestRegion
from sayso.server.turn.regions.shared_state import SharedState

APART_S = 20.0
"""Between anything that was said and news: three in a minute at most."""
SELDOM_S = 60.0
"""The same for a person who wants fewer."""
LONG_S = 15.0
"""What took longer is news when it ends: the person has turned to something else by then."""
FIRST_HEARTBEAT_S = 60.0
"""Silence after which "is it still there?" is asked."""
HEARTBEAT_S = 180.0
"""Later ones: it is known by then that it takes long."""

PLAN = "plan"
"""Stands for the language of a plan."""


class _News(NamedTuple):
    kind: Narration
    seconds: int = 0
    """How long it took."""
    step: tuple[int, int] = (0, 0)
    """Which of how many begins."""


def step_of(plan: str) -> tuple[int, int]:
    """Which step of a plan is worked on, from 1, and how many it has; 0 if none is."""
    lines = plan.splitlines()
    at = next((at for at, line in enumerate(lines, 1) if line.startswith(">")), 0)
    return at, len(lines)


Wish = Literal["usual", "fewer"]


class Narrator:
    """Of one conversation."""

    def __init__(
        self,
        shared: SharedState,
        capture: CaptureRegion,
        work: RequestRegion,
        playback: PlaybackRegion,
        wanted: Literal["on", "off"],
    ) -> None:
        self._is_on = wanted == "on"
        self._shared = shared
        self._capture = capture
        self._work = work
        self._playback = playback
        self._turn = 0
        self._began_at = 0.0
        self._quiet_since = 0.0
        self._news: _News | None = None
        """What has happened since something was said."""
        self._heartbeats = 0
        self._wish: Wish = "usual"

    def wants(self, wish: Wish) -> None:
        """How often the person wants to be told, until this request is over."""
        self._follow_turn()
        self._wish = wish

    def told(self, event: AgentMessage) -> None:
        """The agent had a message for the devices."""
        self._follow_turn()
        message = event.message if event.ticket == self._shared.ticket else None
        if isinstance(message, CodeEnd) and message.status != "refused" and not message.job:
            failed = message.status in ("error", "died")
            if message.seconds > LONG_S:
                kind: Narration = "failed_late" if failed else "ended"
                self._news = _News(kind, round(message.seconds))
            elif failed and self._wish == "usual":
                self._news = _News("failed")
        elif isinstance(message, CodeStart) and message.language == PLAN:
            step, count = step_of(message.code)
            if 1 < step <= count and self._wish == "usual":  # the first is no news
                self._news = _News("step", step=(step, count))

    def replied(self, event: ReplyDelta) -> None:
        """The model says something itself."""
        if event.ticket == self._shared.ticket and event.text.strip():
            self._news = None

    @property
    def deadline(self) -> float:
        """When something is to be said, if nothing happens before."""
        if not self._may_speak:
            return float("inf")
        apart = SELDOM_S if self._wish == "fewer" else APART_S
        seldom = self._heartbeats > 0 or self._wish == "fewer"
        since = max(self._quiet_since, self._playback.quiet_since)
        heartbeat = since + (HEARTBEAT_S if seldom else FIRST_HEARTBEAT_S)
        return min(heartbeat, since + apart) if self._news else heartbeat

    def look_at_the_clock(self) -> None:
        """Say something when it is time."""
        request = self._work.request
        device = self._shared.devices.get(request.device) if request else None
        if device is None or self.deadline > self._shared.now:
            return
        if self._news:
            news, self._news = self._news, None
        else:
            self._heartbeats += 1
            seconds = round(self._shared.now - self._began_at)
            news = _News("still" if self._heartbeats == 1 else "still_or_stop", seconds)
        self._work.open_playback()
        self._quiet_since = self._shared.now
        self._playback.interject(
            device, narrated(news.kind, device.language, news.seconds, news.step)
        )

    def follow(self) -> None:
        """After every event: since when is it silent?"""
        self._follow_turn()
        if self._playback.is_speaking or self._capture.somebody_speaks:
            self._quiet_since = self._shared.now

    def _follow_turn(self) -> None:
        if self._turn != self._shared.ticket.turn:
            self._turn = self._shared.ticket.turn
            self._began_at = self._quiet_since = self._shared.now
            self._news, self._heartbeats, self._wish = None, 0, "usual"

    @property
    def _may_speak(self) -> bool:
        request = self._work.request
        device = self._shared.devices.get(request.device) if request else None
        return (
            self._is_on
            and request is not None
            and request.spoken
            and device is not None
            and device.speaks
            and device.language != ""
            and self._work.is_at_work
            and self._work.state in ("thinking", "acting")
            and not self._playback.is_occupied
            and not self._capture.somebody_speaks
        )
