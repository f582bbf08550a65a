"""What holds for every test.

- Its clock: real, or virtual where it is marked so (tests/virtual_time.py).
- A home of its own: `SAYSO_HOME`, `HOME` and `TMPDIR` are fresh folders, and no key of the person
  who runs the tests is in the environment, nor what their terminal is.
- No network but loopback (tests/network_guard.py).
- Nothing strewn: what is written goes to `SAYSO_HOME`, never to the person's own folders.
- Nothing left behind: no task, no process, no exception that nobody looked at (tests/leaks.py).
- Nothing secret told: no file and nothing printed holds a token, a code or a key
  (tests/planted_secrets.py).
"""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from pathlib import Path

import pytest

from tests import leaks, pulse
from tests.machine import lacking, needed
from tests.network_guard import NetworkGuard
from tests.planted_secrets import TOLD
from tests.virtual_time import VirtualTimeLoop

GUARD = NetworkGuard()

_SECRETS = ("_API_KEY", "_TOKEN")
"""How the names of variables end that hold a person's keys."""

_TERMINAL = ("COLORTERM", "COLUMNS", "EDITOR", "LINES", "NO_COLOR", "STY", "TMUX", "VISUAL")
"""Variables that say what a person's terminal is and what they like in it; those that a test opens
are others."""

_NEED_KERNELS = ("agent", "bench", "e2e", "runtimes", "web")
"""Folders of tests that run code, and need the kernels' Python."""


def pytest_configure() -> None:
    """Forget the person who runs the tests, and close the network."""
    # A shell starts background jobs deaf to Ctrl-C, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Where the kernels' Python is kept between test runs must not move with HOME.
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    os.environ.setdefault("SAYSO_TEST_HOME", str(cache / "sayso-tests"))
    for name in list(os.environ):
        if name.endswith(_SECRETS) or (name.startswith("SAYSO_") and "_TEST_" not in name):
            del os.environ[name]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Make what takes the network, once, before it closes."""
    folders = {Path(item.path).parent.name for item in session.items}
    if folders.intersection(_NEED_KERNELS) and not session.config.option.collectonly:
        from sayso.server.runtimes.kernels.environment import ensure
        from tests.kernels import lent_home

        ensure(lent_home())
    GUARD.close()
    TOLD.open()
    os.environ.update(GUARD.variables)
    os.environ["SAYSO_HOME"] = tempfile.mkdtemp(prefix="sayso-tests-", dir="/tmp")


def pytest_unconfigure() -> None:
    GUARD.open()
    TOLD.close()
    shutil.rmtree(os.environ.get("SAYSO_HOME", ""), ignore_errors=True)


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Give tests marked `virtual_time` the loop whose clock jumps."""
    mark = item.get_closest_marker("virtual_time")
    if mark is None:
        return {"real time": asyncio.new_event_loop}
    return {"virtual time": lambda: VirtualTimeLoop(**mark.kwargs)}


@pytest.fixture
def sound_card() -> Iterator[pulse.SoundCard]:
    """A loudspeaker and a microphone made of software (tests/pulse.py)."""
    with pulse.SoundCard() as card:
        yield card


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what this machine cannot do."""
    if item.get_closest_marker("sound") and (missing := pulse.missing()):
        lacking(missing)
    for need in item.iter_markers("needs"):
        needed(*need.args)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Read through what the test and its fixtures printed, when all of it is there."""
    report = yield
    if call.when == "teardown":
        text = "\n".join(content for _, content in report.sections)
        if complaints := sorted({*TOLD.in_text(text), *TOLD.in_output()}):
            report.outcome = "failed"
            report.longrepr = "The test " + "\nThe test ".join(complaints)
    return report


@pytest.fixture(scope="session", autouse=True)
def _no_secret_in_what_tests_share(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The folders that outlive a test hold no secret that any test made."""
    own = Path(os.environ["SAYSO_HOME"])
    yield
    if complaints := TOLD.in_shared_folders([own, *tmp_path_factory.getbasetemp().iterdir()]):
        pytest.fail("Some test " + "\nSome test ".join(complaints), pytrace=False)


@pytest.fixture(autouse=True)
def _a_place_of_its_own(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """A fresh home, a look at which processes are left, and at who wanted to go outside."""
    # What all tests share is made now, and not in the first one's own TMPDIR.
    tmp_path_factory.getbasetemp()
    # Short, because UNIX sockets lie in it, whose paths may have a hundred characters at most.
    home = tempfile.mkdtemp(prefix="sayso-", dir="/tmp")
    before, misses = leaks.running(), GUARD.count_misses()
    folders = set(tmp_path_factory.getbasetemp().iterdir())
    TOLD.begin()
    with pytest.MonkeyPatch.context() as environment:
        for name, folder in (("SAYSO_HOME", "sayso"), ("HOME", "person"), ("TMPDIR", "tmp")):
            Path(home, folder).mkdir()
            environment.setenv(name, f"{home}/{folder}")
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            environment.delenv(name, raising=False)
        environment.setenv("TERM", "xterm-256color")
        for name in _TERMINAL:
            environment.delenv(name, raising=False)
        yield
    left = leaks.wait_for_processes(before, home)
    leaks.end(left)
    strewn = [path.relative_to(home) for path in Path(home, "person").rglob("*") if path.is_file()]
    fresh = set(tmp_path_factory.getbasetemp().iterdir()) - folders
    told = TOLD.in_folders([Path(home), *sorted(fresh)])
    TOLD.end()
    shutil.rmtree(home, ignore_errors=True)
    complaints = [f"left a process running: {process}" for process in left]
    complaints += [f"wrote into the person's home: {path}" for path in strewn]
    complaints += told
    complaints += [f"reached outside: {attempt}" for attempt in GUARD.take_attempts()]
    foreign = any(map(request.node.get_closest_marker, ("browser", "foreign")))
    if GUARD.count_misses() > misses and not foreign:
        complaints.append("reached outside from some process (strace -f -e connect tells which)")
    if complaints:
        pytest.fail("The test " + "\nThe test ".join(complaints), pytrace=False)


@pytest.fixture(autouse=True)
async def _nothing_goes_on() -> AsyncIterator[None]:
    """No task outlives the test and its fixtures, and no exception goes unseen."""
    unseen = leaks.Unseen()
    asyncio.get_running_loop().set_exception_handler(unseen)
    yield
    complaints = [f"left a task running: {task}" for task in await leaks.left_tasks()]
    complaints += [f"lost an exception: {told}" for told in unseen.told]
    if complaints:
        pytest.fail("The test " + "\nThe test ".join(complaints), pytrace=False)
