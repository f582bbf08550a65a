"""A conversation that works in a person's repository, with a model that says what it is told to."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import cast

from sayso.protocol import messages as m
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.agent.permissions.approvals import Decision
from sayso.server.conversations.open_conversation import OpenConversation
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment, ensure
from sayso.server.runtimes.network.addresses import Whereabouts
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.settings import Settings
from sayso.server.turn.events import ApprovalAnswered, Typed
from tests.git import git
from tests.kernels import lent_home
from tests.plain_model import PlainModel
from tests.server.running_server import Device, running_server

WAIT_S = 40.0
"""Longest time for several interpreters and git on a busy machine."""


async def until(is_so: Callable[[], object]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(WAIT_S):
        for pause in repeat(0.005):
            if is_so():
                return
            await asyncio.sleep(pause)


@dataclass
class Told(PlainModel):
    """Says what it is given, one reply after the other, and then that it is done."""

    replies: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    """The latest message of each request that it was sent."""

    def says(self, messages: Sequence[ChatMessage]) -> str:
        self.heard.append(str(messages[-1]["content"]))
        return self.replies.pop(0) if self.replies else "Done."


def bash(code: str) -> str:
    return f"```bash\n{code}\n```"


def tool(name: str, **arguments: object) -> str:
    return f"```{name}\n{json.dumps(arguments)}\n```"


def says_yes(_: m.ApprovalRequest) -> Decision:
    return "yes"


@dataclass
class Partner:
    repository: Path
    model: Told
    device: Device
    here: OpenConversation
    asked: list[m.ApprovalRequest] = field(default_factory=list)
    """The questions of the latest request."""

    async def ask(
        self, text: str, *replies: str, answer: Callable[[m.ApprovalRequest], Decision] = says_yes
    ) -> str:
        """What the person asks for; returns what the model was told last."""
        self.model.replies = list(replies)
        self.device.told.clear()
        self.asked = []
        self.device.seat.happened(Typed(self.device.name, text))
        done: set[str] = set()
        idle = m.TurnState("idle", "idle", "silent")
        while True:
            await until(
                lambda: (
                    (self.device.all(m.Metrics) and self.device.told[-1] == idle)
                    or {each.id for each in self._questions} - done
                )
            )
            waiting = [each for each in self._questions if each.id not in done]
            if not waiting:
                return self.model.heard[-1]
            for each in waiting:
                done.add(each.id)
                self.asked.append(each)
                decision = answer(each)
                self.device.seat.happened(
                    ApprovalAnswered(self.device.name, each.id, each.nonce, decision, None)
                )

    async def answer(self, decision: Decision) -> None:
        """Answer the latest question."""
        each = self._questions[-1]
        self.device.seat.happened(
            ApprovalAnswered(self.device.name, each.id, each.nonce, decision, None)
        )

    @property
    def _questions(self) -> list[m.ApprovalRequest]:
        return cast("list[m.ApprovalRequest]", self.device.all(m.ApprovalRequest))

    def git(self, *words: str) -> str:
        return git("-c", "safe.directory=*", *words, folder=self.repository)


@asynccontextmanager
async def partner(
    folder: Path,
    mode: str = "workspace",
    model: Told | None = None,
    environment: KernelEnvironment | None = None,
    chosen: Settings | None = None,
    whereabouts: Whereabouts | None = None,
) -> AsyncIterator[Partner]:
    """In a repository with one commit of `a.txt`, `b.txt` and `c.txt`, each of ten lines."""
    settings = folder / "gitconfig"
    settings.write_text("[user]\n\tname = Ann Lee\n\temail = ann@example.org\n")
    repository = folder / "project"
    repository.mkdir()
    git("init", "-q", "-b", "main", folder=repository)
    for name in ("a.txt", "b.txt", "c.txt"):
        (repository / name).write_text("".join(f"line {n}\n" for n in range(10)))
    git("add", ".", folder=repository)
    git("commit", "-qm", "first", folder=repository)
    report, model = await find_sandbox(), model or Told()
    kernels = environment or ensure(lent_home())
    async with running_server(
        folder / "home",
        model=model,
        code_runner=lambda place, reach, known: CodeRunner(
            place, kernels, report, reach, whereabouts, identity=known
        ),
        settings=chosen,
    ) as server:
        here = await server.conversations.enter(await server.conversations.begin("project"))
        here.agent.permissions.change_mode(mode, at_console=True)
        await here.work_in(repository, "desk")
        yield Partner(repository, model, await server.device("desk", "project"), here)
