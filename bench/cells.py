"""Measures the round trip of code to an interpreter and back, and how soon there is one."""

import asyncio
import secrets
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_client.asynchronous import AsyncKernelClient

from sayso.server.runtimes.base_python import base_python
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.kernels.wire import write_connection
from sayso.server.runtimes.runtime import Ending
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from sayso.server.runtimes.sandbox.unconfined import Unconfined

WARM_S = 3.0
"""As long as a person at least takes to say something after a conversation was opened."""

REST_S = 0.02
"""A kernel tidies up when it has answered, which is not to be on the next one's account."""

AT_ONCE = 16

ANSWER_S = 30.0

CELL = "1"

HUNG = tuple(
    f"print('begun', flush=True)\n{code}"
    for code in ("while True: pass", "import time; time.sleep(600)", "!sleep 600")
)

STUBBORN = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('begun', flush=True)
sum(range(10 ** 13))
"""
"""One step of the interpreter, which no signal gets into, before it or after: it must be ended."""

INTERRUPTS = 100
"""At least as many, so that there is a 99th of a hundred."""

DEATH = "import os; os._exit(1)"

BUSY_CELL = """
import time
begun = time.monotonic()
for line in range(100):
    until = time.process_time() + 0.0005
    while time.process_time() < until:
        pass
    print(line, flush=True)
    time.sleep(max(0, begun + (line + 1) / 100 - time.monotonic()))
"""
"""One second, in which it computes for 50 ms and prints 100 lines."""


@dataclass
class Times:
    """In milliseconds."""

    bare: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    confined: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    together: list[float] = field(default_factory=list)
    interrupt: list[float] = field(default_factory=list)
    kill: list[float] = field(default_factory=list)
    death: list[float] = field(default_factory=list)
    after_death: list[float] = field(default_factory=list)


async def measure(
    environment: KernelEnvironment, sandbox: Sandbox, folder: Path, cells: int
) -> Times:
    """Take all times; each is met by the same moods of the machine as those beside it."""
    times = Times()
    async with AsyncExitStack() as stack:
        made = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        client = await stack.enter_async_context(_bare(environment, made))
        plain = await stack.enter_async_context(
            _code_runner(environment, Unconfined(base_python()), folder / "plain")
        )
        confined = await stack.enter_async_context(
            _code_runner(environment, sandbox, folder / "confined")
        )
        for code_runner in (plain, confined):
            await _cell(code_runner, CELL)
        for _ in range(cells):
            times.bare.append(await _bare_cell(client))
            await asyncio.sleep(REST_S)
            times.plain.append(await _cell(plain, CELL))
            await asyncio.sleep(REST_S)
            times.confined.append(await _cell(confined, CELL))
            await asyncio.sleep(REST_S)
        for number in range(max(INTERRUPTS, cells // 2)):
            times.interrupt.append(await _interrupted(confined, HUNG[number % len(HUNG)]))
        for _ in range(3):
            times.kill.append(await _interrupted(confined, STUBBORN))
            await _cell(confined, CELL)
        for _ in range(5):
            times.death.append(await _cell(confined, DEATH, "died"))
            times.after_death.append(await _cell(confined, CELL))
    for number in range(max(5, cells // 20)):
        async with _code_runner(environment, sandbox, folder / f"cold{number}") as code_runner:
            times.cold.append(await _cell(code_runner, CELL))
        async with _code_runner(environment, sandbox, folder / f"warm{number}") as code_runner:
            code_runner.prepare()
            await asyncio.sleep(WARM_S)
            times.warm.append(await _cell(code_runner, CELL))
    async with AsyncExitStack() as stack:
        workshops = [
            await stack.enter_async_context(
                _code_runner(environment, sandbox, folder / f"one{number}")
            )
            for number in range(AT_ONCE)
        ]
        for code_runner in workshops:
            await _cell(code_runner, CELL)
        for _ in range(3):
            times.alone.append(await _cell(workshops[0], BUSY_CELL))
            times.together += await asyncio.gather(
                *(_cell(code_runner, BUSY_CELL) for code_runner in workshops)
            )
    return times


@asynccontextmanager
async def _code_runner(
    environment: KernelEnvironment, sandbox: Sandbox, folder: Path
) -> AsyncIterator[CodeRunner]:
    report = SandboxReport(True, sandbox.kind, sandbox=sandbox)
    code_runner = CodeRunner(folder, environment, report)
    try:
        yield code_runner
    finally:
        await code_runner.close()


async def _interrupted(code_runner: CodeRunner, code: str) -> float:
    """Milliseconds from the wish to stop what has begun to its end."""
    async with asyncio.timeout(ANSWER_S), aclosing(code_runner.run("python", code)) as pieces:
        await anext(pieces)
        begun = time.perf_counter()
        stopping = asyncio.create_task(code_runner.interrupt())
        async for _ in pieces:
            pass
        took = (time.perf_counter() - begun) * 1000
        await stopping
    return took


async def _cell(code_runner: CodeRunner, code: str, status: str = "ok") -> float:
    """Milliseconds from asking to the end."""
    begun = time.perf_counter()
    with code_runner.offering("bench", ()):  # as each approved run may call functions
        async with asyncio.timeout(ANSWER_S), aclosing(code_runner.run("python", code)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Ending) and piece.status != status:
                    raise SystemExit(f"A cell ended otherwise than expected: {piece.detail}")
    return (time.perf_counter() - begun) * 1000


@asynccontextmanager
async def _bare(environment: KernelEnvironment, folder: Path) -> AsyncIterator[AsyncKernelClient]:
    """A kernel as jupyter_client's users have it."""
    file = write_connection(folder, secrets.token_hex(32))
    process = await asyncio.create_subprocess_exec(
        *(str(environment.python), "-m", "ipykernel_launcher", "-f", str(file)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
    )
    client = AsyncKernelClient(connection_file=str(file))
    client.load_connection_file()
    client.start_channels(hb=False)  # on a busy machine it takes a slow kernel for a dead one
    try:
        await client.wait_for_ready(timeout=ANSWER_S)
        await _bare_cell(client)
        yield client
    finally:
        client.stop_channels()
        process.kill()
        await process.wait()


async def _bare_cell(client: AsyncKernelClient) -> float:
    begun = time.perf_counter()
    request = client.execute(CELL)
    async with asyncio.timeout(ANSWER_S):
        while (await client.get_shell_msg())["parent_header"].get("msg_id") != request:
            pass
        while True:
            message = await client.get_iopub_msg()
            if (
                message["parent_header"].get("msg_id") == request
                and message["msg_type"] == "status"
                and message["content"]["execution_state"] == "idle"
            ):
                return (time.perf_counter() - begun) * 1000
