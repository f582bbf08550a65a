"""Handles requests for more access, made by a call or by the person's own words: the server checks
them, and a person grants them on a screen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from sayso.server.agent.event_stream import Emit
from sayso.server.agent.instructions.folder_instructions import WorkPlace
from sayso.server.agent.limits import RequestUsage
from sayso.server.agent.permissions.access_syntax import (
    LANGUAGE,
    AccessError,
    AccessRequest,
    RequestedFolder,
    read_access_request,
)
from sayso.server.agent.permissions.approvals import ApprovalDecision, Approvals, Proposal
from sayso.server.agent.permissions.grants_text import Grant
from sayso.server.agent.permissions.permissions import Permissions, Reachable
from sayso.server.agent.prompt.server_notes import NOBODY_OPENED, NOT_OPENED, TOO_LONG
from sayso.server.agent.record.conversation_settings import granted
from sayso.server.agent.record.journal import Journal
from sayso.server.runtimes.grants import GrantError
from sayso.server.store.records import InterpretersEnded

_CLOSED: Final = (
    "The person was asked for {what}, which they had named, and did not open it: this did not run."
    " Go on without, or ask what they want."
)
_TRIED: Final = "Code that just ran tried to reach this and was not let through."
_BESIDE: Final = "The packages that {index} lists lie at {host}, so both are asked for."
_THERE: Final = "That is in reach already."
_LOST: Final = "The interpreters start anew for it: variables are lost."


class NotOpened(Exception):
    """Nothing was opened; the message tells the model why."""


class AccessRequests:
    """Asks the person for it."""

    def __init__(
        self,
        code_runner: Reachable,
        permissions: Permissions,
        approvals: Approvals,
        journal: Journal,
        reckoning: RequestUsage,
        emit: Emit,
    ) -> None:
        self._code_runner = code_runner
        self._permissions = permissions
        self._approvals = approvals
        self._journal = journal
        self._reckoning = reckoning
        self._emit = emit

    async def request(self, call: str, text: str) -> str:
        """Ask for what a call wants, if it can be granted; return what to tell the model. Raises
        NotOpened and StoreError.
        """
        try:
            access_request = read_access_request(text)
            grant = self._permissions.weigh(access_request)
        except (AccessError, GrantError) as problem:
            raise NotOpened(str(problem)) from None
        if self._permissions.mode == "full" or not grant.lines:
            return _THERE
        approval = await self._ask(call, grant, access_request.why)
        if not approval.allows:
            why = {"no": NOT_OPENED, "too_long": TOO_LONG}
            raise NotOpened(why.get(approval.decision, NOBODY_OPENED))
        trouble, lost = await self._open(call, grant, approval)
        told = (f"Granted: {', '.join(grant.lines)}.", trouble, _LOST if lost else "")
        return " ".join(filter(None, told))

    async def offer(self, call: str, places: tuple[RequestedFolder, ...]) -> str:
        """Ask for what the person named and this code needs; return why it must not run, if they
        did not open it. Raises StoreError.
        """
        if self._permissions.mode == "full":
            return ""
        if self._permissions.mode == "read-only":
            places = tuple(replace(place, access="read") for place in places)
        try:
            grant = self._permissions.weigh(AccessRequest(places))
        except GrantError:
            return ""  # then the code finds it closed, and the model is told so
        if not grant.lines:
            return ""
        approval = await self._ask(call, grant, "")
        if not approval.allows:
            return _CLOSED.format(what=", ".join(grant.lines))
        await self._open(call, grant, approval)
        return ""

    async def offer_hosts(
        self, call: str, hosts: Sequence[str], files: Mapping[str, str]
    ) -> Sequence[str]:
        """Ask for hosts at which the code of this call was turned away; return what the person
        opened. Raises NotOpened, if they cannot be asked for it, and StoreError.

        `files`: for those that list packages, the hosts where the packages lie.
        """
        beside = {index: host for index, host in files.items() if self._opens(host)}
        wanted = tuple(dict.fromkeys((*hosts, *beside.values())))
        try:
            grant = self._permissions.weigh(AccessRequest(hosts=wanted))
        except GrantError as problem:
            raise NotOpened(str(problem)) from None
        told = (_BESIDE.format(index=index, host=host) for index, host in beside.items())
        approval = await self._ask(call, grant, "", _TRIED, *told)
        if not approval.allows:
            return ()
        await self._open(call, grant, approval)
        return wanted

    def _opens(self, host: str) -> bool:
        """Whether there is anything to open, and nothing against it."""
        try:
            return bool(self._permissions.weigh(AccessRequest(hosts=(host,))).lines)
        except GrantError:
            return False

    async def offer_instructions(self, call: str) -> bool:
        """Ask whether to follow what the folders say in which this call works; return whether the
        person has just said so, which the model has to know before it does anything. Raises
        StoreError.
        """
        where = WorkPlace(
            self._code_runner.where, self._code_runner.identity, self._permissions.reach
        )

        async def ask(request: Proposal) -> ApprovalDecision:
            with self._reckoning.paused():
                return await self._approvals.ask(request, self._emit)

        instructions = self._permissions.instructions
        return bool(await instructions.ask_about_new(call, where, self._journal, ask))

    async def _ask(self, call: str, grant: Grant, why: str, *warnings: str) -> ApprovalDecision:
        request = self._request(call, grant, why)
        request = replace(request, warnings=(*warnings, *request.warnings))
        with self._reckoning.paused():
            return await self._approvals.ask(request, self._emit)

    async def _open(self, call: str, grant: Grant, approval: ApprovalDecision) -> tuple[str, bool]:
        """As the person allowed it; what went wrong with keeping it, and whether variables were
        lost.
        """
        trouble = await self._permissions.grant(grant, lasting=approval.lasting)
        lasting = approval.lasting and not trouble
        record = granted(call, grant.added, approval.by, lasting=lasting)
        await self._journal.note("person", record)
        lost = await self._permissions.settle(self._code_runner)
        if lost:
            await self._journal.note("server", InterpretersEnded())
        return trouble, lost

    def _request(self, call: str, grant: Grant, why: str) -> Proposal:
        after = self._permissions.reach.joined(grant.added)
        loses = grant.needs_new_kernel and self._journal.history.state_may_be_lost
        warnings = (*grant.warnings, *((_LOST,) if loses else ()))
        return Proposal(
            run=call,
            language=LANGUAGE,
            code="\n".join(grant.lines),
            where=self._code_runner.where,
            may_touch=after.words(Path(self._code_runner.where)),
            kind="access",
            warnings=warnings,
            why=why,
            tap=True,
        )
