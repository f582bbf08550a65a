"""What the agent's engine costs: cells, kernels, the loop around the model, memory, checkpoints.

Everything is real but the language model, which answers at once from a script. The bare
`jupyter_client` round trip is taken in the same run, so that figures are ratios on any machine.
"""

import asyncio
import os
import tempfile
import time
from pathlib import Path
from typing import TypedDict

from bench import calls, cells, jobs, loops, outputs, steering
from bench.first_run import first_outputs
from bench.support.figures import Spread, percentile, spread
from sayso.protocol.home import Home
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.undo.checkpoints import Checkpoints
from sayso.server.undo.hooks.guard import GitHookGuard
from sayso.server.undo.hooks.recovery import RecoveryFile
from sayso.server.undo.store import Room

FILES = 10_000

DELTAS = 300

BEGUN = 7
"""New conversations in which code runs for the first time."""

STEERED = 20
"""Requests during whose work something is said."""

IDLE = 200
"""Conversations that do nothing: enough that pages of memory even out."""


class Figures(TypedDict):
    """What `--json` prints."""

    sandbox: str
    cells: int
    bare_jupyter_ms: Spread
    cell_ms: Spread
    cell_sandbox_ms: Spread
    call_ms: Spread
    call_p99_ms: float
    call_javascript_ms: Spread
    call_bash_ms: Spread
    output_lost: int
    kernel_ready_s: Spread
    kernel_warm_ms: Spread
    first_output_ms: Spread
    interrupt_ms: Spread
    interrupt_p99_ms: float
    kill_ms: Spread
    death_told_ms: Spread
    cell_after_death_ms: Spread
    loop_overhead_ms: Spread
    long_talk_prompt_ms: Spread
    prompt_tokens: int
    own_tokens_10_steps: int
    cell_alone_ms: Spread
    cell_16_ms: Spread
    conversation_idle_kb: float
    checkpoint_10k_ms: Spread
    job_survived: float
    job_stop_ms: Spread
    job_idle_kb: float
    status_ms: Spread
    steer_lost: int


def measure(count: int) -> Figures:
    """Take all figures, with so many cells of each kind."""
    return asyncio.run(_measure(count))


async def _measure(count: int) -> Figures:
    environment = await asyncio.to_thread(ensure, Home.find())
    report = await find_sandbox()
    if report.sandbox is None:
        raise SystemExit(f"There is no sandbox to measure, because {report.reason}.")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["SAYSO_HOME"] = f"{scratch}/home"
        folder = Path(scratch)
        rooms = ("idle", "loop", "tokens", "first", "cells", "calls", "outputs", "undo", "jobs")
        for name in (*rooms, "steered"):
            (folder / name).mkdir()
        idle = await loops.idle_kb(folder / "idle", IDLE)
        overhead = await loops.overhead(folder / "loop", DELTAS)
        prompts = loops.prompts(folder / "loop")
        tokens = await loops.own_tokens(environment, report.sandbox, folder / "tokens")
        first = await first_outputs(environment, report.sandbox, folder / "first", BEGUN)
        times = await cells.measure(environment, report.sandbox, folder / "cells", count)
        called = {
            language: await calls.measure(environment, report.sandbox, folder / "calls", language)
            for language in calls.CODE
        }
        lost = await outputs.lost(environment, report.sandbox, folder / "outputs")
        checkpoints = await _checkpoints(folder / "undo")
        beside = await jobs.measure(environment, report.sandbox, folder / "jobs")
        told = await steering.measure(environment, report.sandbox, folder / "steered", STEERED)
    return Figures(
        sandbox=report.sandbox.kind,
        cells=count,
        bare_jupyter_ms=spread(times.bare),
        cell_ms=spread(times.plain),
        cell_sandbox_ms=spread(times.confined),
        call_ms=spread(called["python"], 3),
        call_p99_ms=percentile(called["python"], 99),
        call_javascript_ms=spread(called["javascript"], 3),
        call_bash_ms=spread(called["bash"], 3),
        output_lost=lost,
        kernel_ready_s=spread([time / 1000 for time in times.cold], 2),
        kernel_warm_ms=spread(times.warm),
        first_output_ms=spread(first),
        interrupt_ms=spread(times.interrupt),
        interrupt_p99_ms=percentile(times.interrupt, 99),
        kill_ms=spread(times.kill),
        death_told_ms=spread(times.death),
        cell_after_death_ms=spread(times.after_death),
        loop_overhead_ms=spread(overhead, 2),
        long_talk_prompt_ms=spread(prompts),
        prompt_tokens=tokens.before_asked,
        own_tokens_10_steps=tokens.ten_steps,
        cell_alone_ms=spread(times.alone),
        cell_16_ms=spread(times.together),
        conversation_idle_kb=round(idle, 1),
        checkpoint_10k_ms=spread(checkpoints),
        job_survived=beside.survived,
        job_stop_ms=spread(beside.stop_ms),
        job_idle_kb=round(beside.idle_kb, 1),
        status_ms=spread(told.status_ms),
        steer_lost=told.lost,
    )


async def _checkpoints(folder: Path) -> list[float]:
    """Milliseconds of each checkpoint but the first, with a run between that changes ten files."""
    workspace = folder / "workspace"
    for number in range(FILES):
        file = workspace / f"folder{number % 100}" / f"file{number}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"This is file {number}.\n" * 20)
    checkpoints = Checkpoints(folder / "kept", "bench", workspace, lambda: (workspace,), Room())
    checkpoints.open()
    recovery = RecoveryFile(folder / "kept" / "bench")
    kept = GitHookGuard(checkpoints, lambda: (workspace,), recovery)
    times = []
    try:
        for run in range(11):
            begun = time.perf_counter()
            if hindrance := await kept.before(f"run{run}"):
                raise SystemExit(f"No checkpoint can be made: {hindrance}")
            times.append((time.perf_counter() - begun) * 1000)
            for number in range(run, FILES, FILES // 10):
                (workspace / f"folder{number % 100}" / f"file{number}").write_text(f"in {run}")
            await kept.after(f"run{run}")
    finally:
        await checkpoints.close()
    return times[1:]


def table(figures: Figures) -> str:
    """For people."""
    bare = figures["bare_jupyter_ms"]["median"]
    alone = figures["cell_alone_ms"]["median"]
    lines = [f"{figures['cells']} cells of each kind, sandbox: {figures['sandbox']}", ""]
    for name, value in figures.items():
        if not isinstance(value, dict):
            if name not in ("cells", "sandbox"):
                lines.append(f"{name:24}{value:10}")
            continue
        ratio = ""
        if name in ("cell_ms", "cell_sandbox_ms"):
            ratio = f"{value['median'] / bare:8.2f} x bare"
        if name == "cell_16_ms":
            ratio = f"{value['p95'] / alone:8.2f} x alone (p95)"
        lines.append(f"{name:24}{value['median']:10} median{value['p95']:10} p95{ratio}")
    return "\n".join(lines)
