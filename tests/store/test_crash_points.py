"""The log's writer may die at any change of the disk: what was acknowledged is kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shims import built

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.needs("cc", "gcc libc6-dev"),
]
SHIM = Path(__file__).with_name("crash_at.c")
RUN_S = 240.0
"""On a busy machine."""


def test_at_no_change_of_the_disk_can_a_death_hurt_the_log(tmp_path: Path) -> None:
    library = built(SHIM, tmp_path)
    ended = subprocess.run(
        (sys.executable, "-m", "tests.store.crashing", str(tmp_path)),
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > 100  # each append alone is half a dozen changes
