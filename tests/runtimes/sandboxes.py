"""Code runners for the tests of this folder, on each sandbox that this machine has."""

import asyncio
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.runtimes.sandbox import landlock
from sayso.server.runtimes.sandbox.limits import SandboxLimits
from sayso.server.runtimes.sandbox.sandbox import (
    NO_HANDOVER,
    Confined,
    Confines,
    Kind,
    Sandbox,
)
from sayso.server.runtimes.sandbox.self_test import proof
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from tests.machine import lacking

KINDS: tuple[Kind, ...] = ("bubblewrap", "landlock")

RUN_S = 60.0
"""How long any run of these tests may take: pip takes a few seconds, on a busy machine ten times
that."""


@dataclass(frozen=True, slots=True)
class Told:
    """All that a run said."""

    outputs: tuple[Output, ...]
    ending: Ending

    @property
    def stdout(self) -> str:
        return self._of("stdout")

    @property
    def stderr(self) -> str:
        return self._of("stderr")

    @property
    def result(self) -> str:
        return self._of("result")

    @property
    def error(self) -> str:
        return self._of("error")

    def _of(self, kind: str) -> str:
        return "".join(output.text for output in self.outputs if output.kind == kind)


class Altered:
    """A sandbox with something changed in how it confines."""

    def __init__(self, sandbox: Sandbox, change: Callable[[Confined], Confined]) -> None:
        self.kind = sandbox.kind
        self.limits = sandbox.limits
        self._sandbox = sandbox
        self._change = change

    def confine(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        confines: Confines,
        private: Path,
        door: int = NO_HANDOVER,
    ) -> Confined:
        return self._change(self._sandbox.confine(argv, environment, confines, private, door))


async def told(
    code_runner: CodeRunner, code: str, language: str = "python", *, alone: bool = False
) -> Told:
    """Run code to its end."""
    outputs: list[Output] = []
    run = code_runner.run_alone if alone else code_runner.run
    async with asyncio.timeout(RUN_S):
        async for each in run(language, code):
            if isinstance(each, Ending):
                return Told(tuple(outputs), each)
            outputs.append(each)
    raise AssertionError("a run ended without an ending")


async def began(pieces: AsyncGenerator[Output | Ending], word: str = "begun") -> None:
    """Wait until a run has printed a word."""
    text = ""
    async with asyncio.timeout(RUN_S):
        while word not in text:
            piece = await anext(pieces)
            assert isinstance(piece, Output), piece
            text += piece.text


async def rest(pieces: AsyncGenerator[Output | Ending]) -> Told:
    """Read a run that has begun to its end."""
    outputs: list[Output] = []
    async with asyncio.timeout(RUN_S), aclosing(pieces):
        async for each in pieces:
            if isinstance(each, Ending):
                return Told(tuple(outputs), each)
            outputs.append(each)
    raise AssertionError("a run ended without an ending")


def sandbox_of(kind: Kind, limits: SandboxLimits | None = None) -> Sandbox | str:
    """The sandbox of a kind, or why this machine has none."""
    if sys.platform != "linux":
        return f"{kind} is for Linux"
    for sandbox in proof.candidates(limits):
        if sandbox.kind == kind:
            return sandbox if kind == "landlock" else no_namespaces() or sandbox
    if kind == "landlock":
        return f"Landlock {landlock.NEEDED_VERSION} is needed, this kernel has {landlock.version()}"
    return "bwrap is missing: sudo apt install bubblewrap"


@functools.cache
def no_namespaces() -> str:
    """Why bubblewrap cannot work on this machine, whatever is asked of it; empty if it can."""
    program = shutil.which("bwrap") or ""
    own = [] if os.geteuid() == 0 else ["--unshare-user"]
    options = ("--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--", "/bin/true")
    done = subprocess.run([program, *own, *options], capture_output=True, text=True, check=False)
    return f"bwrap cannot work here ({done.stderr.strip()})" if done.returncode else ""


_VIEW = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
failed = libc.unshare(0x20000 | (0x10000000 if os.geteuid() else 0))
sys.exit(failed or libc.mount(None, b"/", None, 0x44000, None))
"""


@functools.cache
def makes_views() -> bool:
    """Whether this machine gives a process of ours a view of the file system of its own."""
    return not subprocess.run([sys.executable, "-I", "-S", "-c", _VIEW], check=False).returncode


def needed_sandbox(kind: Kind) -> Sandbox:
    """The sandbox of a kind; without it there is no test."""
    found = sandbox_of(kind)
    if isinstance(found, str):
        lacking(found)
    return found


def workshop_in(workspace: Path, environment: KernelEnvironment, sandbox: Sandbox) -> CodeRunner:
    """A workshop in a sandbox that is taken to hold: the self-test has tests of its own."""
    return CodeRunner(workspace, environment, SandboxReport(True, sandbox.kind, sandbox=sandbox))


async def shares_memory(code_runner: CodeRunner) -> bool:
    """Whether code has memory that its own programs share. Landlock gives it none on a machine that
    lets nobody have a view of the file system of their own, as in most containers."""
    run = await told(code_runner, "import os; os.listdir('/dev/shm')")
    return "PermissionError" not in run.error
