"""Measures words during work, through a whole conversation whose code really runs: how long a
question about the work waits for its answer, and whether what is said for the model reaches it
exactly once, whenever it is said.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.protocol import messages as m
from sayso.server.agent.llm.model import ChatMessage, Delta, ToolDefinition
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from sayso.server.turn.events import ApprovalAnswered, Typed
from tests.plain_model import PlainModel
from tests.server.running_server import Device, running_server, until

QUESTIONS: Final = (
    "What are you doing?",
    "How far is it?",
    "What's left?",
    "How much was that?",
    "Was machst du gerade?",
)

STOPPED: Final = "before a stop"
MOMENTS: Final = ("at its start", "at its end", "while the model replies", STOPPED)
"""When the words are said, one request after the other."""

CODE: Final = """
import pathlib, time
while not pathlib.Path('go{number}').exists():
    time.sleep(0.01)
"""


@dataclass(frozen=True, slots=True)
class SteeringFigures:
    """What was found."""

    status_ms: list[float]
    lost: int
    """How many of the person's words did not reach the model's next request, or the next one after
    a stop, or stand in a later one more or less than once."""


@dataclass
class _Worker(PlainModel):
    """Writes code when it is asked for work, and answers whatever else it is told."""

    takes_s: float = 0.05
    asked: int = 0
    last_request: str = ""
    """What the latest request to it held."""

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        self.asked += 1
        self.last_request = "\n".join(str(message.get("content")) for message in messages)
        async for delta in super().reply(messages, tools):
            yield delta

    def says(self, messages: Sequence[ChatMessage]) -> str:
        wanted = re.search(r"do work (\d+)", str(messages[-1]["content"]))
        return f"```python\n{CODE.format(number=wanted[1])}\n```\n" if wanted else "Done."


async def measure(
    environment: KernelEnvironment, sandbox: Sandbox, folder: Path, rounds: int
) -> SteeringFigures:
    """Say something in each of so many requests; then ask the model once more after a restart."""
    places: set[Path] = set()
    report = SandboxReport(holds=True, kind=sandbox.kind, sandbox=sandbox)

    def code_runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        places.add(place)
        return CodeRunner(place, environment, report, reach)

    model, again = _Worker(), _Worker()
    status: list[float] = []
    said: list[str] = []
    lost: set[str] = set()
    async with running_server(folder, model=model, code_runner=code_runner) as server:
        desk, kitchen = await server.device("desk"), await server.device("kitchen")
        for number in range(rounds):
            await _begin(desk, number)
            status += [await _status_ms(device, number) for device in (desk, kitchen)]
            said.append(f"leave out picture p{number:03}")
            (place,) = places
            moment, end_of_code = MOMENTS[number % len(MOMENTS)], (place / f"go{number}").touch
            await _say(kitchen, said[-1], moment, end_of_code, model)
            await _idle(desk)
            if moment != STOPPED and model.last_request.count(said[-1]) != 1:
                lost.add(said[-1])
    async with running_server(folder, model=again, code_runner=code_runner) as server:
        await (await server.device("desk")).ask("thanks for that")
    lost |= {words for words in said if again.last_request.count(words) != 1}
    return SteeringFigures(status, len(lost))


async def _begin(desk: Device, number: int) -> None:
    """A request whose code runs."""
    desk.told.clear()
    desk.seat.happened(Typed(desk.name, f"do work {number}"))
    await until(lambda: desk.all(m.ApprovalRequest))
    (question,) = desk.all(m.ApprovalRequest)
    assert isinstance(question, m.ApprovalRequest)
    desk.seat.happened(ApprovalAnswered(desk.name, question.id, question.nonce, "yes", None))
    await until(lambda: desk.all(m.CodeStart))


async def _status_ms(device: Device, number: int) -> float:
    """Milliseconds until a question about the work is answered."""
    before, begun = len(device.all(m.Announce)), time.perf_counter()
    device.seat.happened(Typed(device.name, QUESTIONS[number % len(QUESTIONS)]))
    await until(lambda: len(device.all(m.Announce)) > before)
    return (time.perf_counter() - begun) * 1000


async def _say(
    device: Device, words: str, moment: str, end_of_code: Callable[[], None], model: _Worker
) -> None:
    """Say the words at that moment, and let the code end."""

    def say(text: str) -> None:
        device.seat.happened(Typed(device.name, text))

    match moment:
        case "at its start":
            say(words)
            await asyncio.sleep(0.05)
            end_of_code()
        case "at its end":
            end_of_code()
            say(words)
        case "while the model replies":
            asked = model.asked
            end_of_code()
            await until(lambda: model.asked > asked)
            say(words)
        case _:
            say(words)
            await asyncio.sleep(0.05)
            say("Stop.")


async def _idle(device: Device) -> None:
    """All that was asked is answered, also what came too late and was a request of its own."""
    idle = m.TurnState("idle", "idle", "silent")
    while True:
        await until(lambda: device.told[-1] == idle)
        told = len(device.told)
        await asyncio.sleep(0.1)
        if len(device.told) == told:
            return
