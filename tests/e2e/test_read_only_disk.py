"""The disk becomes read-only in the middle of a day: it is said, once for each request, and is over
by itself as soon as the disk can be written again."""

from pathlib import Path

import pytest

from tests.e2e.bad_disk import is_said_and_over
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel, says
from tests.shims import built

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.timeout(180),
    pytest.mark.needs("cc", "gcc libc6-dev"),
]

SHIM = Path(__file__).with_name("read_only.c")


def test_a_disk_that_becomes_read_only_is_said_and_over_once_it_is_not(tmp_path: Path) -> None:
    library, sign = built(SHIM, tmp_path), tmp_path / "read-only"
    home = tmp_path / "home"
    home.mkdir()
    lend_kernels(home)
    shim = {"LD_PRELOAD": str(library), "SAYSO_TEST_READ_ONLY": str(sign)}
    with ScriptedModel([says("Here I am.")]) as model:
        with Server(home, model, environment=shim) as server:
            assert server.ask("tell me a story").reply == "Here I am."
            sign.touch()
            is_said_and_over(server, "check the disk, ask again", sign.unlink)
        with Server(home, model) as server:
            assert server.ask("still there").reply == "Here I am."
