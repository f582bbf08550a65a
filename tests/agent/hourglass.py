"""An agent whose model takes a second and whose code takes as long as it says, by virtual time."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from sayso.server.agent.events import AgentEvent, ReplyDelta
from sayso.server.agent.limits import Budget, JobLimits, RequestLimits
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.agent.loop import Agent
from sayso.server.agent.permissions.approvals import Approvals
from sayso.server.agent.permissions.permissions import Mode, Permissions
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.journal import Journal
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Record, RunReported
from tests.agent.permissions.places import Ungranted
from tests.plain_model import PlainModel

CODE = "```python\n{}\n```\n"


class Recital(PlainModel):
    """A model that takes a second for each reply."""

    name = "recital"
    takes_s = 1.0

    def __init__(self, *replies: str) -> None:
        self._replies = list(replies)
        self.sent: Sequence[ChatMessage] = ()

    def says(self, messages: Sequence[ChatMessage]) -> str:
        self.sent = list(messages)
        return self._replies.pop(0)


class Hourglass(Ungranted):
    """A place where code is a list of pauses in seconds, each with what is printed after it:
    `5 half way; 5 done`. Real ones know no virtual time."""

    languages = ("python",)
    where = "/w"
    refusal = ""

    def __init__(self) -> None:
        self.touch: tuple[str, ...] = ("write /w",)
        self.stopped = 0
        self.set_asides = 0

    def may_touch(self, language: str) -> tuple[str, ...]:
        return self.touch

    def set_aside(self, language: str) -> bool:
        self.set_asides += 1
        return True

    async def run(self, language: str, code: str) -> AsyncIterator[Output | Ending]:
        took = 0.0
        try:
            for part in code.split(";"):
                pause, _, printed = part.strip().partition(" ")
                await asyncio.sleep(float(pause))
                took += float(pause)
                if printed:
                    yield Output("stdout", printed + "\n")
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        yield Ending("ok", took)


class Room:
    """One conversation."""

    def __init__(self, log: EventLog, journal: Journal) -> None:
        self.log = log
        self.approvals = Approvals(journal, expires_s=120.0)
        self.hourglass = Hourglass()
        self.journal = journal
        self.events: list[AgentEvent] = []

    def agent(
        self, model: Recital, seconds: float, mode: Mode, jobs: JobLimits | None = None
    ) -> Agent:
        return Agent(
            Backend(model, profile("default")),
            self.hourglass,
            self.approvals,
            ConversationRecord(self.journal),
            budget=Budget(RequestLimits(seconds=seconds), jobs=jobs or JobLimits()),
            permissions=Permissions(mode=mode),
        )

    @property
    def said(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ReplyDelta))

    async def records(self) -> list[Record]:
        return [event.record for event in await self.log.conversation("c")]

    async def reports(self) -> list[RunReported]:
        return [record for record in await self.records() if isinstance(record, RunReported)]
