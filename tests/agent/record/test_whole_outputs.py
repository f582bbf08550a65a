"""Outputs are kept whole, shown within a bound, and folded for the model alone."""

import json
from pathlib import Path

import pytest

from sayso.server.agent.events import CodeEnd
from sayso.server.agent.prompt.output_digest import Digest
from sayso.server.agent.record import shown_output
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.agent.tools.read_output import read_page
from sayso.server.conversations.agent_events import event_of
from sayso.server.conversations.files.artifacts import Artifacts
from sayso.server.runtimes.output_stream import TAIL_CHARACTERS
from sayso.server.runtimes.runtime import Output
from sayso.server.store.records import RunReported
from sayso.server.turn.events import AgentMessage, Ticket
from tests.agent.conftest import AgentRig
from tests.scripted_model import runs, says

PRINT = "for number in range(250_000): print(number)"
PRINTED = "".join(f"{number}\n" for number in range(250_000))


@pytest.mark.slow
async def test_a_megabyte_and_a_half_is_kept_to_the_last_character(rig: AgentRig) -> None:
    agent = await rig.agent(runs(PRINT), says("Done."), mode="workspace")
    await rig.ask(agent, "go")
    ended = rig.told(CodeEnd)[0]
    assert kept(ended.output) == PRINTED
    shown = rig.output
    left_out = len(PRINTED) - shown_output.SHOWN_CHARS - TAIL_CHARACTERS
    note = f"\n[{left_out:,} characters of output left out here, and kept whole]\n"
    head, _, tail = shown.partition(note)
    assert (len(head), len(tail)) == (shown_output.SHOWN_CHARS, TAIL_CHARACTERS)
    assert PRINTED.startswith(head)
    assert PRINTED.endswith(tail)
    # The model is told where the gap is, and reads on there.
    told = str(rig.sent()[-1]["content"])
    start, end = (int(part) for part in told.partition("[characters ")[2].split()[0:3:2])
    assert f"of {len(PRINTED)} left out here" in told
    assert PRINTED[start - 40 : start] in told
    assert PRINTED[end : end + 40] in told
    outputs = RunOutputs(rig.folder / "outputs")
    page = await read_page(f"{ended.id} {start} {start + 50}", rig.journal.history, outputs)
    assert page.endswith(f"\n{PRINTED[start : start + 50]}")


@pytest.mark.parametrize("length", [10_000, 1_000_000])
async def test_a_disk_that_takes_no_output_ends_no_run(rig: AgentRig, length: int) -> None:
    (rig.folder / "outputs").write_text("in the way")
    agent = await rig.agent(runs(f"print('x' * {length})"), says("Done."), mode="workspace")
    assert (await rig.ask(agent, "go")).endswith("Done.")
    (ended,) = rig.told(CodeEnd)
    assert (ended.status, ended.output) == ("ok", None)
    (report,) = await rig.records(RunReported)
    assert report.status == "ok"


def kept(path: str) -> str:
    return Path(path).read_text()


async def test_devices_are_told_an_id_and_never_a_path(rig: AgentRig, tmp_path: Path) -> None:
    file = tmp_path / "r1.txt"
    file.write_text("all of it")
    artifacts = Artifacts()
    ended = CodeEnd("r1", "ok", output=str(file))
    told = event_of(Ticket(1, 0), ended, artifacts.of("ann", "a talk"))
    assert isinstance(told, AgentMessage)
    assert isinstance(told.message, CodeEnd)
    name = told.message.output
    assert name
    assert str(tmp_path) not in name
    found = artifacts.get(name, "ann")
    assert found
    assert (found.mime, found.content) == ("text/plain; charset=utf-8", b"all of it")
    assert artifacts.get(name, "ben") is None
    file.unlink()
    assert found.content is None
    artifacts.forget("a talk")
    assert artifacts.get(name, "ann") is None


def digested(*pieces: str, kind: str = "stdout", characters: int = 8_000) -> str:
    digest = Digest(characters, "a1b2")
    for piece in pieces:
        digest.take(Output(kind, piece))  # type: ignore[arg-type]
    return digest.text


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 1_000])
def test_progress_that_was_drawn_over_itself_is_told_once(cut: int) -> None:
    drawn = "begin\n" + "".join(f"\r{n:3}%|{'#' * n}" for n in range(101)) + "\nend\r\n 1%\r99%"
    pieces = [drawn[at : at + cut] for at in range(0, len(drawn), cut)]
    assert digested(*pieces) == f"begin\n100%|{'#' * 100}\nend\n99%"


def test_a_bar_of_an_hour_takes_no_room_and_places_are_those_of_the_whole() -> None:
    bar = "".join(f"\rstep {n:06}" for n in range(50_000))
    body = "".join(f"line {n}\n" for n in range(2_000))
    told = digested(bar, "\n", body, characters=2_000)
    assert told.startswith("step 049999\nline 0\n")
    start, end = (int(part) for part in told.partition("[characters ")[2].split()[0:3:2])
    whole = f"{bar}\n{body}"
    assert f"of {len(whole)} left out here" in told
    assert whole[start - 30 : start] in told.split("[characters")[0]
    assert whole[end : end + 30] in told.split("]\n", 1)[1]


def test_the_middle_of_a_long_traceback_is_left_out() -> None:
    lines = [f"  File x.py, line {n}\n" for n in range(200)]
    told = digested("".join(lines) + "ValueError: no", kind="error", characters=20_000)
    assert told.startswith(lines[0])
    assert told.endswith("line 199\nValueError: no")
    assert "[153 lines of the traceback left out here]" in told
    assert len(told.splitlines()) == 49
    short = "".join(lines[:40])
    assert digested(short, kind="error") == short


def test_what_is_no_progress_stays_as_it_is() -> None:
    text = "a\tb\n\n  c" + json.dumps("é") + "\n"
    assert digested(text) == text
