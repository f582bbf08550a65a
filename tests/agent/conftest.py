"""An agent as the server builds it: real log, real litellm, real interpreter, scripted model."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest

from sayso.protocol.home import Home
from sayso.server.agent.events import AgentEvent, ApprovalRequest, CodeOut, ReplyDelta
from sayso.server.agent.limits import Budget, RequestLimits
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.llm.litellm_model import LitellmModel, Timeouts
from sayso.server.agent.llm.model import ChatModel, Endpoint
from sayso.server.agent.loop import Agent
from sayso.server.agent.permissions.approvals import Approvals, Decision
from sayso.server.agent.permissions.permissions import Mode, Permissions, StandingPermissions
from sayso.server.agent.prompt.profiles import ModelProfile, profile
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.agent.spending import DailyLimits, DailySpending
from sayso.server.agent.tools.run_code import CodeRunner
from sayso.server.agent.tools.tool import Tool
from sayso.server.models import InstalledModels
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.code_runner import CodeRunner as RealWorkshop
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport, find_sandbox
from sayso.server.store.event_log import EventLog
from tests.kernels import lent_home
from tests.scripted_model import Reply, ScriptedModel

IMPATIENT = Timeouts(first_delta_s=5.0, next_delta_s=5.0, all_tries_s=20.0, pause_s=0.01)
"""A test does not wait half a second between tries."""

_SANDBOXES: list[SandboxReport] = []
"""The machine's sandbox, examined once."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What litellm and pydantic disagree about is between them."""
    about = pytest.mark.filterwarnings("ignore:Accessing the 'model_.*fields' attribute")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(about)


Kind = TypeVar("Kind")

Answer = Decision | Literal["silence", "yes and more"]


@dataclass
class AgentRig:
    """Everything around one conversation."""

    folder: Path
    stack: AsyncExitStack
    log: EventLog
    journal: Journal
    approvals: Approvals
    day: DailySpending = field(default_factory=lambda: DailySpending(DailyLimits()))
    model: ScriptedModel = field(default_factory=ScriptedModel)
    events: list[AgentEvent] = field(default_factory=list)
    """What the last work told."""
    clock: Callable[[], datetime] | None = None
    """Without one, the model is told of no circumstances."""

    async def code_runner(self) -> CodeRunner:
        """A real place for code to run."""
        if not _SANDBOXES:
            _SANDBOXES.append(await find_sandbox())
        report = _SANDBOXES[0]
        code_runner = RealWorkshop(self.folder / "workspace", ensure(lent_home()), report)
        self.stack.push_async_callback(code_runner.close)
        return code_runner

    def litellm(self, calls_tools: Literal["yes", "no"], **more: Any) -> LitellmModel:  # noqa: ANN401
        """The scripted model, as litellm reaches it."""
        options: dict[str, Any] = {"patience": IMPATIENT, **more}
        endpoint = Endpoint(self.model.url, "some-key")
        return LitellmModel("openai/scripted", endpoint, calls_tools=calls_tools, **options)

    async def agent(
        self,
        *replies: Reply,
        calls_tools: Literal["yes", "no"] = "yes",
        mode: Mode = "ask",
        policy: Policy | None = None,
        standing: StandingPermissions | None = None,
        permissions: Permissions | None = None,
        bounds: RequestLimits | None = None,
        manner: ModelProfile | None = None,
        model: ChatModel | None = None,
        code_runner: CodeRunner | None = None,
        tools: Iterable[Tool] = (),
    ) -> Agent:
        """An agent whose model answers like this."""
        self.model.add(*replies)
        agent = Agent(
            Backend(model or self.litellm(calls_tools), manner or profile("default")),
            code_runner or await self.code_runner(),
            self.approvals,
            ConversationRecord(self.journal, RunOutputs(self.folder / "outputs"), self.clock),
            permissions=permissions or Permissions(policy or Policy(), mode, standing),
            budget=Budget(bounds or RequestLimits(), self.day),
            tools=tools,
        )
        self.stack.push_async_callback(agent.runs.close)
        return agent

    async def ask(
        self,
        agent: Agent,
        text: str,
        answer: Answer | Callable[[ApprovalRequest], tuple[Answer, str | None]] = "yes",
    ) -> str:
        """Have it work, answer what it asks, and return what it said."""
        self.events = []
        async with aclosing(agent.work(text, by="kitchen")) as events:
            async for event in events:
                self.events.append(event)
                if isinstance(event, ApprovalRequest):
                    decision, code = answer(event) if callable(answer) else (answer, None)
                    more = decision == "yes and more"
                    if decision != "silence":
                        given: Decision = "yes" if decision == "yes and more" else decision
                        assert self.approvals.answer(
                            event.id, event.nonce, given, code, "kitchen", lasting=more
                        )
        return "".join(event.text for event in self.events if isinstance(event, ReplyDelta))

    def told(self, kind: type) -> list[Any]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def output(self) -> str:
        """What the runs of the last work printed."""
        return "".join(event.output.text for event in self.told(CodeOut))

    async def records(self, kind: type[Kind]) -> list[Kind]:
        """What the log holds of one kind."""
        events = await self.log.conversation(self.journal.conversation)
        return [event.record for event in events if isinstance(event.record, kind)]

    def sent(self, number: int = -1) -> Sequence[dict[str, Any]]:
        """The messages that the model was sent, without the system prompt."""
        return self.model.requests[number].messages[1:]  # type: ignore[return-value]


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[AgentRig]:
    async with AsyncExitStack() as stack:
        log = await EventLog.open(tmp_path / "log.db")
        stack.push_async_callback(log.close)
        journal = await Journal.open(log, "kitchen talk")
        rig = AgentRig(tmp_path, stack, log, journal, Approvals(journal))
        stack.enter_context(rig.model)
        yield rig


@pytest.fixture(scope="module")
def weights() -> Path:
    """The pocket model's, as they come with Sayso."""
    return InstalledModels(Home.find()).find("language_model", "SmolLM2-135M-Instruct").path
