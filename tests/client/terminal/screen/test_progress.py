"""A job is one line that moves, and is gone with its run."""

import io

import pytest
from rich.console import Console

from sayso.client.terminal.screen.live import LiveArea
from sayso.client.terminal.screen.screen import TerminalScreen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import CodeEnd, CodeStart, Conversation, TaskUpdate


@pytest.fixture
async def screen() -> TerminalScreen:
    shown = TerminalScreen(LiveArea(Console(file=io.StringIO(), width=80)))
    shown.show(Envelope(CodeStart("r1", "python", "sort()"), turn=1, gen=0))
    return shown


def told(text: str, fraction: float | None = None, name: str = "j1", run: str = "r1") -> Envelope:
    update = TaskUpdate(name, "running", "run", "sort my pictures", text, fraction, run=run)
    return Envelope(update, turn=1, gen=0)


def lines(screen: TerminalScreen, width: int = 80) -> list[str]:
    """Those that tell of a job."""
    drawn = screen.status_line.picture(width, 24, 0.0).lines
    return [line.plain for line in drawn if "picture" in line.plain or "█" in line.plain]


async def test_each_update_takes_the_place_of_the_one_before(screen: TerminalScreen) -> None:
    screen.show(told("12 of 40 pictures", 0.3))
    screen.show(told("20 of 40 pictures", 0.5))
    [line] = lines(screen)
    assert line.endswith("██████████░░░░░░░░░░  50%  20 of 40 pictures")
    screen.show(told("", 0.5))
    assert lines(screen)[0].endswith("sort my pictures")


async def test_of_several_the_one_that_told_something_last_is_shown(
    screen: TerminalScreen,
) -> None:
    screen.show(told("12 of 40 pictures", 0.3))
    screen.show(told("a picture", name="j2", run="r0"))
    [line] = lines(screen)
    assert line.endswith("2 jobs · a picture")


async def test_without_a_fraction_there_is_no_bar(screen: TerminalScreen) -> None:
    screen.show(told("a picture"))
    assert "█" not in lines(screen)[0]
    assert "░" not in lines(screen)[0]


@pytest.mark.parametrize(
    "end",
    [
        Envelope(TaskUpdate("j1", "done", "run", run="r1"), turn=1, gen=0),
        Envelope(CodeEnd("r1", "ok"), turn=1, gen=0),
        Envelope(CodeStart("r2", "python", "1"), turn=1, gen=1),
        Envelope(Conversation("taxes"), turn=0, gen=0),
    ],
)
async def test_the_line_goes_with_the_job(screen: TerminalScreen, end: Envelope) -> None:
    screen.show(told("12 of 40 pictures", 0.3))
    screen.show(end)
    assert not lines(screen)


async def test_the_line_stays_when_the_job_goes_on_in_the_background(
    screen: TerminalScreen,
) -> None:
    screen.show(told("12 of 40 pictures"))
    screen.show(Envelope(CodeEnd("r1", "ok", job="j1"), turn=1, gen=0))
    assert lines(screen)[0].endswith("12 of 40 pictures")


async def test_of_several_the_one_that_told_last_is_shown(screen: TerminalScreen) -> None:
    screen.show(told("first picture"))
    screen.show(told("second picture", name="j2", run=""))
    screen.show(told("third picture"))
    assert lines(screen)[0].endswith("third picture")
    screen.show(Envelope(CodeEnd("r1", "ok"), turn=1, gen=0))
    assert lines(screen)[0].endswith("second picture")


@pytest.mark.parametrize("width", [80, 40, 20, 8])
async def test_what_code_says_neither_steers_nor_breaks_the_line(
    screen: TerminalScreen, width: int
) -> None:
    screen.show(told("\x1b[2J\x1b]0;owned\x07picture\n\r  where: /home 東京 " * 40, 0.5))
    for line in screen.status_line.picture(width, 24, 0.0).lines:
        assert line.cell_len < width
        assert not set(line.plain) & set("\x1b\x07\r\n")
