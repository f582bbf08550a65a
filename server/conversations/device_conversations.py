"""Remembers which conversation each device takes part in, so that it comes back to that one.

Each paired device has a conversation of its own, because what is asked and done in one conversation
goes on one after the other: while the kitchen is answered, or its code runs or waits for a yes, the
study is answered, too. Whoever wants the same conversation on two devices takes one of them there,
and it comes back to it. The programs on the server's own machine are one device.
"""

import asyncio

from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Conversation, DeviceEntered, Event
from sayso.server.trust.principal import THIS_DEVICE, Principal


class DeviceConversations:
    """Of all devices."""

    def __init__(self, event_log: EventLog) -> None:
        self._log = event_log
        self._entered: dict[str, list[str]] | None = None
        """By device: the conversations that it was taken to, the last one last."""
        self._one_at_a_time = asyncio.Lock()

    async def entered(self, who: Principal, about: Conversation) -> None:
        """The device takes part in this one from here on. Raises StoreError."""
        async with self._one_at_a_time:
            places = (await self._places()).setdefault(who.device, [])
            if places[-1:] == [about.id]:
                return
            await self._log.append(Event(about.id, "server", DeviceEntered(who.device)))
            places.append(about.id)

    async def last(self, who: Principal, there: list[Conversation]) -> Conversation | None:
        """Where the device was last, of those that there are, the latest first; None if it has no
        place yet. Raises StoreError."""
        by_id = {one.id: one for one in there}
        async with self._one_at_a_time:
            places = await self._places()
        been = [by_id[name] for name in places.get(who.device, ()) if name in by_id]
        if who.device == THIS_DEVICE:
            # Its programs go on with what was talked in last, unless they joined a device.
            joined = been[-1:] if been and been[-1].device else []
            return next(iter(joined or [one for one in there if not one.device]), None)
        if been:
            return been[-1]
        taken = {name for names in places.values() for name in names}
        # Guests have no program here: theirs is from when all their devices had one together.
        free = (one for one in there if one.owner and not one.device and one.id not in taken)
        return next(free, None)

    async def _places(self) -> dict[str, list[str]]:
        if self._entered is None:
            places: dict[str, list[str]] = {}
            for event in await self._log.of_types(DeviceEntered, since=0.0):
                if isinstance(event.record, DeviceEntered):
                    places.setdefault(event.record.device, []).append(event.conversation)
            self._entered = places
        return self._entered
