"""The screens of a person's devices, as far as their clients offer them."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from sayso.server.capabilities.desktop.errors import DesktopError
from sayso.server.device_requests.answer import Outcome

LOOK: Final = "desktop.look"
NONE: Final = (
    "No screen is here that may be worked at: its owner says `sayso desktop allow` in a terminal"
    " there, and starts `sayso talk` in it."
)


class Screens(Protocol):
    """Those of the devices that take part in one conversation."""

    @property
    def offered(self) -> Mapping[str, tuple[str, ...]]:
        """Methods by device."""
        ...

    def name(self, device: str) -> str:
        """What a person calls a device."""
        ...

    async def ask(
        self, device: str, method: str, args: Mapping[str, Any], *, lease: str, deadline_s: float
    ) -> Outcome:
        """What came of a request, for the attempt that counts."""
        ...


def the_screen(screens: Screens) -> str:
    """The one device whose screen is meant. Raises DesktopError where there is none, or several."""
    found = [device for device, methods in screens.offered.items() if LOOK in methods]
    if not found:
        raise DesktopError(NONE)
    if len(found) > 1:
        names = ", ".join(screens.name(each) for each in found)
        raise DesktopError(
            f"Several screens take part here ({names}): let all but one leave, or work from a"
            " conversation of its own."
        )
    return found[0]
