"""What the kernel does when a conversation's code comes to its bounds, on one that has them."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import user_mode_linux
from tests.kernels import lent_home
from tests.repository.tree import ROOT
from tests.runtimes.resources.bounded_by_cgroup import HOARDS, MEMORY, PROCESSES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.timeout(300),
    pytest.mark.needs("linux.uml", "user-mode-linux"),
]

USERS = {"root": 0, "an ordinary user": 1_000}

BOOTED_S = 240.0


@pytest.mark.parametrize("who", USERS)
def test_the_kernel_ends_what_takes_too_much_and_the_server_lives(who: str, tmp_path: Path) -> None:
    code = f"import runpy, sys; sys.path[:0] = {sys.path!r}; sys.argv[1:] = ['{USERS[who]}'];"
    code += " runpy.run_module('tests.runtimes.resources.bounded_by_cgroup', run_name='__main__')"
    variables = {"SAYSO_TEST_HOME": str(lent_home().data), "LANG": "C.UTF-8"}
    status, said = user_mode_linux.run(
        ["sh", "-c", f'cd {ROOT} && exec "$@"', "sh", sys.executable, "-c", code],
        {**variables, "PATH": os.environ["PATH"]},
        sys.executable,
        tmp_path,
        BOOTED_S,
    )
    assert status == 0, said
    seen: dict[str, Any] = json.loads(said.splitlines()[-1])

    command = {"bound": "cgroup", "own": f"0::/command-{USERS[who]}/server"}
    assert seen["command"] == command
    assert seen["own"].endswith(f"/service-{USERS[who]}/server")
    assert "was not delegated" in seen["refused"]
    assert seen["swept"]
    assert seen["bounds"] == {
        "memory.max": str(MEMORY),
        "memory.swap.max": "0",
        "pids.max": str(PROCESSES),
    }
    assert seen["look"]["said"].split() == ["0::/", *["FileNotFoundError"] * 3]
    for way in HOARDS:
        ended = seen[way]
        assert ended["hoard"]["status"] == "died", way
        assert "held more than 0.2 GiB of memory" in ended["hoard"]["detail"], way
        assert ended["peak"] <= MEMORY, way
        assert ended["after"]["said"] == "again\n", way
    assert seen["ended by the kernel"] == len(HOARDS)
    assert "Resource temporarily unavailable" in seen["bomb"]["said"]
    assert seen["most processes"] <= PROCESSES
    assert seen["after the bomb"]["said"] == "again\n"
    assert seen["python"]["status"] == "died"
    assert "held more than 0.2 GiB of memory" in seen["python"]["detail"]
    assert seen["kept beside it"]["said"] == "again\n"
    assert seen["left"] == []
