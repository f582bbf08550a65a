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

PYTHON = f"""
import json, sayso, time
times = []
for number in range({CALLS}):
    begun = time.perf_counter()
    sayso.call("same", value=number)
    times.append((time.perf_counter() - begun) * 1000)
print(json.dumps(times))
"""

JAVASCRIPT = f"""
{{
    const times = [];
    for (let number = 0; number < {CALLS}; number++) {{
        const begun = performance.now();
        sayso.call("same", {{ value: number }});
        times.push(performance.now() - begun);
    }}
    console.log(JSON.stringify(times));
}}
"""

BASH = f"""
times=()
for number in {{1..{CALLS}}}; do
    begun=$EPOCHREALTIME
    sayso same --value $number >/dev/null
    ended=$EPOCHREALTIME
    times+=($(( ${{ended/./}} - ${{begun/./}} ))e-3)
done
IFS=,
echo "[${{times[*]}}]"
"""

CODE = {"python": PYTHON, "javascript": JAVASCRIPT, "bash": BASH}
"""A loop of calls in each language, which prints what each took."""


class Same:
    """Returns what it was given."""

    name = "same"

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        return arguments["value"]


async def measure(
    environment: KernelEnvironment, sandbox: Sandbox, folder: Path, language: str = "python"
) -> list[float]:
    """Milliseconds of each call, as the code itself sees them."""
    report = SandboxReport(True, sandbox.kind, sandbox=sandbox)
    code_runner = CodeRunner(folder, environment, report)
    told = ""
    try:
        with code_runner.offering("bench", [Same()]):
            async with (
                asyncio.timeout(ANSWER_S),
                aclosing(code_runner.run(language, CODE[language])) as pieces,
            ):
                async for piece in pieces:
                    told += piece.text if isinstance(piece, Output) else ""
    finally:
        await code_runner.close()
    times: list[float] = json.loads(told)
    return times
