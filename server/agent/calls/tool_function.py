"""`sayso.NAME`: code calls a tool, which is judged, asked about and recorded at each call as if the
model itself had called it.

The yes to a run covers tools that only read what the conversation holds, if the code names them
where the person saw it. What acts asks at the call; its yes is bound to the tool's definition and
to these very arguments.
"""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.agent.calls.ask import IN_BACKGROUND
from sayso.server.agent.event_stream import Emit
from sayso.server.agent.events import CodeOut
from sayso.server.agent.limits import RequestUsage
from sayso.server.agent.permissions.approvals import ApprovalDecision, Approvals, Proposal
from sayso.server.agent.permissions.hooks import HookEvent
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.permissions.preparing import prepared
from sayso.server.agent.permissions.task_grant import is_plain
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.stream_closing import closing
from sayso.server.agent.tools.run_code import named_in
from sayso.server.agent.tools.schema import problems
from sayso.server.agent.tools.tool import (
    Arguments,
    ArgumentsError,
    Tool,
    ToolContext,
    ToolRefused,
    approval_words,
)
from sayso.server.policy.judge import Judgement
from sayso.server.runtimes.calls.function import CallingRun, CallRefusedError
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.store.decisions import ToolIntended, ToolReported
from sayso.server.store.errors import StoreError

CALLS_MOST: Final = 200
"""Of tools, in one run: as many as there are things in a house. More is a loop without an end."""

POSITIONAL: Final = "*"
"""The name under which arguments come that code gave in their order."""

KEPT_CHARS: Final = 2_000
"""Of what a tool returned, in its record."""

_REFUSALS: Final = {
    "no": "The person said no.",
    "expired": "The person did not answer in time, which is a no.",
    "too_long": "This call is too long to be shown whole, so nobody was asked.",
}


@dataclass(frozen=True, slots=True)
class CallServices:
    """What the calls of tools in one run work with."""

    context: ToolContext
    where: str
    approvals: Approvals
    permissions: Permissions
    journal: Journal
    reckoning: RequestUsage
    attention: asyncio.Lock
    """Held while the person is asked anything."""
    emit: Emit

    def functions(self, tools: Sequence[Tool], code: str) -> "tuple[ToolFunction, ...]":
        """What the run of this code may call."""
        named = named_in(code, tools)
        numbers = itertools.count(1)
        return tuple(ToolFunction(tool, self, numbers, named=tool in named) for tool in tools)


