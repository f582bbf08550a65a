"""Code is shown with all that is in it: nothing without a look, nothing out of sight."""

import time

import pytest

from sayso.protocol.visible import HIDDEN, hidden_in, revealed

WOMAN, JOINER, COMPUTER = "\U0001f469", "\u200d", "\U0001f4bb"

SHOWN = {
    "a\u202eb": "a<U+202E>b",
    "\u2066a\u2069": "<U+2066>a<U+2069>",
    "a\u200bb\u00adc\ufeffd": "a<U+200B>b<U+00AD>c<U+FEFF>d",
    "a\u00a0b\u3000c\u2028d": "a<U+00A0>b<U+3000>c<U+2028>d",
    "a\u3164b\uffa0c\u2800d": "a<U+3164>b<U+FFA0>c<U+2800>d",
    "a\U000e0041b\U000e0100c": "a<U+E0041>b<U+E0100>c",
    "a\x00\x1b\r\x7f\x85b": "a<U+0000><U+001B><U+000D><U+007F><U+0085>b",
    "a\r\nb\tc": "a\nb\tc",
    "a\ud800b": "a<U+D800>b",
    "e\u0301 e\u0301\u0302\u0303\u0304": "e\u0301 e\u0301\u0302<U+0303><U+0304>",
    f"a{JOINER}b \u2764\ufe0f": "a<U+200D>b \u2764\ufe0f",
    f"{WOMAN}{JOINER}{COMPUTER}": f"{WOMAN}{JOINER}{COMPUTER}",
    f"{WOMAN}{JOINER}x 1\ufe0f": f"{WOMAN}<U+200D>x 1<U+FE0F>",
    f"x{' ' * 39}y": f"x{' ' * 39}y",
    f"x{' ' * 400}y": "x<400 blanks>y",
    f"{chr(9) * 50}y": "<50 blanks>y",
    "a\n\n\n\n\nb": "a\n\n\n\n\nb",
    "a" + "\n" * 41 + "b": "a\n<40 empty lines>\nb",
    "a\n" + "  \n\t\r\n" * 20 + "b": "a\n<40 empty lines>\nb",
    "": "",
}

UNSEEN = tuple(SHOWN)


@pytest.mark.parametrize("text", UNSEEN, ids=ascii)
def test_what_is_not_seen_is_named_where_it_stands(text: str) -> None:
    assert revealed(text) == SHOWN[text]


def test_what_is_shown_is_what_a_screen_can_show() -> None:
    every = "".join(map(chr, range(0x110000)))
    shown = revealed(every)
    assert not HIDDEN.search(shown.replace("\n", "").replace("\t", ""))
    assert revealed(shown) == shown


def test_what_is_hidden_is_told_once() -> None:
    assert hidden_in("\u202ea\u202e\u200b\r\n") == ("U+202E", "U+200B")
    assert hidden_in("x = 'größe' # 数字 " + WOMAN) == ()


@pytest.mark.parametrize("piece", [" ", "\n", " \n", "\u202e", "\u0301", "\n" * 6 + " " * 39, "\r"])
def test_a_long_text_takes_a_moment(piece: str) -> None:
    begun = time.process_time()
    revealed(piece * (200_000 // len(piece)))
    assert time.process_time() - begun < 2.0
