"""Measures the loop around a language model: time per delta, our own words, memory at rest."""

import asyncio
import gc
import json
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from bench.support.figures import resident_kb
from sayso.protocol import messages as m
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.llm.model import (
    ChatMessage,
    Delta,
    TextDelta,
    ToolCallDelta,
    ToolDefinition,
    Usage,
)
from sayso.server.agent.loop import Agent
from sayso.server.agent.permissions.approvals import Approvals
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.prompt.compaction import HISTORY_CHARS
from sayso.server.agent.prompt.messages import Prompt
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.record.conversation_history import History
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.request_situation import local_time
from sayso.server.conversations.participant import Participant
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Answered, Asked
from sayso.server.turn.events import Joined, Ticket
from tests.server.running_server import Device, running_server

STEPS = 10

WITH_ALL = 20
"""Conversations that are opened first: what all have in common is there then."""

BETWEEN_S = 0.01
"""Between deltas: a quick model's hundred a second."""

ASKED = "Do it."

LONG_TALK = 2_000
"""Requests of a conversation that went on for months."""
PROMPTS = 20
QUESTION = "How high was the tide on the {number}th day, and when was it at its lowest?"
REPLY = "It was at its highest at seven in the evening, {number} centimetres above the mark. " * 2


@dataclass
class Talker:
    """A model that notes when it says what."""

    deltas: int
    said_at: list[float] = field(default_factory=list)
    name: str = "talker"
    calls_tools: bool = False
    sees: bool = False

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        return None

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        for number in range(self.deltas):
            await asyncio.sleep(BETWEEN_S)
            self.said_at.append(time.perf_counter())
            # Words that can be said at once, and that no guard takes for a circle.
            yield TextDelta(f"{number * 7_919 % 10_007} was found. ")
        yield Usage(1, 1, None)


@dataclass
class Worker:
    """A model that takes ten steps, and keeps the last request."""

    sent: Sequence[ChatMessage] = ()
    tools: Sequence[ToolDefinition] = ()
    steps: int = 0
    name: str = "worker"
    calls_tools: bool = True
    sees: bool = False

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        return None

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        self.sent, self.tools = list(messages), tools
        self.steps += 1
        if self.steps > STEPS:
            yield TextDelta("Done.")
        else:
            arguments = json.dumps({"language": "python", "code": code_of(self.steps)})
            yield ToolCallDelta(0, f"call{self.steps}", "execute", arguments)
        yield Usage(1, 1, None)


def code_of(step: int) -> str:
    return f"print('step', {step})"


@dataclass
class TimedDevice(Device):
    """A device that notes when a reply reaches it."""

    heard_at: list[float] = field(default_factory=list)

    def tell(self, message: m.FromServer, ticket: Ticket) -> None:
        if isinstance(message, m.ReplyDelta):
            self.heard_at.append(time.perf_counter())
        super().tell(message, ticket)


async def overhead(folder: Path, deltas: int) -> list[float]:
    """Milliseconds from each of a model's deltas to the message for the client."""
    model = Talker(deltas)
    async with running_server(folder, model=model) as server:
        seat = await Participant.take(server.conversations, server.commands)
        device = TimedDevice(seat, "desk")
        seat.join(Joined(device.name, speaks=False), device)
        await device.ask("Go on.")
    if len(device.heard_at) != deltas:
        raise SystemExit(f"{deltas} deltas became {len(device.heard_at)} messages")
    times = zip(model.said_at, device.heard_at, strict=True)
    return [(heard - said) * 1000 for said, heard in times]


async def idle_kb(folder: Path, conversations: int) -> float:
    """Kilobytes of memory for each conversation that is open and does nothing."""
    async with running_server(folder, open_at_most=conversations + WITH_ALL) as server:

        async def enter(count: int) -> None:
            for number in range(count):
                await server.conversations.enter(await server.conversations.begin(f"of {number}"))

        await enter(WITH_ALL)
        gc.collect()
        before = resident_kb()
        await enter(conversations)
        gc.collect()
        return (resident_kb() - before) / conversations


def prompts(folder: Path) -> list[float]:
    """Milliseconds to write what the model is sent in a conversation that went on for months."""
    history = History()
    for number in range(LONG_TALK):
        history.apply(Asked(QUESTION.format(number=number)))
        history.apply(Answered(REPLY.format(number=number)))
    history.apply(Asked(ASKED))
    code_runner = CodeRunner(
        folder, None, SandboxReport(holds=False, remedy="None is needed here.")
    )
    prompt = Prompt(profile("default"), code_runner, calls_tools=True, characters=HISTORY_CHARS)
    took = []
    for _ in range(PROMPTS):
        began = time.perf_counter()
        prompt.pictures(history)
        prompt.write(history)
        took.append((time.perf_counter() - began) * 1000)
    return took


@dataclass(frozen=True, slots=True)
class OwnTokens:
    """Tokens of ours: of all that is neither the person's, nor the model's, nor output. Counted
    with the tokenizer of GPT-3.5 and GPT-4 (cl100k), which comes with litellm and needs no
    network."""

    before_asked: int
    """The prompt and the definitions of tools, with the circumstances of a first request."""
    ten_steps: int
    """Distinct ones in a task of ten steps."""


async def own_tokens(environment: KernelEnvironment, sandbox: Sandbox, folder: Path) -> OwnTokens:
    """Let a task of ten steps be done, and count."""
    model = Worker()
    log = await EventLog.open(folder / "events.sqlite")
    report = SandboxReport(True, sandbox.kind, sandbox=sandbox)
    code_runner = CodeRunner(folder / "workspace", environment, report)
    try:
        journal = await Journal.open(log, "bench")
        desk = Approvals(journal)
        agent = Agent(
            Backend(model, profile("default")),
            code_runner,
            desk,
            ConversationRecord(journal, clock=local_time),
            permissions=Permissions(mode="workspace"),
        )
        async with aclosing(agent.work(ASKED, by="bench")) as events:
            async for _ in events:
                pass
    finally:
        await code_runner.close()
        await log.close()
    return _tokens(model)


def _tokens(model: Worker) -> OwnTokens:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or the import goes to the network
    import litellm

    def count(text: str) -> int:
        return len(litellm.encode(model="gpt-3.5-turbo", text=text))

    total = count(json.dumps(list(model.tools)))
    step = first = 0
    for message in model.sent:
        content = str(message.get("content") or "")
        if message["role"] == "system":
            total += count(content)
        elif message["role"] == "tool":
            step += 1
            total += count(content.replace(f"step {step}", ""))
        elif message["role"] == "user":
            total += count(content.replace(ASKED, ""))
            first = first or total
    if step != STEPS:
        raise SystemExit(f"The task took {step} steps instead of {STEPS}")
    return OwnTokens(first, total)
