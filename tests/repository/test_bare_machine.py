"""On a Debian machine that has nothing, scripts/test sets itself up, and what depends on the
machine passes: as root and as an ordinary user, where bubblewrap works and where it cannot.

With `SAYSO_TEST_WHOLE=yes` all other tests run there, too: a quarter to half an hour for each way.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import bare_machine
from tests.bare_machine import PERSON, BareMachine, Way
from tests.machine import lacking

WHOLE = bool(os.environ.get("SAYSO_TEST_WHOLE"))
"""Whether all tests run there, and not the telling ones alone."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.bare,
    pytest.mark.timeout(3_600 if WHOLE else 900),
    pytest.mark.needs("debootstrap"),
]

TELLING = (
    "tests/agent/llm/embedded/test_client_in_trouble.py",
    "tests/client/listening/test_microphone_lock.py",
    "tests/observability/test_doctor.py",
    "tests/runtimes/languages/test_javascript.py",
    "tests/runtimes/protection/test_held_in_time.py",
    "tests/runtimes/protection/test_swapped.py",
    "tests/runtimes/resources/test_watch.py",
    "tests/runtimes/sandbox/self_test/test_proof.py",
    "tests/runtimes/sandbox/test_escapes.py",
    "tests/runtimes/sandbox/test_file_attributes.py",
    "tests/runtimes/sandbox/test_limits.py",
    "tests/runtimes/sandbox/test_shared_memory.py",
    "tests/runtimes/sandbox/test_special_files.py",
    "tests/runtimes/test_left_processes.py",
    "tests/runtimes/test_stopping.py",
)
"""The tests whose outcome depends on the machine: which sandbox holds, as whom code runs, what is
seen of others, which programs and libraries are there. The rest runs on the machine that decides
alone, or here for whoever asks for it."""

AT_A_TIME = "-n 3 --dist loadfile"

CANNOT_BE_HAD_THERE = (
    "bwrap cannot work here",
    "no view of the file system can be made here",
    "makes no user namespaces",
    "this machine allows no mounts",
    "Landlock has no such memory everywhere",
    "no network namespace",
    "only where a wheel is tested",
)
"""What a changed root allows to nobody."""


@pytest.fixture(scope="module")
def machine() -> Iterator[BareMachine]:
    """One for all of these tests, which come in the order in which it fills."""
    if why := bare_machine.missing():
        lacking(why)
    with tempfile.TemporaryDirectory(prefix="sayso-bare-", dir="/var/tmp") as folder:
        made = BareMachine(Path(folder) / "room")
        made.make()
        yield made
        made.remove()


def passes(machine: BareMachine, who: str, way: Way) -> str:
    """What scripts/test says there, where all passed."""
    chosen = " -m 'not thorough'" if WHOLE else f" {AT_A_TIME} {' '.join(TELLING)}"
    ran = machine.run(who, way, f"exec scripts/test{chosen}")
    assert ran.returncode == 0, ran.stdout[-30_000:]
    assert re.search(r"\d+ passed", ran.stdout), ran.stdout[-3_000:]
    return ran.stdout


def left_out(said: str) -> list[str]:
    """Why tests were left out."""
    return re.findall(r"^SKIPPED \[\d+\] \S+ (.*)", said, re.MULTILINE)


def test_a_person_without_any_package_is_told_what_to_get_and_passes(machine: BareMachine) -> None:
    said = passes(machine, PERSON, "changed root")
    assert re.search("Get them with: sudo apt install .*libgomp1.*bubblewrap", said)
    reasons = left_out(said)
    assert any("sudo apt install libgomp1" in reason for reason in reasons)
    assert any("sudo apt install bubblewrap" in reason for reason in reasons)


def test_root_gets_the_packages_and_passes_without_bubblewrap(machine: BareMachine) -> None:
    said = passes(machine, "root", "changed root")
    assert "Installing Debian packages: done" in said
    reasons = left_out(said)
    assert [each for each in reasons if not any(why in each for why in CANNOT_BE_HAD_THERE)] == []


@pytest.mark.parametrize("who", ["root", PERSON])
def test_with_bubblewrap_both_pass(machine: BareMachine, who: str) -> None:
    if who == PERSON:
        machine.run("root", "container", "exec scripts/test --version")
    said = passes(machine, who, "container")
    assert "Not on this machine" not in said
    assert [reason for reason in left_out(said) if "bwrap" in reason or "apt" in reason] == []