class ToolFunction:
    """One tool, for the code of one run."""

    def __init__(
        self, tool: Tool, services: CallServices, numbers: "itertools.count[int]", *, named: bool
    ) -> None:
        """`numbers` counts the calls of tools in this run. `named`: its name stood in the code."""
        self.name = tool.name
        self._tool = tool
        self._services = services
        self._numbers = numbers
        self._named = named

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        number = next(self._numbers)
        if number > CALLS_MOST:
            raise CallRefusedError(f"One run may call tools {CALLS_MOST} times at most.")
        tool, name = self._tool, f"{run.id}:{self._tool.name}{number}"
        if hindrance := tool.hindrance(tool.name):
            raise CallRefusedError(hindrance)
        try:
            context = replace(self._services.context, run=name)
            given = fitted(arguments, tool)
            wanted = tool.read(tool.name, tool.write(given))
            wanted = await prepared(tool, wanted, context, self._services.permissions)
            request = await self._allowed(name, tool.write(wanted))
            read = tool.read(tool.name, request.code)
        except (ArgumentsError, ToolRefused) as problem:
            raise CallRefusedError(str(problem)) from None
        except StoreError:
            raise CallRefusedError("The question could not be written down.") from None
        return await self._run(run, name, read, request)

    async def _allowed(self, name: str, text: str) -> Proposal:
        """What may be carried out, as the person wants it. Raises CallRefusedError."""
        judged = await self._judged(text)
        request = self._request(name, text, judged.warnings)
        if self._is_covered(judged) or not self._services.permissions.must_ask(judged):
            return request
        if self._is_in_task(text, judged):
            return request
        approval = await self._ask(request)
        if not approval.allows:
            raise CallRefusedError(_REFUSALS[approval.decision])
        if approval.decision == "edit":
            await self._judged(approval.request.code)
        return approval.request

    def _is_covered(self, judged: Judgement) -> bool:
        """Whether the yes to the code is one to this call. What works in the sandbox with what the
        code may touch, the code could do by itself."""
        tool = self._tool
        if not self._named or tool.kind in ("keeps", "requests"):
            return False
        return tool.kind == "reads" or (not tool.outside and judged.verdict != "ask")

    def _is_in_task(self, text: str, judged: Judgement) -> bool:
        """Whether what the person allowed until the request is done covers it."""
        services, tool = self._services, self._tool
        stays = is_plain(judged) and tool.stays_in(tool.read(tool.name, text), services.where)
        return stays and bool(services.permissions.task.covering(services.where))

    async def _judged(self, text: str) -> Judgement:
        """Raises CallRefusedError."""
        tool = self._tool
        arguments, permissions = tool.read(tool.name, text), self._services.permissions
        judged = permissions.judge(
            tool.name,
            text,
            outside=tool.outside,
            known=tool.actions(arguments, self._services.where),
            unasked=tool.goes_unasked(arguments, permissions.outside_content.sources),
        )
        judged = judged.and_stricter(tool.judge(arguments))
        if tool.kind == "acts" and judged.verdict != "deny":
            event = HookEvent(self._services.where, tool.name, text)
            judged = judged.and_stricter(await permissions.hooks.before_run(event))
        if judged.verdict == "deny":
            raise CallRefusedError(judged.reason)
        return judged

    async def _ask(self, request: Proposal) -> ApprovalDecision:
        services = self._services
        async with services.attention:
            while True:
                if services.context.left.is_set():  # it may have waited for its turn
                    raise CallRefusedError(IN_BACKGROUND)
                with services.reckoning.paused():
                    approval = await services.approvals.ask(request, services.emit)
                if not approval.allows:
                    return approval
                # What it could touch may have changed while it was asked.
                now = self._request(request.run, approval.request.code, request.warnings)
                if approval.covers(now):
                    return approval
                request = now

    def _request(self, name: str, text: str, warnings: tuple[str, ...]) -> Proposal:
        tool = self._tool
        return Proposal(
            run=name,
            language=tool.name,
            code=text,
            where=self._services.where,
            may_touch=approval_words(tool, tool.read(tool.name, text)),
            warnings=warnings,
            why="Code that is running calls it.",
            tap=tool.outside,
            definition=tool.definition_hash if tool.outside else "",
        )

    async def _run(self, run: CallingRun, name: str, read: Arguments, request: Proposal) -> object:
        tool, services = self._tool, self._services
        intended = ToolIntended(
            run.id, name, tool.name, request.code, request.binding, outside=tool.outside
        )
        await self._note(intended)
        shown = Output("display", f"[{tool.name} {request.code}]\n")
        await services.emit(CodeOut(run.id, shown))
        outputs: list[Output] = []
        ending = Ending("died", 0.0, "It ended without saying how.")
        try:
            context = replace(services.context, run=name)
            async with closing(tool.run(read, context)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Ending):
                        ending = piece
                    else:
                        outputs.append(piece)
        except ToolRefused as problem:
            ending = Ending("error", 0.0, str(problem))
        except asyncio.CancelledError:
            ending = Ending("interrupted", 0.0, "The run that called it was stopped.")
            raise
        finally:
            if tool.brings:
                services.permissions.outside_content.read([tool.brings])
            text = "".join(output.text for output in outputs)
            kept = ToolReported(run.id, name, ending.status, ending.detail, text[:KEPT_CHARS])
            with suppress(StoreError):  # what it did is done; the log says that it was to be done
                await services.journal.note("runtime", kept)
        if ending.status != "ok":
            raise CallRefusedError(f"{text}{ending.detail}".strip() or f"{tool.name} failed.")
        return tool.value(outputs)

    async def _note(self, intended: ToolIntended) -> None:
        try:
            await self._services.journal.note("server", intended)
        except StoreError:
            raise CallRefusedError("The call could not be written down.") from None


def fitted(given: Mapping[str, object], tool: Tool) -> dict[str, object]:
    """The arguments that code gave, by name and as the tool's schema has them. Raises
    ArgumentsError.

    Those that came in order are named. Where the schema wants no text, a text is read as JSON: a
    shell has nothing else.
    """
    properties: Mapping[str, Any] = tool.schema.get("properties", {})
    fitting = {name: value for name, value in given.items() if name != POSITIONAL}
    ordered = given.get(POSITIONAL, [])
    if not isinstance(ordered, list) or len(ordered) > len(properties):
        raise ArgumentsError(f"{tool.name} takes {', '.join(properties) or 'no arguments'}.")
    for name, value in zip(properties, ordered, strict=False):
        if name in fitting:
            raise ArgumentsError(f"{name} is given twice.")
        fitting[name] = value
    for name, value in fitting.items():
        schema = properties.get(name)
        if isinstance(value, str) and schema and problems(value, schema):
            with suppress(UntrustedJsonError):
                read = read_json(value)
                fitting[name] = value if problems(read, schema) else read
    if wrong := problems(fitting, tool.schema):
        raise ArgumentsError(" ".join(wrong))
    return fitting
