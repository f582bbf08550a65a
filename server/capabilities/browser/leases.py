"""Which hosts the browser may reach: what code may, and what the person opened to the browser alone
for a while, by a tap."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_address
from socket import inet_aton, inet_ntoa
from typing import Final

from sayso.server.agent.permissions.grants_text import HeldLease
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.capabilities.browser.chromium import CALLS_HOME
from sayso.server.capabilities.browser.errors import RefusedError
from sayso.server.runtimes.grants import Grants

LEASE_S: Final = 900.0
"""A quarter of an hour: one errand."""

PICTURES_S: Final = 3_600.0
"""For pictures that leave the house: one conversation's work."""

LEASES_MOST: Final = 20
"""At once: more hosts are nothing that anybody looks through."""

SOURCE: Final = "web pages in the browser"
"""What a person is told that the words of pages are from."""


@dataclass(frozen=True, slots=True)
class _Lease:
    host: str
    until: float
    told: frozenset[str]
    """What had been read from, as the person was told when they opened it."""

    @property
    def hosts(self) -> Grants:
        return Grants(hosts=(f"*.{self.host}",))


class Leases:
    """Of one conversation: its browser's proxy asks here, at each connection and each piece."""

    def __init__(
        self, permissions: Permissions, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._permissions = permissions
        self._clock = clock
        self._leases: dict[str, _Lease] = {}
        self._shown: dict[str, float] = {}
        permissions.leases.add(lambda: self.held)

    @property
    def open_hosts(self) -> tuple[str, ...]:
        """What is open to the browser alone now."""
        return tuple(lease.host for lease in self._live())

    @property
    def held(self) -> tuple[HeldLease, ...]:
        """The same, as the person is told it and can take it back."""
        now = self._clock()
        hosts = (
            HeldLease(asked_as(lease.host), lease.until - now, partial(self._end, lease.host))
            for lease in self._live()
        )
        pictures = (
            HeldLease(pictures_to(model), until - now, partial(self._end, model))
            for model, until in self._shown.items()
            if until > now
        )
        return (*hosts, *pictures)

    @property
    def unasked(self) -> bool:
        """Whether the mode lets everything be done unasked."""
        return self._permissions.mode == "full"

    @property
    def reach(self) -> Grants:
        """What may be reached now."""
        usual = self._permissions.reach
        closed = (*usual.closed, *CALLS_HOME)
        if usual.everything:
            return Grants(network=True, closed=closed)
        leased = tuple(host for lease in self._live() for host in lease.hosts.hosts)
        return replace(usual, hosts=(*usual.hosts, *leased), folders=(), closed=closed)

    async def hindrance(self, host: str) -> str:
        """Why nothing may be sent to a host that is open, as a clause; empty if it may be. Who
        opened it a moment ago is not asked again, if nothing was read since but its own pages."""
        sources = self._permissions.outside_content.sources
        for lease in self._live():
            if lease.hosts.lets_pass(host) and self._only_own(sources, lease.told):
                return ""
        return await self._permissions.hindrance(host)

    def check(self, host: str) -> bool:
        """Whether a host is open; if not, it can be asked for. Raises RefusedError where it is
        closed whatever anybody says."""
        usual = self._permissions.reach
        if usual.look_only:
            raise RefusedError("The mode is read-only: there is no network.")
        if host in CALLS_HOME or not Grants(network=True, closed=usual.closed).lets_pass(host):
            raise RefusedError(f"A rule forbids {host}.")
        if not self.reach.lets_pass(host) and len(self.open_hosts) >= LEASES_MOST:
            raise RefusedError("So many hosts are open to the browser already; close it first.")
        return self.reach.lets_pass(host)

    def grant(self, host: str) -> None:
        """The person has opened a host, with all below it."""
        told = frozenset(self._permissions.outside_content.sources)
        self._leases[host] = _Lease(host, self._clock() + LEASE_S, told)

    def grant_pictures(self, model: str) -> None:
        """The person lets this model, which is not at home, be shown what pages look like."""
        self._shown[model] = self._clock() + PICTURES_S

    def shows(self, model: str) -> bool:
        """Whether it may be."""
        return self._shown.get(model, 0.0) > self._clock()

    @property
    def why(self) -> str:
        """What a person should know who is asked for a host; empty if there is nothing."""
        return self._permissions.outside_content.why

    def read(self, hosts: Iterable[str]) -> None:
        """Pages of these were read."""
        self._permissions.outside_content.read(hosts)

    def close(self) -> None:
        """Nothing is open any more to the browser alone."""
        self._leases.clear()
        self._shown.clear()

    def _end(self, name: str) -> None:
        """Nothing is open to this any more: a host, or a model that was shown pictures."""
        self._leases.pop(name, None)
        self._shown.pop(name, None)

    def _live(self) -> list[_Lease]:
        now = self._clock()
        return [lease for lease in self._leases.values() if lease.until > now]

    def _only_own(self, sources: Iterable[str], told: frozenset[str]) -> bool:
        live = self._live()
        return all(
            each == SOURCE or each in told or any(one.hosts.lets_pass(each) for one in live)
            for each in sources
        )


def asked_as(host: str) -> str:
    """The words in which a host is asked for, and listed."""
    return f"browse {host}"


def pictures_to(model: str) -> str:
    """The same of pictures that go to a model which is not at home."""
    return f"pictures of pages to {model}"


def is_near(host: str) -> bool:
    """Whether a host is certainly this machine or one beside it, however that is written. The proxy
    refuses what a name leads to; nobody need be asked for what it would refuse anyway."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith((".localhost", ".local")):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        try:
            address = ip_address(inet_ntoa(inet_aton(name)))  # 127.1, 0x7f000001, 2130706433
        except OSError:
            return False
    return not (getattr(address, "ipv4_mapped", None) or address).is_global


def bare(host: str) -> str:
    """The host that is asked for: www.example.org is example.org, and what lies below it."""
    return host.removeprefix("www.")
