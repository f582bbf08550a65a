"""What the tests of this folder share: the kernels' environment, made once, and workshops in it."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment, ensure
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from tests.kernels import lent_home
from tests.machine import lacking
from tests.runtimes.sandboxes import KINDS, needed_sandbox, sandbox_of, workshop_in


@pytest.fixture(scope="session")
def environment() -> KernelEnvironment:
    return ensure(lent_home())


@pytest.fixture(params=KINDS)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Each sandbox that this machine has, one after the other."""
    return needed_sandbox(request.param)


@pytest.fixture
def workspace() -> Path:
    """An empty folder in Sayso's own home."""
    folder = Path(os.environ["SAYSO_HOME"]) / "workspace"
    folder.mkdir(0o700, parents=True)
    return folder


@pytest.fixture
async def code_runner(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> AsyncIterator[CodeRunner]:
    """A workshop, in each sandbox."""
    made = workshop_in(workspace, environment, sandbox)
    yield made
    await made.close()


@pytest.fixture
def any_sandbox() -> Sandbox:
    """The first sandbox that this machine has, where the kind does not matter."""
    found = (sandbox_of(kind) for kind in KINDS)
    first = next((each for each in found if not isinstance(each, str)), None)
    return first or lacking("this machine has no sandbox")


@pytest.fixture
async def any_workshop(
    any_sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> AsyncIterator[CodeRunner]:
    made = workshop_in(workspace, environment, any_sandbox)
    yield made
    await made.close()
