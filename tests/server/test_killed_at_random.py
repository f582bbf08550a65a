"""Killed again and again, at moments that nobody chose: nothing runs twice, and nothing that was
acknowledged is lost."""

import asyncio
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from sayso.protocol import messages as m
from sayso.server.store.log_reader import read_events
from sayso.server.store.records import Answered, Asked, Call, RunIntended, RunReported
from sayso.server.store.reminders import ReminderSet
from tests.server.running_server import running_server
from tests.server.server_to_kill import code_runner

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(400)]

KILLS = 20
LONGEST_LIFE_S = 1.5
"""After it is ready: on an idle machine, some ten requests."""


def live_and_be_killed(folder: Path, first: int, life_s: float) -> list[str]:
    """What was acknowledged in this life."""
    program = [sys.executable, "-m", "tests.server.server_to_kill", str(folder), str(first)]
    server = subprocess.Popen(
        program, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    with server.stdout as said:
        assert said.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            server.wait(life_s)
        server.kill()
        server.wait(30)
        return said.read().splitlines()


def numbers(lines: list[str], pattern: str) -> set[int]:
    return {int(found[1]) for line in lines if (found := re.fullmatch(pattern, line))}


async def test_nothing_runs_twice_and_nothing_that_was_acknowledged_is_lost(
    tmp_path: Path,
) -> None:
    chance, said, log = Random(4), [], tmp_path / "events.sqlite"
    first = 1
    for _ in range(KILLS):
        life_s = chance.uniform(0.0, LONGEST_LIFE_S)
        said += await asyncio.to_thread(live_and_be_killed, tmp_path, first, life_s)
        asked = [e.record.text for e in read_events(log) if isinstance(e.record, Asked)]
        first = 1 + max([0, *numbers(asked, r"count (\d+)")])
    tally = tmp_path / "workspaces" / "main" / "tally"
    written = [int(line) for line in tally.read_text().splitlines()]
    assert max(Counter(written).values()) == 1
    assert numbers(said, r"count (\d+): .*It is counted\.") <= set(written)

    async with running_server(tmp_path, code_runner=code_runner) as server:
        desk = await server.device()
        records = [event.record for event in await server.log.conversation("main")]
        calls = [call for one in records if isinstance(one, Answered) for call in one.calls]
        reports = {one.run: one for one in records if isinstance(one, RunReported)}
        assert set(reports) == {call.id for call in calls}
        for kind in (RunIntended, RunReported):
            of_kind = Counter(one.run for one in records if isinstance(one, kind))
            assert max(of_kind.values()) == 1
        for status, there in (("ok", True), ("refused", False)):
            of_status = {number(call) for call in calls if reports[call.id].status == status}
            assert all((one in written) == there for one in of_status), status
        kept = Counter(int(one.what.split()[-1]) for one in records if isinstance(one, ReminderSet))
        assert numbers(said, r"remind me in (\d+) hours .*: I'll remind.*") <= set(kept)
        assert max(kept.values()) == 1
        done = await desk.command("undo")
        assert isinstance(done, m.CommandDone)
        assert done.ok
    assert [int(line) for line in tally.read_text().splitlines()] == written[:-1]


def number(call: Call) -> int:
    return int(call.code.split()[1])
