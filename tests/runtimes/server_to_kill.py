"""A server with code running in it, for a test to kill: `python -m … KIND WORKSPACE`."""

import asyncio
import sys
from pathlib import Path

from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.runtime import Output
from tests.kernels import lent_home
from tests.runtimes.sandboxes import KINDS, sandbox_of, workshop_in

CODE = """
import subprocess
subprocess.Popen(['setsid', 'sleep', '603'])
print('running', flush=True)
while True: pass
"""


async def main(kind: str, workspace: str) -> None:
    sandbox = next(sandbox_of(each) for each in KINDS if each == kind)
    assert not isinstance(sandbox, str)
    code_runner = workshop_in(Path(workspace), ensure(lent_home()), sandbox)
    async for piece in code_runner.run("python", CODE):
        if isinstance(piece, Output):
            sys.stdout.write(piece.text)
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
