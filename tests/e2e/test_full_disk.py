"""The disk fills up in the middle of a day: it is said, once for each request, and is over by
itself as soon as there is room."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.bad_disk import is_said_and_over
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel, says

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(180)]

DISK = "8m"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, with little room."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(place))
    if os.geteuid() != 0:
        pytest.skip("only root may mount a disk")
    subprocess.run(mount, check=True)
    try:
        yield place
    finally:
        subprocess.run(("umount", "-l", str(place)), check=True)


def fill(path: Path) -> None:
    """Until nothing more fits."""
    with path.open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(4_096))
        except OSError:
            os.fsync(ballast.fileno())


def test_a_full_disk_is_said_and_over_once_there_is_room(small_disk: Path) -> None:
    lend_kernels(small_disk)
    with ScriptedModel([says("Here I am.")]) as model, Server(small_disk, model) as server:
        assert server.ask("tell me a story").reply == "Here I am."
        ballast = small_disk / "ballast"
        fill(ballast)
        is_said_and_over(server, "is full; free some space", ballast.unlink)
