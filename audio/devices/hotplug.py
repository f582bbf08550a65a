"""Looks for a microphone or a loudspeaker until there is one; notices when cards come and go.

open ──▶ (device gone) ──▶ DeviceChange lost ──▶ look again
  ▲                                                  │
  └────── DeviceChange back, or fallback ◀───────────┘

What stands in for the wanted device gives way when that is plugged in again.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Generic, Literal, Protocol, TypeVar

from sayso.audio.devices.microphone import DeviceChange
from sayso.audio.devices.sound_cards import Device, Direction, SoundCards
from sayso.audio.errors import AudioError, DeviceUnavailable

log = logging.getLogger(__name__)

DEAD_SECONDS = 4.0
"""A device that neither gives nor takes for so long is gone, even if nobody says so. Sound servers
have been seen to pause for two seconds when they change their buffers."""
LOOK_AGAIN_SECONDS = 1.0
"""Between two looks for a device that has just gone: starting PortAudio afresh takes a tenth of
that. Whether a card came or went is seen as often, and costs nothing."""
LOOK_RARELY_SECONDS = 20.0
"""What that grows to: who has no microphone and only types pays a thousandth of a core. A card that
is plugged in is noticed at once on Linux; this is for what no system tells of."""
GROWS = 1.25
SETTLE_SECONDS = 2.0
"""Until a card that came can be opened; meanwhile the one that stands in for it goes on."""

Cards = Callable[[], SoundCards]
Part = Literal["microphone", "loudspeaker"]


class Open(Protocol):
    """A device in use."""

    @property
    def device(self) -> Device: ...

    def close(self) -> None: ...


Opened = TypeVar("Opened", bound=Open)


class DeviceChanges:
    """Notices that a card was plugged in or pulled out."""

    def __init__(self, cards: Cards) -> None:
        self._cards = cards
        self._looked_at = asyncio.get_running_loop().time()
        self._before = cards().listing()

    def noticed(self) -> bool:
        """True: since it was asked last. Looks once a second, however often it is asked."""
        now = asyncio.get_running_loop().time()
        if now < self._looked_at + LOOK_AGAIN_SECONDS:
            return False
        self._looked_at = now
        before, self._before = self._before, self._cards().listing()
        return self._before != before


class DeviceSearch(Generic[Opened]):
    """Opens the wanted device, or any other in its stead, again and again."""

    def __init__(
        self, cards: Cards, part: Part, wanted: str, open_it: Callable[[Device], Opened]
    ) -> None:
        self._cards = cards
        self._part: Part = part
        self._wanted = wanted
        self._open_it = open_it
        self._changes: DeviceChanges | None = None
        """While another device stands in."""
        self._due: float | None = None
        self._missed = False
        """The person was told that there was none."""
        self._looks = 0
        """What is in use was opened after the look of this number: a later one, for another device,
        has ended it, and it need not be looked for afresh."""

    def may_be_back(self) -> bool:
        """What is in use stands in for the wanted device, and that may be there again."""
        now = asyncio.get_running_loop().time()
        if self._changes is not None and self._changes.noticed():
            self._due = now + SETTLE_SECONDS
        return self._due is not None and now >= self._due

    async def open(self, gone: str = "", *, afresh: bool = False) -> Opened | DeviceChange:
        """Opens a device, or tells why there is none; then `again` is to be called.

        `gone`: the name of the one that was in use. `afresh`: to look at the hardware anew, which
        ends whatever else is open.
        """
        self._missed = True
        ended_by_a_look = self._cards().looks != self._looks
        if gone and not ended_by_a_look:
            return _lost(self._part, gone)
        try:
            device = await _opened(partial(self._look, afresh=afresh))
        except DeviceUnavailable as error:
            if gone:
                return _lost(self._part, gone)
            return DeviceChange(self._part, "lost", self._wanted or "default", str(error))
        self._missed = False
        return device

    def news(self, device: Opened) -> DeviceChange | None:
        """To be asked once for each device that was opened: what the person should know of it."""
        stood_in = self._changes is not None
        stands_in = not _is_wanted(device.device, self._wanted)
        self._changes, self._due = DeviceChanges(self._cards) if stands_in else None, None
        if self._missed or stands_in != stood_in:
            return _found(self._part, device.device, self._wanted)
        return None

    async def again(self) -> Opened:
        """Looks until there is one."""
        changes, rest = DeviceChanges(self._cards), LOOK_AGAIN_SECONDS
        while True:
            due = asyncio.get_running_loop().time() + rest
            while asyncio.get_running_loop().time() < due:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
                if changes.noticed():
                    rest = LOOK_AGAIN_SECONDS
                    break
            try:
                return await _opened(partial(self._look, afresh=True))
            except AudioError as error:
                log.info("no %s yet: %s", self._part, error)
            rest = min(LOOK_RARELY_SECONDS, GROWS * rest)

    def _look(self, *, afresh: bool) -> Opened:
        cards = self._cards()
        if afresh:
            cards.refresh(self._looks)
        self._looks = cards.looks
        direction: Direction = "input" if self._part == "microphone" else "output"
        try:
            return self._open_it(cards.find(direction, self._wanted))
        except DeviceUnavailable:
            if not self._wanted:
                raise
            return self._open_it(cards.find(direction))


async def _opened(work: Callable[[], Opened]) -> Opened:
    """Opens a device in a thread. If we are cancelled meanwhile, it is closed again."""
    opening = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        with suppress(AudioError):
            (await opening).close()
        raise


def _is_wanted(device: Device, wanted: str) -> bool:
    """Nothing stands in for anything."""
    return all(word in device.name.lower() for word in wanted.lower().split())


def _lost(part: Part, name: str) -> DeviceChange:
    return DeviceChange(
        part, "lost", name, f"The {part} {name} is gone: plug it in again, or another one."
    )


def _found(part: Part, device: Device, wanted: str) -> DeviceChange:
    if not _is_wanted(device, wanted):
        detail = f"The {part} {device.name} stands in for {wanted}."
        return DeviceChange(part, "fallback", device.name, detail)
    return DeviceChange(part, "back", device.name, f"The {part} {device.name} is in use.")
