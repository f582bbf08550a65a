"""No other user of the machine sees the name of a conversation."""

import os
import stat
from pathlib import Path

import pytest

from tests.server.running_server import running_server

PARENTS = ("workspaces", "outputs", "undo")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("there_before", [True, False])
async def test_folders_that_are_named_after_conversations_are_their_owners_alone(
    tmp_path: Path, *, there_before: bool
) -> None:
    before = os.umask(0o022)
    try:
        home = tmp_path / "home" if not there_before else tmp_path
        for name in PARENTS if there_before else ():
            (home / name).mkdir(mode=0o755)
        home.mkdir(exist_ok=True)
        async with running_server(home) as server:
            desk = await server.device()
            await desk.command("new", "Divorce")
            assert (home / "workspaces" / "divorce").is_dir()
        for name in PARENTS:
            assert mode_of(home / name) == 0o700, name
    finally:
        os.umask(before)
