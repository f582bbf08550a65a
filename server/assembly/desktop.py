"""A conversation's way to its person's screen, through the devices that take part in it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.tools.tool import Tool
from sayso.server.conversations.driver import ConversationDriver
from sayso.server.device_requests.answer import Outcome


class DeviceScreens:
    """The screens of a conversation's devices. What drives the conversation is made after its
    tools, so it is told of later; until then there are none."""

    def __init__(self) -> None:
        self._driver: ConversationDriver | None = None

    def driven_by(self, driver: ConversationDriver) -> None:
        """Devices take part in this from now on."""
        self._driver = driver

    @property
    def offered(self) -> Mapping[str, tuple[str, ...]]:
        return self._driver.device_requests.offered if self._driver else {}

    def name(self, device: str) -> str:
        return device

    async def ask(
        self, device: str, method: str, args: Mapping[str, Any], *, lease: str, deadline_s: float
    ) -> Outcome:
        driver = self._driver
        if driver is None:
            return Outcome("refused", problem="No device takes part yet.")
        return await driver.device_requests.ask(
            device, method, args, ticket=driver.ticket, deadline_s=deadline_s, lease=lease
        )


@dataclass(frozen=True, slots=True)
class OpenDesktop:
    """What a model can do at a screen, and how a person lets it take over."""

    tools: Iterable[Tool]
    close: Callable[[], Awaitable[None]]
    os_mode: Callable[[bool], str]
    """On or off; what to tell the person."""


def open_desktop(screens: DeviceScreens | None, permissions: Permissions) -> OpenDesktop | None:
    """The tools for screens; None where devices can't be asked."""
    if screens is None:
        return None
    from sayso.server.capabilities.desktop.application_leases import DesktopLeases
    from sayso.server.capabilities.desktop.desktop import Desktop
    from sayso.server.capabilities.desktop.tools import DesktopTools

    tools = DesktopTools(Desktop(screens, DesktopLeases(permissions)))
    return OpenDesktop(tools, tools.close, tools.os_mode)
