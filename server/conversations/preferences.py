"""Stores each device's voice, speed and language in the log, under the device's name."""

import asyncio
import logging
from dataclasses import replace
from typing import Self

from sayso.server.speech.synthesis.loudness import USUAL_PERCENT
from sayso.server.speech.synthesis.session import SpeakingStyle
from sayso.server.store.errors import StoreError
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import DevicePreferred, Event
from sayso.server.turn.events import Preferred

log = logging.getLogger(__name__)


class Preferences:
    """Made by `open`."""

    def __init__(self, event_log: EventLog) -> None:
        self._log = event_log
        self._known: dict[str, DevicePreferred] = {}
        self._writing: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, event_log: EventLog) -> Self:
        """What the log knows. Raises StoreError."""
        preferences = cls(event_log)
        for event in await event_log.of_types(DevicePreferred, since=0.0):
            if isinstance(event.record, DevicePreferred):
                preferences._known[event.record.device] = event.record
        return preferences

    def style(self, device: str) -> SpeakingStyle:
        """How to speak to it; what it did not say is as the settings have it."""
        known = self._known.get(device)
        return (
            SpeakingStyle(known.voice, known.speed or None, known.language, volume=known.volume)
            if known
            else SpeakingStyle()
        )

    def volume(self, device: str) -> int:
        """How loud it is spoken to, in percent."""
        known = self._known.get(device)
        return known.volume if known and known.volume else USUAL_PERCENT

    def note_volume(self, device: str, percent: int, conversation: str) -> None:
        """It is spoken to as loud as this from now on."""
        before = self._known.get(device, DevicePreferred(device))
        self._remember(replace(before, volume=percent), conversation)

    def note(self, preferred: Preferred, conversation: str) -> None:
        """It counts for what is said from now on. Kept in the background, in order."""
        before = self._known.get(preferred.device, DevicePreferred(preferred.device))
        record = DevicePreferred(
            preferred.device,
            before.voice if preferred.voice is None else preferred.voice,
            before.speed if preferred.speed is None else preferred.speed,
            before.language if preferred.language is None else preferred.language,
            before.volume,
        )
        self._remember(record, conversation)

    def _remember(self, record: DevicePreferred, conversation: str) -> None:
        self._known[record.device] = record
        writing = asyncio.create_task(self._keep(Event(conversation, "person", record)))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)

    async def _keep(self, event: Event) -> None:
        try:
            await self._log.append(event)
        except StoreError as problem:
            log.warning("a device's preferences last until Sayso ends: %s", problem)
