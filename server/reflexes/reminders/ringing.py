"""Rings alarms until somebody stops them, louder by and by.

    due ──▶ ring ──30 s──▶ ring, louder ──30 s──▶ …   ten minutes at most
                └── "stop", "turn off the alarm", "snooze" ──▶ silent

Each round is said like a reminder, with a tone before its words, so that it waits for a gap and is
cut short like any speech. One that came due while nobody was there to hear it is told once they
are, and does not ring.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, Protocol

from sayso.server.reflexes.reminders.reminder import Reminder

EVERY_S: Final = 30.0
"""From round to round: long enough to be asked something, short enough to wake whoever dozes."""

ROUNDS: Final = 19
"""Some ten minutes; who does not hear it by then is not there, and what is left is told."""

MISSED_S: Final = 600.0
"""So late it is told instead of rung: who comes home at noon need not be woken."""

SNOOZED_AFTER_S: Final = 120.0
"""So long after it fell silent it can still be snoozed: a key that is pressed to say so silences
it already."""

SILENT: Final = 0.0
"""How loud the tone is: none."""

FIRST_LOUDNESS: Final = 0.1
STEP: Final = 0.1
"""Each round is so much louder than the one before, up to 1."""


class Announce(Protocol):
    """Says words at a device with a loudspeaker, after a tone this loud (0: without one), both as
    they are right by then; returns when they are on their way, which may be when somebody comes."""

    async def __call__(
        self,
        words: Callable[[], str],
        device: str,
        conversation: str,
        tone: Callable[[], float],
    ) -> None: ...


class Ringing:
    """All alarms that ring."""

    def __init__(
        self,
        announce: Announce,
        owner: Callable[[str], str],
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`owner`: whose a conversation is."""
        self._announce = announce
        self._owner = owner
        self._wall = wall
        self._stops: dict[str, tuple[Reminder, asyncio.Event]] = {}
        self._silenced: dict[str, tuple[Reminder, float]] = {}
        """By person: what was silenced last, and when."""

    async def ring(self, alarm: Reminder, words: Callable[[], str]) -> None:
        """Ring until it is stopped, or was told to somebody who was not there in time."""
        stopped = asyncio.Event()
        self._stops[alarm.id] = (alarm, stopped)
        try:
            for number in range(ROUNDS):
                loudness = min(1.0, FIRST_LOUDNESS + number * STEP)
                tone = partial(self._tone, alarm, loudness)
                await self._announce(words, alarm.device, alarm.conversation, tone)
                if self._is_missed(alarm):
                    return
                with suppress(TimeoutError):
                    async with asyncio.timeout(EVERY_S):
                        await stopped.wait()
                if stopped.is_set():
                    return
        finally:
            del self._stops[alarm.id]

    def _tone(self, alarm: Reminder, loudness: float) -> float:
        return SILENT if self._is_missed(alarm) else loudness

    def _is_missed(self, alarm: Reminder) -> bool:
        return self._wall() - alarm.due >= MISSED_S

    def ringing(self, conversation: str) -> list[Reminder]:
        """What rings for the person whose conversation this is."""
        person = self._owner(conversation)
        return [one for one, _ in self._stops.values() if self._owner(one.conversation) == person]

    def stop(self, conversation: str) -> list[Reminder]:
        """Silence what rings for the person whose conversation this is; returns it."""
        ringing = self.ringing(conversation)
        for alarm in ringing:
            self._stops[alarm.id][1].set()
            self._silenced[self._owner(conversation)] = (alarm, self._wall())
        return ringing

    def is_just_silent(self, conversation: str) -> bool:
        """Whether something that rang for this person was silenced a short while ago."""
        _, at = self._silenced.get(self._owner(conversation), (None, -float("inf")))
        return self._wall() - at <= SNOOZED_AFTER_S

    def snooze(self, conversation: str) -> Reminder | None:
        """Silence what rings, or take what was silenced just now; None if there is neither."""
        self.stop(conversation)
        alarm, at = self._silenced.pop(self._owner(conversation), (None, 0.0))
        return alarm if self._wall() - at <= SNOOZED_AFTER_S else None
