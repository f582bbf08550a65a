"""A terminal's bytes become keys, in both encodings that terminals use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.client.terminal.input.keys import MOST_PASTED, Key, KeyReader, Reply


def read(*pieces: bytes) -> list[object]:
    reader = KeyReader()
    return [key for piece in pieces for key in reader.feed(piece)]


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"a", [Key("text", "a")]),
        ("é".encode(), [Key("text", "é")]),
        (b" ", [Key("space", " ")]),
        (b"\r", [Key("enter")]),
        (b"\n", [Key("enter")]),
        (b"\x7f", [Key("backspace")]),
        (b"\x03", [Key("c", ctrl=True)]),
        (b"\x1b[A", [Key("up")]),
        (b"\x1bOB", [Key("down")]),
        (b"\x1b[3~", [Key("delete")]),
        (b"\x1b[1;5C", [Key("right", ctrl=True)]),
        (b"\x1bb", [Key("b", alt=True)]),
        (b"\x1b[99;99;99~", []),
        (b"\x00", []),
    ],
)
def test_what_every_terminal_sends(data: bytes, keys: list[object]) -> None:
    assert read(data) == keys


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"\x1b[32;1:1u", [Key("space", " ")]),
        (b"\x1b[32;1:2u", [Key("space", " ", "repeat")]),
        (b"\x1b[32;1:3u", [Key("space", " ", "release")]),
        (b"\x1b[97;;97u", [Key("text", "a")]),
        (b"\x1b[97;1:3u", [Key("text", "a", "release")]),
        (b"\x1b[97:65;2;65u", [Key("text", "A")]),
        (b"\x1b[97:65;2u", [Key("text", "A")]),
        (b"\x1b[13u", [Key("enter")]),
        (b"\x1b[127;1:1u", [Key("backspace")]),
        (b"\x1b[99;5u", [Key("c", ctrl=True)]),
        (b"\x1b[57441;2u", []),
        (b"\x1b[1;1:3A", [Key("up", "", "release")]),
        (b"\x1b[27u", [Key("escape")]),
        (b"\x1b[228;;228u", [Key("text", "ä")]),
    ],
)
def test_what_the_kitty_protocol_sends(data: bytes, keys: list[object]) -> None:
    assert read(data) == keys


def test_answers_of_the_terminal_are_no_keys() -> None:
    assert read(b"\x1b_Gi=31;OK\x1b\\\x1b[?62;4c") == [Reply("pictures"), Reply("device")]
    assert read(b"\x1b_Gi=31;EINVAL:no\x1b\\a") == [Key("text", "a")]
    assert read(b"\x1b[?27u\x1b[?62;4c") == [Reply("keyboard", 27), Reply("device")]


def test_an_escape_is_a_key_once_nothing_follows() -> None:
    reader = KeyReader()
    assert reader.feed(b"\x1b") == []
    assert reader.undecided
    assert reader.settle() == [Key("escape")]
    assert reader.feed(b"a") == [Key("text", "a")]


def test_bytes_may_be_cut_anywhere() -> None:
    whole = "x\x1b[32;1:3uü\x1b[A\x1b[200~pa\nsted\x1b[201~y".encode()
    expected = read(whole)
    assert len(expected) == 6
    for cut in range(len(whole)):
        assert read(whole[:cut], whole[cut:]) == expected
    assert read(*(whole[n : n + 1] for n in range(len(whole)))) == expected


def test_what_is_pasted_comes_as_one_piece_and_is_bounded() -> None:
    assert read(b"\x1b[200~a\x1b[Ab\x1b[201~c") == [Key("paste", "a\x1b[Ab"), Key("text", "c")]
    (pasted,) = read(b"\x1b[200~", *[b"x" * 1000] * 100, b"\x1b[201~")
    assert isinstance(pasted, Key)
    assert len(pasted.text) == MOST_PASTED


@given(st.lists(st.binary(max_size=20), max_size=20))
def test_no_bytes_break_it(pieces: list[bytes]) -> None:
    reader = KeyReader()
    for piece in pieces:
        reader.feed(piece)
    reader.settle()


@given(st.text(alphabet="\x1b[]?;:0123456789uA~c<>", max_size=40))
def test_no_sequence_breaks_it(text: str) -> None:
    reader = KeyReader()
    reader.feed(text.encode())
    reader.settle()
    reader.feed(b"\x1b[201~a")
