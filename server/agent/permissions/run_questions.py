"""Decides whether a call may be carried out: by the rules and the mode, and else by the person."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from sayso.server.agent.event_stream import Emit
from sayso.server.agent.limits import RequestUsage
from sayso.server.agent.permissions.approvals import ApprovalDecision, Approvals, Proposal
from sayso.server.agent.permissions.hooks import HookEvent
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.permissions.task_grant import OFFERED, is_plain
from sayso.server.agent.prompt import server_notes
from sayso.server.agent.tools.tool import Arguments, ArgumentsError, Tool, approval_words
from sayso.server.policy.judge import Judgement
from sayso.server.store.records import Call

_READ_AT_ONCE_CHARS: Final = 2_000
"""A policy reads these in a few milliseconds; longer code is read beside the rest."""

REFUSALS: Final = {
    "no": server_notes.SAID_NO,
    "expired": server_notes.SAID_NOTHING,
    "too_long": server_notes.TOO_LONG,
}


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may run, as the person wants it."""

    request: Proposal
    alone: bool = False
    """Apart from what earlier runs left."""
    under: str = ""
    """The run whose yes covers this one, too."""


class RunQuestions:
    """Of one request."""

    def __init__(
        self,
        approvals: Approvals,
        permissions: Permissions,
        reckoning: RequestUsage,
        emit: Emit,
        where: Callable[[], str],
    ) -> None:
        """`where`: the folder in which code runs."""
        self._approvals = approvals
        self._permissions = permissions
        self._reckoning = reckoning
        self._emit = emit
        self._where = where

    async def allowed(self, tool: Tool, call: Call, arguments: Arguments) -> Allowed | str:
        """What may run; or why nothing may."""
        code = tool.write(arguments)
        judged = await self._judged(tool, call.language, code)
        if judged.verdict == "deny":
            return judged.reason
        request = self._request(tool, call, code, judged.warnings)
        if not self._must_ask(tool, arguments, judged):
            # An earlier run may have given the commands another meaning than the rule has for them.
            return Allowed(request, self._permissions.mode == "ask" and judged.words_count)
        task = self._permissions.task
        if tool.stays_in(arguments, request.where) and is_plain(judged):
            if under := task.covering(request.where):
                return Allowed(request, under=under)
            request = replace(request, wider=OFFERED.format(folder=request.where))
        try:
            approval = await self._ask(tool, call, request)
            if not approval.allows:
                return REFUSALS[approval.decision]
            if approval.decision == "edit":
                judged = await self._judged(tool, call.language, approval.request.code)
                if judged.verdict == "deny":
                    return judged.reason
        except ArgumentsError as problem:  # they are the person's, who changed them
            return str(problem)
        if approval.lasting:
            task.give(request.where, call.id)
        return Allowed(approval.request)

    def _must_ask(self, tool: Tool, arguments: Arguments, judged: Judgement) -> bool:
        """Whether the person decides."""
        if tool.kind == "looks":
            return judged.verdict == "ask"
        if self._permissions.mode == "full" and self._permissions.task.asks_in_full:
            return judged.verdict == "ask" or not self._goes_unasked(tool, arguments)
        return self._permissions.must_ask(judged)

    async def _judged(self, tool: Tool, language: str, code: str) -> Judgement:
        arguments = tool.read(language, code)
        known = tool.actions(arguments, self._where())
        how = {"outside": tool.outside, "unasked": self._goes_unasked(tool, arguments)}
        judge = partial(self._permissions.judge, language, code, known=known, **how)
        if len(code) <= _READ_AT_ONCE_CHARS:
            judged = judge()
        else:
            judged = await asyncio.to_thread(judge)
        judged = judged.and_stricter(tool.judge(arguments))
        if tool.kind != "acts" or judged.verdict == "deny":
            return judged
        event = HookEvent(self._where(), language, code)
        return judged.and_stricter(await self._permissions.hooks.before_run(event))

    def _goes_unasked(self, tool: Tool, arguments: Arguments) -> bool:
        return tool.goes_unasked(arguments, self._permissions.outside_content.sources)

    def _request(self, tool: Tool, call: Call, code: str, warnings: tuple[str, ...]) -> Proposal:
        return Proposal(
            run=call.id,
            language=call.language,
            code=code,
            where=self._where(),
            may_touch=approval_words(tool, tool.read(call.language, code)),
            warnings=warnings,
            tap=tool.outside or self._permissions.mode == "full",
            definition=tool.definition_hash if tool.outside else "",
        )

    async def _ask(self, tool: Tool, call: Call, request: Proposal) -> ApprovalDecision:
        """Ask until the answer is to what would run now: reach may change while it is asked. Raises
        ArgumentsError where what the person wrote instead is none of the tool's."""
        while True:
            with self._reckoning.paused():
                approval = await self._approvals.ask(request, self._emit)
            if not approval.allows:
                return approval
            now = self._request(tool, call, approval.request.code, request.warnings)
            now = replace(now, wider=request.wider)
            if approval.covers(now):
                return approval
            request = now
