"""Measures the wait in a new conversation from the person's yes to the first output.

All of the server is in it but the speech and the socket: the decision, the log, the checkpoint of
a new workspace, the kernel that was started when the conversation was opened.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.cells import WARM_S
from sayso.protocol import messages as m
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.conversations.participant import Participant
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from sayso.server.turn.events import ApprovalAnswered, Joined, Ticket
from tests.plain_model import PlainModel
from tests.server.running_server import Device, running_server

CODE = "print(6 * 7)"


class OneRun(PlainModel):
    """Writes code once for each request."""

    def says(self, messages: Sequence[ChatMessage]) -> str:
        asked = messages[-1]["content"] == CODE
        return f"```python\n{CODE}\n```\n" if asked else "It is done."


@dataclass
class Approving(Device):
    """A device that says yes at once, and notes when it did and when there was output."""

    yes_at: float = 0.0
    output_at: float = 0.0

    def tell(self, message: m.FromServer, ticket: Ticket) -> None:
        match message:
            case m.ApprovalRequest(id=name, nonce=nonce):
                self.yes_at = time.perf_counter()
                self.seat.happened(ApprovalAnswered(self.name, name, nonce, "yes", None))
            case m.CodeOut():
                self.output_at = time.perf_counter()
            case _:
                pass
        super().tell(message, ticket)


async def first_outputs(
    environment: KernelEnvironment, sandbox: Sandbox, folder: Path, conversations: int
) -> list[float]:
    """Milliseconds, of so many new conversations."""
    report = SandboxReport(True, sandbox.kind, sandbox=sandbox)

    def code_runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        return CodeRunner(place, environment, report, reach)

    times = []
    async with running_server(folder, model=OneRun(), code_runner=code_runner) as server:
        for number in range(conversations):
            await server.conversations.begin(f"talk {number}")
            seat = await Participant.take(server.conversations, server.commands, f"talk {number}")
            device = Approving(seat, "desk")
            seat.join(Joined(device.name, speaks=False), device)
            await asyncio.sleep(WARM_S)
            await device.ask(CODE)
            if device.output_at < device.yes_at:
                raise SystemExit("The first run of a conversation printed nothing.")
            times.append((device.output_at - device.yes_at) * 1000)
            device.leave()
    return times
