"""Of a reply in markdown the prose is spoken; code, tables and formulas are for the screen."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sayso.server.speech.text.prose import CODE_PHRASE, FORMULA_PHRASE, TABLE_PHRASE, Prose


def prose(text: str, *, size: int | None = None) -> str:
    reader = Prose()
    step = size or max(1, len(text))
    found = "".join(reader.feed(text[at : at + step]) for at in range(0, len(text), step))
    return found + reader.finish()


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in prose(text, size=1).splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Some **bold** and *italic* and __both__ and _one_.",
            ["Some bold and italic and both and one."],
        ),
        ("Run `pip install x` now.", ["Run pip install x now."]),
        ("Run ``a `b` c`` now.", ["Run a `b` c now."]),
        ("See [the docs](https://x.org/a_(b)).", ["See the docs."]),
        ("See [**bold** link](https://x.org).", ["See bold link."]),
        ("![a cat](cat.png) sits.", ["a cat sits."]),
        ("A fact[1] and another[^2].", ["A fact and another."]),
        ("Keep snake_case and 3 * 4 and 2*3.", ["Keep snake_case and 3 * 4 and 2*3."]),
        ("~~Old~~ new, ~5 left.", ["Old new, ~5 left."]),
        ("# Title\nText.", ["Title", "Text."]),
        ("Title\n=====\nText.", ["Title", "Text."]),
        ("- one\n- **two**\n* three", ["one", "two", "three"]),
        ("- [x] done\n- [ ] open", ["done", "open"]),
        ("1. one\n2) two", ["1: one", "2: two"]),
        ("> quoted\n> text", ["quoted text"]),
        ("Above\n\n---\n\nBelow", ["Above", "Below"]),
        ("First line\nsecond line.", ["First line second line."]),
        ("a <b>bold</b> tag<br>here <!-- no --> 3 < 4", ["a bold tag here 3 < 4"]),
        ("Mail <me@x.org> or <https://x.org/a>.", ["Mail me@x.org or https://x.org/a."]),
        ("Salt &amp; pepper & so on", ["Salt & pepper & so on"]),
        (r"Escaped \*stars\* and \_lines\_", ["Escaped *stars* and _lines_"]),
        ("```python\nprint(1)\n```\nDone.", [CODE_PHRASE, "Done."]),
        ("~~~\ncode\n```\nstill code\n~~~\nDone.", [CODE_PHRASE, "Done."]),
        ("````md\n```\nx\n```\n````\nDone.", [CODE_PHRASE, "Done."]),
        ("Look:\n\n```\nopen for ever", ["Look:", CODE_PHRASE]),
        ("```\na\n```\n\n```\nb\n```", [CODE_PHRASE]),
        ("```\na\n```\nNow:\n```\nb\n```", [CODE_PHRASE, "Now:", CODE_PHRASE]),
        ("- Do:\n  ```sh\n  ls\n  ```\n- Then rest", ["Do:", CODE_PHRASE, "Then rest"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nDone.", [TABLE_PHRASE, "Done."]),
        ("a | b\n--- | ---\n1 | 2\nDone.", ["a | b", TABLE_PHRASE, "Done."]),
        ("$$\nx^2\n$$\nSo.", [FORMULA_PHRASE, "So."]),
        (r"So \[ x^2 \] it is, \(y\).", ["So", FORMULA_PHRASE, "it is, y."]),
        ("It costs $5 and $10.", ["It costs $5 and $10."]),
        ("An [unclosed link, a `tick and **stars", ["An unclosed link, a tick and stars"]),
        ("-5 degrees\n+3 more", ["-5 degrees +3 more"]),
        ("#python is a hashtag", ["#python is a hashtag"]),
        ("", []),
    ],
)
def test_marks_are_not_spoken(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


@pytest.mark.parametrize("opening", ["Here:\n`", "Here: `"])
def test_a_fence_that_opens_in_one_delta_and_closes_ten_later_is_never_read(opening: str) -> None:
    reader = Prose()
    heard = reader.feed(opening)
    for delta in [
        "``py",
        "thon\n",
        "secret",
        "()\n",
        "x = 1",
        "\n`",
        "`",
        "`",
        "\nAfter",
        " that.",
    ]:
        heard += reader.feed(delta)
    heard += reader.finish()
    assert [line.strip() for line in heard.splitlines() if line.strip()] == [
        "Here:",
        CODE_PHRASE,
        "After that.",
    ]


def test_prose_is_not_held_back_until_its_line_ends() -> None:
    reader = Prose()
    assert reader.feed("It is **nice** out") == "It is nice out"


MARKDOWN = some.text(alphabet=some.sampled_from("ab1 \n*_`~#>-+|[]()!<>&;\\$.=:"), max_size=120)


@given(MARKDOWN, some.integers(1, 5))
def test_how_it_is_fed_makes_no_difference(text: str, size: int) -> None:
    assert prose(text, size=size) == prose(text)


@pytest.mark.parametrize(
    "text",
    [
        "-" * 60_000,
        "-|" * 30_000 + "x",
        "+ " * 30_000 + "x",
        "```" + "a" * 60_000,
        " " * 60_000,
        "[" + "[a](b), " * 7_000 + "!",
        "[" * 60_000,
        "<!--" * 15_000,
    ],
    ids=["rule", "table", "bullets", "fence", "spaces", "links", "brackets", "comments"],
)
def test_a_line_without_an_end_keeps_nobody_waiting(text: str) -> None:
    began = time.process_time()
    prose(text, size=1)
    prose(text)
    assert time.process_time() - began < 3.0  # a model's longest reply
