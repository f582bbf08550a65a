"""Runs one conversation in-process, without speech and devices, for the Python API."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, Final, Literal, Self

from sayso.protocol.home import Home
from sayso.server.agent.conversation_agent import ConversationAgent
from sayso.server.agent.events import AgentEvent, ApprovalRequest
from sayso.server.agent.llm.backend import Backends
from sayso.server.agent.permissions.permissions import Mode
from sayso.server.agent.permissions.standing_grants import StandingGrants, policy_of
from sayso.server.agent.spending import DailySpending
from sayso.server.agent.tools.function import as_tools
from sayso.server.agent.tools.tool import Tool
from sayso.server.assembly.agent import AgentOptions, AgentParts, day_limits, open_agent
from sayso.server.assembly.models import Builder, CodeBackend
from sayso.server.embedding.stream import BY, Answer
from sayso.server.runtimes.language import Language
from sayso.server.runtimes.workspace import Workspace
from sayso.server.settings import Settings
from sayso.server.store.event_log import EventLog

NAME: Final = "chat"
Role = Literal["person", "sayso", "code", "output"]


class EmbeddedSession:
    """Made by `open`; ends with the stack that it is given."""

    def __init__(self, own: ConversationAgent) -> None:
        self.agent = own.agent
        self.undo_requests = own.undo_requests
        self._own = own

    @classmethod
    async def open(
        cls,
        stack: AsyncExitStack,
        *,
        flags: Mapping[str, object],
        mode: Mode,
        workspace: Path | None,
        keep: Path | None,
        languages: Sequence[Language],
        tools: Sequence[Tool | Callable[..., Any]],
    ) -> Self:
        """Build it. Raises SettingsError and StoreError."""
        home = Home.find()
        settings = await asyncio.to_thread(Settings.load, home, flags=flags)
        own = keep or Path(stack.enter_context(_thrown_away()))
        log = await EventLog.open(own / "events.sqlite")
        stack.push_async_callback(log.close)
        builder = Builder(home, settings, stack, lambda _name, _look: None)
        own_tools = as_tools(tools)
        backend, code_backend, more_tools = await asyncio.gather(
            builder.backend(), builder.code_backend(), builder.tools()
        )
        parts = AgentParts(
            settings,
            log,
            Backends(backend),
            _with_languages(code_backend, languages).code_runner,
            await DailySpending.open(log, day_limits(settings)),
            policy_of(settings),
            StandingGrants(home, settings),
            (*own_tools, *more_tools),
            hooks=home.config / "hooks",
        )
        options = AgentOptions(
            NAME,
            Workspace(workspace or own / "workspace"),
            outputs=own / "outputs",
            undo=own / "undo",
            mode=mode,
            question_bytes=inf,
        )
        conversation = await open_agent(parts, options)
        stack.push_async_callback(conversation.close)
        return cls(conversation)

    def work(self, text: str) -> AsyncGenerator[AgentEvent, None]:
        """Do what the program asks."""
        return self.agent.work(text, BY)

    def settle(self, asked: ApprovalRequest, answer: Answer) -> None:
        """Answer a question: whether it may run, or what is to run instead."""
        approvals = self.agent.approvals
        if isinstance(answer, str):
            approvals.answer(asked.id, asked.nonce, "edit", answer, BY)
        else:
            approvals.answer(asked.id, asked.nonce, "yes" if answer else "no", None, BY)

    async def reset(self, mode: Mode) -> None:
        """Begin anew in this mode, in new interpreters."""
        await self._own.reset()
        self.agent.permissions.change_mode(mode, at_console=True)

    async def messages(self) -> AsyncIterator[tuple[Role, str, str, str]]:
        """Role, text, language and status of everything that was said and done. Raises
        StoreError."""
        for exchange in (await self._own.journal.whole()).exchanges:
            yield "person", exchange.asked, "", ""
            for step in exchange.steps:
                if step.text.strip():
                    yield "sayso", step.text, "", ""
                for act in step.acts:
                    ran = act.intended or act.call
                    yield "code", ran.code, ran.language, ""
                    if act.report is not None:
                        report = act.report
                        yield "output", report.output or report.detail, "", report.status


def _with_languages(code_backend: CodeBackend, more: Sequence[Language]) -> CodeBackend:
    return replace(code_backend, languages=(*code_backend.languages, *more))


def _thrown_away() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="sayso-", ignore_cleanup_errors=True)
