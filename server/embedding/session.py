"""A house for one conversation without sound and door: what `Sayso` in Python works with."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, Final, Literal, Self

from sayso.protocol.home import Home
from sayso.server.agent.events import AgentEvent, ApprovalAsked
from sayso.server.agent.limits import Budget
from sayso.server.agent.loop import Agent
from sayso.server.agent.permissions.approvals import Approvals
from sayso.server.agent.permissions.modes import Mode, Permissions
from sayso.server.agent.permissions.standing_grants import StandingGrants, policy_of
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.conversation_settings import ConversationSettings
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.agent.spending import DailySpending
from sayso.server.agent.tools.function import Function, Functions
from sayso.server.assembly.conversation import bounds, day_bounds
from sayso.server.assembly.models import Builder, CodeBackend
from sayso.server.assembly.undo import ConversationUndo
from sayso.server.embedding.stream import BY, Answer
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.language import Language
from sayso.server.settings import Settings
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import ConversationReset

NAME: Final = "chat"
Role = Literal["person", "sayso", "code", "output"]


class EmbeddedSession:
    """Made by `open`; ends with the stack that it is given."""

    def __init__(
        self,
        agent: Agent,
        approvals: Approvals,
        journal: Journal,
        make_code_runner: Callable[[], CodeRunner],
        functions: Sequence[Function],
        undo: ConversationUndo,
    ) -> None:
        self.agent = agent
        self._approvals = approvals
        self._journal = journal
        self._make_code_runner = make_code_runner
        self._functions = functions
        self._undo = undo
        self.undo_requests = undo.undo_requests

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
        tools: Sequence[Callable[..., Any]],
    ) -> Self:
        """Build it. Raises SettingsError and StoreError."""
        home = Home.find()
        settings = await asyncio.to_thread(Settings.load, home, flags=flags)
        own = keep or Path(stack.enter_context(_thrown_away()))
        log = await EventLog.open(own / "events.sqlite")
        stack.push_async_callback(log.close)
        builder = Builder(home, settings, stack, lambda _name, _look: None)
        backend, code_backend = await asyncio.gather(builder.thinking(), builder.code_backend())
        code_backend = _with_languages(code_backend, languages)
        folder = workspace or own / "workspace"

        def make_code_runner() -> CodeRunner:
            return code_backend.code_runner(folder, permissions.reach)

        functions = [Function.of(tool) for tool in tools]
        outside = frozenset(function.name for function in functions)
        permissions = Permissions(
            policy_of(settings), mode, StandingGrants(home, settings), outside
        )

        day = await DailySpending.open(log, day_bounds(settings))
        journal = await Journal.open(log, NAME, day.saw)
        permissions.restore(replace(journal.terms, mode=""))
        code_runner = make_code_runner()
        undo = ConversationUndo(Home(own, own, own), settings.undo, journal, code_runner)
        await undo.recover()
        approvals = Approvals(journal, settings.approvals.expire_s, most_bytes=inf)
        agent = Agent(
            backend,
            Functions(code_runner, functions),
            approvals,
            ConversationRecord(journal, RunOutputs(own / "outputs")),
            permissions=permissions,
            checkpointer=undo.checkpointer,
            budget=Budget(bounds(settings), day),
            functions=functions,
        )
        house = cls(agent, approvals, journal, make_code_runner, functions, undo)
        stack.push_async_callback(house.close)
        return house

    def work(self, text: str) -> AsyncGenerator[AgentEvent, None]:
        """Do what the program asks."""
        return self.agent.work(text, BY)

    def settle(self, asked: ApprovalAsked, answer: Answer) -> None:
        """Answer a question: whether it may run, or what is to run instead."""
        if isinstance(answer, str):
            self._approvals.answer(asked.id, asked.nonce, "edit", answer, BY)
        else:
            self._approvals.answer(asked.id, asked.nonce, "yes" if answer else "no", None, BY)

    async def reset(self) -> None:
        """Begin anew, in new interpreters."""
        await self._journal.note("person", ConversationReset())
        await self._undo.code_runner.close()
        self.agent.permissions.restore(ConversationSettings())
        await self._undo.accept()
        await self._undo.move(self._make_code_runner())
        self.agent.use_code_runner(Functions(self._undo.code_runner, self._functions))

    async def messages(self) -> AsyncIterator[tuple[Role, str, str, str]]:
        """Role, text, language and status of everything that was said and done. Raises
        StoreError."""
        for exchange in (await self._journal.whole()).exchanges:
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

    async def close(self) -> None:
        """End the interpreters."""
        await self._undo.code_runner.close()
        await self._undo.close()


def _with_languages(code_backend: CodeBackend, more: Sequence[Language]) -> CodeBackend:
    return replace(code_backend, languages=(*code_backend.languages, *more))


def _thrown_away() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="sayso-", ignore_cleanup_errors=True)
