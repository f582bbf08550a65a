"""What kernels say, read as outputs: whole, cut anywhere, too large, or not as it should be."""

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.server.runtimes.kernels.outputs import RICH_MOST_BYTES, PlainText, failed, plain, shown
from sayso.server.runtimes.runtime import Output

PIECES = st.lists(
    st.sampled_from(
        ["plain ", "\x1b[31m", "\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1b(B",
         "\x1b", "[", "\r\n", "\t", "\x08", "\x00", "\x9b", "é", "\x1bPq#0\x1b\\", "\ud800"]
    )
)  # fmt: skip


@given(PIECES, st.integers(0, 40))
def test_escapes_are_found_wherever_the_text_was_cut(pieces: list[str], cut: int) -> None:
    text = "".join(pieces)
    stream = PlainText()
    parts = stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.feed(".")
    assert parts == PlainText().feed(text + ".")


@given(st.text())
def test_no_terminal_is_told_to_do_anything(text: str) -> None:
    kept = plain(text)
    assert not set(kept) & {
        chr(code) for code in (*range(8), 11, 12, *range(14, 32), *range(127, 160))
    }
    kept.encode()


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"])))
def test_ordinary_text_is_kept_as_it_is(text: str) -> None:
    assert plain(text + "\n\ttab\r") == text + "\n\ttab\r"


def test_words_of_a_link_and_after_a_title_are_kept() -> None:
    link = "\x1b]8;;http://x\x1b\\notes.txt\x1b]8;;\x1b\\"
    assert PlainText().feed(f"\x1b]0;title\x1b\\See {link}.\n") == "See notes.txt.\n"


@pytest.mark.parametrize("begin", ["\x1b]", "\x1bP", "\x1b[", "\x1b"])
@pytest.mark.parametrize("end", ["\x07", "\x1b\\", "."])
def test_a_flood_of_beginnings_keeps_nobody_waiting(begin: str, end: str) -> None:
    began = time.process_time()
    PlainText().feed(begin * 30_000 + end)
    assert time.process_time() - began < 1.0


def test_sequences_that_never_end_do_not_swallow_what_follows() -> None:
    stream = PlainText()
    stream.feed("\x1b]" + "x" * 10_000)
    assert stream.feed("after") == "after"


def test_the_richest_form_is_shown_and_the_plain_one_stands_for_it() -> None:
    picture = base64.b64encode(b"png").decode()
    data = {"text/plain": "<Figure>", "text/html": "<b>", "image/png": picture}
    assert shown("display", {"data": data}) == Output("display", "<Figure>", "image/png", b"png")


def test_markup_as_lines_is_joined() -> None:
    found = shown("result", {"data": {"text/html": ["<b>", "x", "</b>"], "text/plain": ["a", "b"]}})
    assert found == Output("result", "ab", "text/html", b"<b>x</b>")


def test_what_is_too_large_is_left_out_in_words() -> None:
    data = {
        "text/plain": "photo",
        "image/png": base64.b64encode(bytes(RICH_MOST_BYTES + 1)).decode(),
    }
    found = shown("display", {"data": data})
    assert found
    assert found.mime == "text/plain"
    assert found.text == "photo\n[image/png of 8 MiB left out: too large to show]"


def test_what_is_not_as_it_should_be_is_passed_over() -> None:
    assert shown("display", {}) is None
    assert shown("display", {"data": {}}) is None
    assert shown("display", {"data": {"image/png": 7, "text/plain": "x"}}) == Output("display", "x")
    assert shown("display", {"data": {"image/png": "%%%"}}) is None


def test_a_traceback_loses_its_colours() -> None:
    found = failed({"traceback": ["\x1b[31mNameError\x1b[0m", "x"], "ename": "NameError"})
    assert found == Output("error", "NameError\nx")
