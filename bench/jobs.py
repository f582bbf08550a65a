"""Measures jobs: whether code in the background ends as it should, whatever a person does
meanwhile, and how long it takes to stop one.
"""

import asyncio
import gc
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.support.figures import resident_kb
from sayso.server.agent.events import CodeStart
from sayso.server.agent.limits import Budget, JobLimits
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.agent.loop import Agent
from sayso.server.agent.permissions.approvals import Approvals
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.journal import Journal
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from sayso.server.store.event_log import EventLog
from tests.plain_model import PlainModel

JOBS: Final = 3
ASIDES: Final = 20
"""Requests while they go on; every third one is stopped in the middle of its code."""

LASTS_S: Final = 20

CODE: Final = f"""
import time
kept, began = [], time.time()
while time.time() - began < {LASTS_S}:
    kept.append(len(kept)); time.sleep(0.1)
print('kept', kept == list(range(len(kept))))
"""
ASIDE: Final = "import time; time.sleep(0.2); print('aside')"
IDLE: Final = 12
"""Jobs that only wait: enough that pages of memory even out."""
WARM: Final = 4
"""Begun before: what all have in common is there then."""

FOR_EVER: Final = "import time; time.sleep(600)"


@dataclass
class _Coder(PlainModel):
    """Writes the next piece of code, then answers."""

    codes: list[str] = field(default_factory=list)

    def says(self, messages: Sequence[ChatMessage]) -> str:
        return f"```python\n{self.codes.pop(0)}\n```\n" if self.codes else "Done."


@dataclass(frozen=True, slots=True)
class JobFigures:
    """What was found."""

    survived: float
    """The share of jobs that ended as they should."""
    stop_ms: list[float]
    idle_kb: float
    """Kilobytes of the server's memory for one that waits; its interpreter is another process."""


async def measure(environment: KernelEnvironment, sandbox: Sandbox, folder: Path) -> JobFigures:
    """Let jobs go on beside requests that come, go and are stopped; then stop some."""
    log = await EventLog.open(folder / "events.sqlite")
    journal = await Journal.open(log, "bench")
    report = SandboxReport(holds=True, kind=sandbox.kind, sandbox=sandbox)
    code_runner = CodeRunner(folder / "workspace", environment, report)
    model = _Coder()
    agent = Agent(
        Backend(model, profile("default")),
        code_runner,
        Approvals(journal),
        ConversationRecord(journal),
        permissions=Permissions(mode="workspace"),
        budget=Budget(jobs=JobLimits(at_once=IDLE + WARM)),
    )
    try:
        for _ in range(JOBS):
            await _work(agent, model, CODE, "this one in the background")
        for number in range(ASIDES):
            if number % 3 == 0:
                await _cut(agent, model)
            else:
                await _work(agent, model, ASIDE, "an aside")
        await asyncio.sleep(LASTS_S)
        done = [job for job in agent.jobs.recent if job.state == "done" and job.text == "kept True"]
        stops = [await _stop(agent, model) for _ in range(JOBS)]
        idle_kb = await _idle_kb(agent, model)
    finally:
        await agent.runs.close()
        await code_runner.close()
        await log.close()
    return JobFigures(len(done) / JOBS, stops, idle_kb)


async def _work(agent: Agent, model: _Coder, code: str, asked: str) -> None:
    model.codes.append(code)
    async with aclosing(agent.work(asked)) as events:
        async for _ in events:
            pass


async def _cut(agent: Agent, model: _Coder) -> None:
    """A request that is stopped while its code runs."""
    model.codes.append(FOR_EVER)
    async with aclosing(agent.work("something else")) as events:
        async for event in events:
            if isinstance(event, CodeStart):
                break


async def _idle_kb(agent: Agent, model: _Coder) -> float:
    """Of jobs that begin and then only wait."""
    for _ in range(WARM):
        await _work(agent, model, FOR_EVER, "this one in the background")
    gc.collect()
    before = resident_kb()
    for _ in range(IDLE):
        await _work(agent, model, FOR_EVER, "this one in the background")
    gc.collect()
    return (resident_kb() - before) / IDLE


async def _stop(agent: Agent, model: _Coder) -> float:
    """Milliseconds until a job in the background has ended."""
    await _work(agent, model, FOR_EVER, "this one in the background")
    begun = time.perf_counter()
    for job in agent.jobs.in_background:
        await agent.runs.stop(job.id)
    return (time.perf_counter() - begun) * 1000
