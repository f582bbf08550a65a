"""Finds the time zone of a place by its name."""

import zoneinfo
from collections.abc import Mapping
from datetime import tzinfo
from functools import cache


class Places:
    """The places that one language has names for, and the cities that zones are named after."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = {name.casefold(): zone for name, zone in names.items()}

    def zone(self, place: str) -> tzinfo | None:
        """The zone of a place; None if it is not known, or this machine knows no zones."""
        plain = place.casefold().strip()
        key = self._names.get(plain) or _cities().get(plain, "")
        try:
            return zoneinfo.ZoneInfo(key) if key else None
        except (zoneinfo.ZoneInfoNotFoundError, ValueError):
            return None


@cache
def _cities() -> Mapping[str, str]:
    """Zones by the city in their name."""
    zones = sorted(zoneinfo.available_timezones())
    named = (
        zone for zone in zones if "/" in zone and not zone.startswith(("Etc/", "posix", "right"))
    )
    return {zone.rpartition("/")[2].replace("_", " ").casefold(): zone for zone in named}
