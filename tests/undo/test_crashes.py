"""Wherever a server is killed, or its disk fills up, what it kept stays good and can be undone."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Literal

import pytest

Way = Literal["kill", "fail"]

ROOT = Path(__file__).parents[2]


async def strike(folder: Path, way: Way, first: int, stride: int) -> int:
    """At every `stride`th point from the first; returns how many there were."""
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.undo.crashing", str(folder), way, str(first), str(stride)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await program.communicate()
    assert program.returncode == 0, said.decode()
    struck = re.search(r"(\d+) points", said.decode())
    assert struck, said.decode()
    return int(struck[1])


@pytest.mark.slow
@pytest.mark.parametrize(("way", "stride"), [("kill", 41), ("fail", 17)])
async def test_some_writes_may_be_its_last(tmp_path: Path, way: Way, stride: int) -> None:
    assert await strike(tmp_path, way, 5, stride) > 3


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("way", "stride"), [("kill", 3), ("fail", 2)])
async def test_any_write_may_be_its_last(tmp_path: Path, way: Way, stride: int) -> None:
    assert await strike(tmp_path, way, 1, stride) > 30
