"""JSON that somebody else wrote."""

import json
import time

import pytest

from sayso.protocol.untrusted_json import MOST_DEPTH, UntrustedJsonError, read_json

MANY = 100_000
QUICK_S = 5.0


@pytest.mark.parametrize(
    "text",
    [
        "[" * MANY,
        "[" * MANY + "]" * MANY,
        '{"a":' * MANY + "1" + "}" * MANY,
        "[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1),
        '["]]]]",' * MANY + "1" + "]" * MANY,
        "9" * MANY,
        "-" + "9" * 5_000,
        str(2**64),
        "1e999",
        "-1e999",
        "NaN",
        "[Infinity]",
        '"' + "\\" * MANY,
        '"\x00"',
        "",
        b"\xff\xfe[\x00]\x00",
        b'"\xed\xa0\x80"',
    ],
)
def test_what_is_made_to_hurt_raises_one_exception(text: str | bytes) -> None:
    with pytest.raises(UntrustedJsonError):
        read_json(text)


def test_more_than_is_read_is_refused_before_it_is_read() -> None:
    with pytest.raises(UntrustedJsonError, match="longer"):
        read_json("[" * 11, most_bytes=10)
    with pytest.raises(UntrustedJsonError, match="longer"):
        read_json('"ééé"', most_bytes=7)


@pytest.mark.parametrize("half", ["\\ud800", "\\udfff", "\ud800"])
def test_half_a_character_cannot_travel_and_is_replaced(half: str) -> None:
    assert read_json(f'{{"{half}": ["a{half}"]}}') == {"�": ["a�"]}


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, -1.5, None, True, '\U0001f600 \\ " ]]}}'], "b": {}},
        2**64 - 1,
        -(2**63),
        [[]] * 1_000,
        ['"[', "\\", '\\"{'] * 100,
        {"deep": json.loads("[" * (MOST_DEPTH - 1) + "]" * (MOST_DEPTH - 1))},
    ],
)
def test_what_people_and_programs_write_is_read_as_it_is(value: object) -> None:
    for ascii_only in (True, False):
        assert read_json(json.dumps(value, ensure_ascii=ascii_only)) == value


def test_models_may_write_the_ends_of_lines_as_they_are() -> None:
    assert read_json('{"code": "a\nb"}', control_characters=True) == {"code": "a\nb"}


@pytest.mark.parametrize(
    "text",
    ["[]," * 1_000_000, "[" * 3_000_000, '"' + '\\"' * 1_500_000, ("[" * 60 + "]" * 60) * 25_000],
    ids=["pairs", "deep", "unfinished", "steep"],
)
def test_megabytes_of_brackets_cost_little(text: str) -> None:
    begun = time.process_time()
    with pytest.raises(UntrustedJsonError):
        read_json(text)
    assert time.process_time() - begun < QUICK_S
