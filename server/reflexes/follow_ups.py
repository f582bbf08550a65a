"""Completes what goes on from what was said before: "Set a timer." … "Ten minutes." Pure."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from sayso.server.reflexes.reflex import Length, Place, Reflex, SetTimer, TellTime

WINDOW_S: Final = 30.0
"""So long after the last sentence one goes on from it; later nobody remembers what was asked."""

MOST_DEVICES: Final = 256
"""Devices whose last sentence is remembered: those of a household many times over."""


class FollowUps:
    """What was said last, by device."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds that only go forward."""
        self._clock = clock
        self._last: OrderedDict[str, tuple[Reflex, float]] = OrderedDict()

    def completed(self, reflex: Reflex, device: str) -> Reflex | None:
        """What it means after what was said before; None if it means nothing by itself."""
        whole = self._whole(reflex, self._latest(device))
        self._last.pop(device, None)
        if whole is not None:
            self._last[device] = (whole, self._clock())
            if len(self._last) > MOST_DEVICES:
                self._last.popitem(last=False)
        return whole

    def fits(self, reflex: Reflex, device: str) -> bool:
        """Whether it means something now."""
        return self._whole(reflex, self._latest(device)) is not None

    def _latest(self, device: str) -> Reflex | None:
        reflex, at = self._last.get(device, (None, 0.0))
        return reflex if self._clock() - at <= WINDOW_S else None

    @staticmethod
    def _whole(reflex: Reflex, before: Reflex | None) -> Reflex | None:
        match reflex, before:
            case Length(seconds), SetTimer(0, name):
                return SetTimer(seconds, name)
            case Place(place, zone), TellTime():
                return TellTime(place, zone)
            case ((Length() | Place()), _):
                return None
            case _:
                return reflex
