"""Measures how much of what code prints fast is lost on its way: it should be nothing."""

from contextlib import aclosing
from pathlib import Path

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.runtime import Output
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport

LINES = 160_000
"""A megabyte of short lines."""

CODE = {
    "python": f"for number in range({LINES}): print(number)",
    "javascript": f"for (let number = 0; number < {LINES}; number++) console.log(number)",
    "bash": f"seq 0 {LINES - 1}",
}


async def lost(environment: KernelEnvironment, sandbox: Sandbox, folder: Path) -> int:
    """How many characters are missing, or wrong, of what each language printed."""
    report = SandboxReport(True, sandbox.kind, sandbox=sandbox)
    code_runner = CodeRunner(folder, environment, report)
    wanted = "".join(f"{number}\n" for number in range(LINES))
    missing = 0
    try:
        for language, code in CODE.items():
            came = ""
            async with aclosing(code_runner.run(language, code)) as pieces:
                async for piece in pieces:
                    came += piece.text if isinstance(piece, Output) else ""
            same = came == wanted
            missing += 0 if same else max(1, abs(len(wanted) - len(came)))
    finally:
        await code_runner.close()
    return missing
