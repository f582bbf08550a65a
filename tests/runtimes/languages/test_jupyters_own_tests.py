"""The sandboxed Python kernel is a kernel like any other: Jupyter's own tests of kernels say so."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.language import Place
from sayso.server.runtimes.languages.python import Python
from sayso.server.runtimes.sandbox.sandbox import Confines, Sandbox

NOT_TRIED = ["test_history (hist_access_type='range')"]
"""IPython calls its present session 0 there, and not as it does elsewhere."""


@pytest.mark.thorough
async def test_jupyters_own_tests_pass(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    place = Place(sandbox, environment, Confines(workspace, writable=(workspace,)))
    kernel = await Python.start(place)
    try:
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.runtimes.jupyters", str(kernel.connection)),
            stdout=asyncio.subprocess.PIPE,
        )
        told, _ = await program.communicate()
    finally:
        await kernel.close()
    result = json.loads(told)
    assert not result["problems"], "\n".join(result["problems"])
    assert result["skipped"] == NOT_TRIED
    assert result["run"] >= 12
