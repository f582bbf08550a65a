"""What the code of one request did on the network: it is written down, and where a run was turned
away from a host, that is said beside its output, and the person may open the host with one tap.

Programs hide such a refusal behind words of their own ("no such package"), which neither a person
nor a model understands. All hosts of a run are one question; that of a package index asks for the
host of its files, too, which code that was turned away from the first never got to know.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from sayso.server.agent.permissions.access_requests import AccessRequests, NotOpened
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.record.journal import Journal
from sayso.server.runtimes.network.traffic_record import Transfer
from sayso.server.store.decisions import NetworkUsed

TOLD_MOST: Final = 4
"""Hosts of one run that are named, and asked for: more is a program that looks around."""

_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_NAME: Final = re.compile(rf"(?=.{{4,100}}$)(?:{_LABEL}\.)+[a-z]{{2,}}")
"""Of a host that can be granted: not an address, nor a name without a dot, as a house has them."""


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """What is said of the hosts at which a run was turned away."""

    model: str = ""
    person: str = ""


class Network(Protocol):
    """Where code runs, as far as its network goes."""

    def take_passages(self) -> Sequence[Transfer]:
        """What went over the network since this was last asked."""
        ...

    async def file_host(self, index: str) -> str:
        """Where the files lie that this package index lists; empty if it is not known to be one."""
        ...


class NetworkUse:
    """Of one request."""

    def __init__(
        self,
        network: Network,
        permissions: Permissions,
        journal: Journal,
        access: AccessRequests,
    ) -> None:
        self._network = network
        self._permissions = permissions
        self._journal = journal
        self._access = access

    async def note(self, run: str) -> Sequence[Transfer]:
        """Write down what passed until now, or did not, and return it; before a run, by what an
        earlier one left."""
        passages = self._network.take_passages()
        self._permissions.outside_content.read(each.host for each in passages if each.received)
        for each in passages:
            used = NetworkUsed(run, each.host, each.port, each.verdict, each.sent, each.received)
            await self._journal.note("runtime", used)
        return passages

    async def told(self, run: str, *, may_ask: bool) -> TurnedAway:
        """Sentences about the hosts that a run that is over did not reach; empty if there are none.
        The person may be asked for those that are not granted, and that they did not close."""
        passages = [each for each in await self.note(run) if _NAME.fullmatch(each.host.casefold())]
        troubles = list(dict.fromkeys(each.trouble for each in passages if each.trouble))
        unreached = (
            f"Code did not get through: {_listed(troubles[:TOLD_MOST])}." if troubles else ""
        )
        reach = self._permissions.reach
        refused = [each.host for each in passages if each.verdict == "refused"]
        closed = [host for host in refused if not reach.lets_pass(host)]
        names = list(dict.fromkeys(host.casefold() for host in closed))[:TOLD_MOST]
        if not names:
            return TurnedAway(unreached, unreached)
        said = f"{unreached} Code tried to reach {_listed(names)}: not granted.".strip()
        return await self._offer(run, names, said) if may_ask else TurnedAway(said, said)

    async def _offer(self, run: str, names: Sequence[str], said: str) -> TurnedAway:
        declined = self._permissions.declined_hosts
        wanted = [name for name in names if name not in declined]
        if not wanted:
            return TurnedAway(f"{said} The person does not want it opened.", said)
        files = {name: await self._network.file_host(name) for name in wanted}
        files = {name: host for name, host in files.items() if host and host not in declined}
        try:
            opened = await self._access.offer_hosts(run, wanted, files)
        except NotOpened as problem:  # nobody was asked, so nobody said no
            return TurnedAway(f"{said} {problem}", f"{said} {problem}")
        if not opened:
            declined.update(wanted)
            return TurnedAway(f"{said} The person was asked, and did not open it.", said)
        return TurnedAway(
            f"{said} The person has just allowed {_listed(opened)}: run it again.",
            f"Code tried to reach {_listed(names)}, which you have allowed since.",
        )


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
