"""What a person opened to Sayso at a screen, by a tap: a capability, an application, a while."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from sayso.server.agent.permissions.grants_text import HeldLease
from sayso.server.agent.permissions.permissions import Permissions

LEASE_S: Final = 900.0
"""A quarter of an hour: one errand."""

LEASES_MOST: Final = 20
"""At once: more are nothing that anybody looks through."""

SOURCE: Final = "windows on the screen"
"""What a person is told that the words of windows are from."""

Capability = Literal["look", "picture", "act", "clipboard read", "clipboard write"]
ANY: Final = ""
"""Of what is no application's: the clipboard."""


@dataclass(frozen=True, slots=True)
class _Lease:
    until: float
    told: frozenset[str]
    """What had been read from, as the person was told when they opened it."""


class DesktopLeases:
    """Of one conversation. They are in no log that is read back: a server that starts anew asks
    anew."""

    def __init__(
        self, permissions: Permissions, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._permissions = permissions
        self._clock = clock
        self._leases: dict[tuple[str, Capability, str], _Lease] = {}
        self._approved: dict[str, float] = {}
        permissions.leases.add(lambda: self.held)

    @property
    def held(self) -> tuple[HeldLease, ...]:
        """What is open now, as the person is told it and can take it back."""
        now = self._clock()
        return (
            *(
                HeldLease(asked_as(*key), lease.until - now, partial(self._end, key))
                for key, lease in self._leases.items()
                if lease.until > now
            ),
            *(
                HeldLease(question, until - now, partial(self._end, question))
                for question, until in self._approved.items()
                if until > now
            ),
        )

    @property
    def unasked(self) -> bool:
        """Whether the mode lets everything be done unasked."""
        return self._permissions.mode == "full"

    @property
    def looks_only(self) -> bool:
        """Whether the mode lets nothing be done but look."""
        return self._permissions.mode == "read-only"

    @property
    def why(self) -> str:
        """What a person should know who is asked; empty if there is nothing."""
        return self._permissions.outside_content.why

    def apps(self, device: str, capability: Capability) -> frozenset[str]:
        """The applications that are open. Whoever may act may look, and what strangers wrote since
        the person opened it closes acting, until they are asked again."""
        now, sources = self._clock(), set(self._permissions.outside_content.sources) - {SOURCE}
        wanted = ("look", "act") if capability == "look" else (capability,)
        return frozenset(
            app
            for (where, what, app), lease in self._leases.items()
            if where == device
            and what in wanted
            and lease.until > now
            and (capability in ("look", "picture") or sources <= lease.told)
        )

    @property
    def full(self) -> bool:
        """So much is open that no more can be."""
        now = self._clock()
        return sum(lease.until > now for lease in self._leases.values()) >= LEASES_MOST

    def grant(self, device: str, capability: Capability, app: str) -> None:
        """The person has opened it."""
        told = frozenset(self._permissions.outside_content.sources)
        self._leases[device, capability, app] = _Lease(self._clock() + LEASE_S, told)

    def approved_for_a_while(self, question: str) -> bool:
        """Whether the person said yes to this within the time of a lease."""
        return self._approved.get(question, 0.0) > self._clock()

    def approve_for_a_while(self, question: str) -> None:
        self._approved[question] = self._clock() + LEASE_S

    def _end(self, what: tuple[str, Capability, str] | str) -> None:
        """An application is closed; or a question is asked again."""
        if isinstance(what, str):
            self._approved.pop(what, None)
        else:
            self._leases.pop(what, None)

    def close(self) -> None:
        """Nothing is open any more."""
        self._leases.clear()
        self._approved.clear()


def asked_as(device: str, capability: Capability, app: str) -> str:
    """The words in which it is asked for, and listed."""
    return f"{f'{capability} {app}'.strip()} on {device}"
