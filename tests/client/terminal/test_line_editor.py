"""The line in which a person writes, and the text that comes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.client.terminal.input.keys import MOST_PASTED, Key
from sayso.client.terminal.input.line_editor import LineEdit
from sayso.client.terminal.screen import sanitize
from sayso.client.terminal.screen.reply import Reply
from sayso.client.terminal.screen.run_output import SHOWN_AT_END, SHOWN_AT_ONCE, Block, Run
from sayso.client.terminal.screen.status_line import wrapped
from sayso.client.terminal.slash import help_text, parse, unknown


def write(line: LineEdit, text: str) -> None:
    for character in text:
        line.press(Key("space", " ") if character == " " else Key("text", character))


class TestTheLine:
    def test_letters_go_in_where_the_cursor_is(self) -> None:
        line = LineEdit()
        write(line, "held")
        for name in ("left", "left"):
            line.press(Key(name))
        write(line, "xy")
        assert (line.text, line.cursor) == ("hexyld", 4)

    def test_keys_that_erase(self) -> None:
        line = LineEdit()
        write(line, "one two three")
        line.press(Key("w", ctrl=True))
        assert line.text == "one two "
        line.press(Key("backspace"))
        line.press(Key("home"))
        line.press(Key("delete"))
        assert line.text == "ne two"
        line.press(Key("right"))
        line.press(Key("k", ctrl=True))
        assert line.text == "n"
        line.press(Key("u", ctrl=True))
        assert line.text == ""
        line.press(Key("backspace"))
        assert line.text == ""

    def test_what_is_pasted_becomes_one_line(self) -> None:
        line = LineEdit()
        line.press(Key("paste", "one\ntwo\r\nthree\x1b[2J"))
        assert line.text == "one two three[2J"

    def test_it_is_bounded(self) -> None:
        line = LineEdit()
        for _ in range(5):
            line.press(Key("paste", "x" * MOST_PASTED))
        assert len(line.text) == MOST_PASTED

    def test_the_past_comes_back_and_the_draft_is_not_lost(self) -> None:
        line = LineEdit()
        for text in ("first", "second", "second"):
            write(line, text)
            assert line.take() == text
        write(line, "draft")
        seen = []
        for name in ("up", "up", "up", "down", "down", "down"):
            line.press(Key(name))
            seen.append(line.text)
        assert seen == ["second", "first", "first", "second", "draft", "draft"]

    def test_a_key_that_is_let_go_writes_nothing(self) -> None:
        line = LineEdit()
        assert line.press(Key("text", "a", "release"))
        assert line.text == ""

    def test_other_keys_are_none_of_its_business(self) -> None:
        assert not LineEdit().press(Key("q", ctrl=True))
        assert not LineEdit().press(Key("tab"))


class TestTheAnswer:
    def test_paragraphs_are_finished_when_an_empty_line_follows(self) -> None:
        reply = Reply()
        assert reply.feed("One ") == []
        assert reply.unfinished == "One "
        assert reply.feed("two.\n") == []
        assert reply.feed("\nThree") == ["One two."]
        assert reply.unfinished == "Three"
        assert reply.finish() == "Three"
        assert reply.unfinished == ""

    def test_a_fenced_block_is_whole_whatever_is_in_it(self) -> None:
        reply = Reply()
        assert reply.feed("Look:\n\n```python\na = 1\n\nb = 2\n```\n\nDone") == [
            "Look:",
            "```python\na = 1\n\nb = 2\n```",
        ]

    @given(st.lists(st.text(alphabet="ab `~\n", max_size=8), max_size=30))
    def test_nothing_is_lost_however_it_is_cut(self, deltas: list[str]) -> None:
        reply = Reply()
        paragraphs = [paragraph for delta in deltas for paragraph in reply.feed(delta)]
        together = "\n".join([*paragraphs, reply.finish()])
        assert "".join(together.split()) == "".join("".join(deltas).split())


class TestOutput:
    def test_lines_come_as_soon_as_they_are_whole(self) -> None:
        run = Run()
        assert run.feed("stdout", "a") == []
        assert run.unfinished == "a"
        assert run.feed("stdout", "b\nc\nd") == [Block("stdout", "ab\nc")]
        assert run.feed("stderr", "oh\n") == [Block("stdout", "d"), Block("stderr", "oh")]
        assert run.finish() == (0, [])

    def test_a_result_needs_no_line_end(self) -> None:
        assert Run().feed("result", "42") == [Block("result", "42")]

    def test_what_was_not_ended_comes_at_the_end(self) -> None:
        run = Run()
        run.feed("stdout", "almost")
        assert run.finish() == (0, [Block("stdout", "almost")])

    def test_a_flood_shows_its_beginning_and_its_end(self) -> None:
        run = Run()
        shown = run.feed("stdout", "".join(f"{n}\n" for n in range(10_000)))
        assert shown[0].text.split("\n") == [str(n) for n in range(SHOWN_AT_ONCE)]
        left_out, last = run.finish()
        assert left_out == 10_000 - SHOWN_AT_ONCE - SHOWN_AT_END
        assert [block.text for block in last] == [str(n) for n in range(9_990, 10_000)]


class TestCleaning:
    @pytest.mark.parametrize(
        "hostile",
        [
            "\x1b[2J", "\x1b[1A\x1b[K", "\x1b]0;title\x07", "\x1b]52;c;Y2F0\x1b\\", "\x1bc", "\x07",
            "\x9b2J", "\x1b[?1049h", "\x08\x08",
        ],
    )  # fmt: skip
    def test_nothing_that_steers_a_terminal_passes(self, hostile: str) -> None:
        for cleaned in (sanitize.words(hostile), sanitize.output(hostile), sanitize.code(hostile)):
            assert all(character.isprintable() or character == "\n" for character in cleaned)

    def test_colours_of_a_program_stay(self) -> None:
        assert sanitize.output("\x1b[31mred\x1b[0m\x1b[2J") == "\x1b[31mred\x1b[0m"
        assert sanitize.without_colour("\x1b[31mred\x1b[0m") == "red"

    def test_a_progress_bar_shows_its_last_state(self) -> None:
        assert sanitize.output(" 1%\r50%\r99%\nnext\r\n") == "99%\nnext" + "\n"

    def test_code_hides_nothing(self) -> None:
        assert sanitize.code("a = 1 \u202e# safe\u2066") == "a = 1 <U+202E># safe<U+2066>"
        assert sanitize.code("x\x1b[8m\r\ny\rz") == "x<U+001B>[8m\ny<U+000D>z"


@given(st.text(max_size=80), st.integers(2, 40))
def test_wrapping_loses_nothing_but_spaces(text: str, width: int) -> None:
    rows = wrapped(text, width)
    assert "".join("".join(rows).split()) == "".join(text.split())


def test_commands_are_found_by_name_and_by_habit() -> None:
    assert [parse(word) for word in ("/help", "/STOP", "/quit ", "/exit", "/?")] == [
        "help", "stop", "quit", "quit", "help",
    ]  # fmt: skip
    assert parse("/dance") is None
    assert "/dance" in unknown("/dance now")
    assert "/stop" in help_text([])
