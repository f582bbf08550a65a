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
from sayso.server.agent.loop import Agent
from sayso.server.agent.permissions.approvals import ApprovalDesk
from sayso.server.agent.permissions.modes import Mode, SaySo
from sayso.server.agent.permissions.standing_grants import StandingGrants, policy_of
from sayso.server.agent.record.conversation_settings import Terms
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.record.run_outputs import Outputs
from sayso.server.agent.spending import DayBook
from sayso.server.agent.tools.function import Function, Toolbox
from sayso.server.assembly.conversation import bounds, day_bounds
from sayso.server.assembly.models import Builder, Ground
from sayso.server.assembly.undo import Memory
from sayso.server.embedding.stream import BY, Answer
from sayso.server.runtimes.code_runner import Workshop
from sayso.server.runtimes.language import Language
from sayso.server.settings import Settings
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import ConversationReset

NAME: Final = "chat"
Role = Literal["person", "sayso", "code", "output"]


class OneHouse:
    """Made by `open`; ends with the stack that it is given."""

    def __init__(
        self,
        agent: Agent,
        desk: ApprovalDesk,
        journal: Journal,
        make_workshop: Callable[[], Workshop],
        functions: Sequence[Function],
        memory: Memory,
    ) -> None:
        self.agent = agent
        self._desk = desk
        self._journal = journal
        self._make_workshop = make_workshop
        self._functions = functions
        self._memory = memory
        self.taking_back = memory.taking_back

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
        mind, ground = await asyncio.gather(builder.thinking(), builder.ground())
        ground = _with_languages(ground, languages)
        folder = workspace or own / "workspace"

        def make_workshop() -> Workshop:
            return ground.workshop(folder, say_so.reach)

        functions = [Function.of(tool) for tool in tools]
        outside = frozenset(function.name for function in functions)
        say_so = SaySo(policy_of(settings), mode, StandingGrants(home, settings), outside)

        day = await DayBook.open(log, day_bounds(settings))
        journal = await Journal.open(log, NAME, day.saw)
        say_so.restore(replace(journal.terms, mode=""))
        workshop = make_workshop()
        memory = Memory(Home(own, own, own), settings.undo, journal, workshop)
        desk = ApprovalDesk(journal, settings.approvals.expire_s, most_bytes=inf)
        agent = Agent(
            mind.model,
            Toolbox(workshop, functions),
            desk,
            journal,
            profile=mind.manner,
            checkpointer=memory.checkpointer,
            bounds=bounds(settings),
            say_so=say_so,
            outputs=Outputs(own / "outputs"),
            day=day,
            functions=functions,
        )
        house = cls(agent, desk, journal, make_workshop, functions, memory)
        stack.push_async_callback(house.close)
        return house

    def work(self, text: str) -> AsyncGenerator[AgentEvent, None]:
        """Do what the program asks."""
        return self.agent.work(text, BY)

    def settle(self, asked: ApprovalAsked, answer: Answer) -> None:
        """Answer a question: whether it may run, or what is to run instead."""
        if isinstance(answer, str):
            self._desk.answer(asked.id, asked.nonce, "edit", answer, BY)
        else:
            self._desk.answer(asked.id, asked.nonce, "yes" if answer else "no", None, BY)

    async def reset(self) -> None:
        """Begin anew, in new interpreters."""
        await self._journal.note("person", ConversationReset())
        await self._memory.workshop.close()
        self.agent.say_so.restore(Terms())
        await self._memory.move(self._make_workshop())
        self.agent.use_workshop(Toolbox(self._memory.workshop, self._functions))

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
        await self._memory.workshop.close()
        await self._memory.close()


def _with_languages(ground: Ground, more: Sequence[Language]) -> Ground:
    return replace(ground, languages=(*ground.languages, *more))


def _thrown_away() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="sayso-", ignore_cleanup_errors=True)
