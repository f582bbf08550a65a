"""Measures a call from code in the sandbox to a function of the server and back."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path

from sayso.server.runtimes.calls.function import CallingRun
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.runtime import Output
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport

CALLS = 1_000

ANSWER_S = 60.0

CODE = f"""
import json, sayso, time
times = []
for number in range({CALLS}):
    begun = time.perf_counter()
    sayso.call("same", value=number)
    times.append((time.perf_counter() - begun) * 1000)
print(json.dumps(times))
"""


class Same:
    """Returns what it was given."""

    name = "same"

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        return arguments["value"]


async def measure(environment: KernelEnvironment, sandbox: Sandbox, folder: Path) -> list[float]:
    """Milliseconds of each call, as the code itself sees them."""
    report = SandboxReport(True, sandbox.kind, sandbox=sandbox)
    code_runner = CodeRunner(folder, environment, report)
    told = ""
    try:
        with code_runner.offering("bench", [Same()]):
            async with (
                asyncio.timeout(ANSWER_S),
                aclosing(code_runner.run("python", CODE)) as pieces,
            ):
                async for piece in pieces:
                    told += piece.text if isinstance(piece, Output) else ""
    finally:
        await code_runner.close()
    times: list[float] = json.loads(told)
    return times
