"""The moving part of the screen is drawn to fit small and large windows."""

import pytest
from rich.cells import cell_len

from sayso.client.terminal.input.keys import Key
from sayso.client.terminal.screen.status_line import HOLD, Pending, StatusLine
from sayso.protocol.messages import ApprovalRequest, TurnState

SIZES = [(80, 24), (120, 40), (40, 10), (20, 5), (8, 3)]
REQUEST = ApprovalRequest("a", "n", "python", "1", "/home", ("all",), 60.0)


def drawn(board: StatusLine, width: int = 80, height: int = 24, now: float = 0.0) -> list[str]:
    return [line.plain for line in board.picture(width, height, now).lines]


@pytest.fixture
def board() -> StatusLine:
    board = StatusLine()
    board.connected, board.keys = True, HOLD
    return board


def crowded() -> StatusLine:
    board = StatusLine()
    board.connected, board.keys, board.listening = True, HOLD, True
    board.levels.extend([0.0, 0.5, 1.0] * 4)
    board.stable, board.tail = "what is the weather " * 10, "like in 東京 today"
    board.reply = "A long answer that is still being written. " * 20
    board.output, board.running = "x" * 500, "python"
    board.pending = Pending(REQUEST, 0.0)
    board.turn = TurnState("listening", "acting", "speaking")
    board.line.press(Key("paste", "typed words 東京 " * 40))
    return board


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_it_fits_whatever_is_in_it(width: int, height: int) -> None:
    for board in (StatusLine(), crowded()):
        picture = board.picture(width, height, 1.0)
        assert all(cell_len(line.plain) < width for line in picture.lines)
        assert len(picture.lines) <= max(height, 4)
        assert 0 <= picture.column < max(width, 12)
        assert picture.row == len(picture.lines) - 2


def test_at_rest_it_says_how_to_talk_and_that_all_is_well(board: StatusLine) -> None:
    *_, prompt, foot = drawn(board)
    assert prompt.strip() == "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
    assert foot.startswith("  hold space to talk · type to write · /help ")
    assert foot.endswith("● ready")
    assert cell_len(foot) == 79


def test_while_listening_it_shows_the_level_and_the_words(board: StatusLine) -> None:
    board.listening = True
    board.levels.extend([0.0, 0.5, 1.0])
    board.stable, board.tail = "what is", " two"
    _, hearing, _, foot = drawn(board)
    assert hearing.startswith("● ")
    assert "▄█" in hearing
    assert hearing.endswith("what is two")
    assert "let go to send" in foot
    assert foot.endswith("listening")


def test_the_newest_words_stay_when_there_is_no_room(board: StatusLine) -> None:
    board.listening, board.stable, board.tail = True, "many words " * 20, " the end"
    assert drawn(board)[1].endswith(" the end")


def test_a_question_shows_the_time_that_is_left_and_the_keys(board: StatusLine) -> None:
    board.pending = Pending(REQUEST, asked_at=100.0)
    _, head, choices, _, foot = drawn(board, now=103.0)
    assert "May I run this python?  57 s left" in head
    assert [word for word in ("yes", "no", "edit") if word in choices] == ["yes", "no", "edit"]
    assert foot.endswith("waiting for you")
    assert "no time left" in drawn(board, now=161.0)[1]


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (TurnState("committed", "idle", "silent"), "understanding"),
        (TurnState("idle", "thinking", "silent"), "thinking 7 s"),
        (TurnState("idle", "acting", "silent"), "running python 7 s"),
        (TurnState("idle", "thinking", "speaking"), "speaking"),
    ],
)
def test_it_says_what_goes_on(board: StatusLine, state: TurnState, word: str) -> None:
    board.turn, board.running = state, "python"
    foot = drawn(board, now=7.0)[-1]
    assert foot.endswith(word)
    if state.work != "idle":
        assert "Ctrl-C to stop" in foot


def test_without_a_line_it_says_so(board: StatusLine) -> None:
    board.connected, board.trouble = False, "no server, trying again"
    assert drawn(board)[-1].endswith("○ no server, trying again")


def test_the_cursor_stays_in_sight_in_a_long_line(board: StatusLine) -> None:
    board.line.press(Key("paste", "word " * 100))
    picture = board.picture(40, 10, 0.0)
    assert picture.column < 40
    board.line.press(Key("home"))
    assert board.picture(40, 10, 0.0).column == 2


def test_only_the_last_rows_of_a_long_paragraph_move(board: StatusLine) -> None:
    board.reply = "word " * 2_000 + "end"
    rows = drawn(board)
    assert len(rows) < 15
    assert rows[-3].endswith("end")
