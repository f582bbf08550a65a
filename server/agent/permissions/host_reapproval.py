"""Asks a person, while code runs, whether the code may connect to a host again."""

import asyncio
from typing import Final

from sayso.server.agent.event_stream import Emit
from sayso.server.agent.limits import RequestUsage
from sayso.server.agent.permissions.access_syntax import LANGUAGE
from sayso.server.agent.permissions.approvals import Approvals, Proposal
from sayso.server.agent.record.journal import Journal
from sayso.server.store.decisions import HostAsked
from sayso.server.store.errors import StoreError
from sayso.server.store.records import Call

_HOW_LONG: Final = "Whichever yes you give, it holds for this request alone."


class HostReapproval:
    """Of one run."""

    def __init__(
        self,
        call: Call,
        where: str,
        approvals: Approvals,
        journal: Journal,
        reckoning: RequestUsage,
        emit: Emit,
    ) -> None:
        self.run = call.id
        self.where = where
        self._approvals = approvals
        self._journal = journal
        self._reckoning = reckoning
        self.emit = emit
        self.attention = asyncio.Lock()
        """The person's: they are asked one thing at a time."""
        self._one_at_a_time = asyncio.Lock()
        self._asking: dict[str, asyncio.Task[bool]] = {}

    async def ask(self, host: str, why: str) -> bool:
        """Whether the person allows it. Who asks for the same host meanwhile gets the same answer.

        The question is the run's own: it stays when a program that waited for it has hung up, so
        that the answer counts for its next try.
        """
        if host not in self._asking:
            self._asking[host] = asyncio.create_task(self._put(host, why))
        asking = self._asking[host]
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            if asking.cancelled():
                return False
            raise

    async def quiet(self) -> None:
        """Return when no question is open: what is shown meanwhile would stand in its way."""
        async with self._one_at_a_time:
            pass

    async def answered(self) -> None:
        """Return when all have been answered, or have expired."""
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    async def withdraw(self) -> None:
        """The run is over: nobody need answer any more."""
        for each in self._asking.values():
            each.cancel()
        await self.answered()

    async def _put(self, host: str, why: str) -> bool:
        request = Proposal(
            run=f"{self.run}:{len(self._asking)}",
            language=LANGUAGE,
            code=f"host {host}",
            where=self.where,
            may_touch=(f"send what it can read to {host}",),
            kind="access",
            warnings=(why, _HOW_LONG),
            tap=True,
            once=True,
        )
        async with self.attention, self._one_at_a_time:
            try:
                with self._reckoning.paused():
                    approval = await self._approvals.ask(request, self.emit)
                asked = HostAsked(self.run, host, why, approval.settled, approval.by)
                await self._journal.note("person" if approval.by else "server", asked)
            except StoreError:
                return False  # what could not be kept counts for nothing
        return approval.decision == "yes"
