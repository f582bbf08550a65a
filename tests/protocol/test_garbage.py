"""Text frames that are no message, and garbage of every kind: one typed error, and nothing else."""

import contextlib
import json
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sayso.protocol.codec import MAX_DEPTH, MAX_TEXT_BYTES, Envelope, decode, encode
from sayso.protocol.errors import Malformed, Oversized, ProtocolError
from sayso.protocol.messages import TYPES, Settings, Text
from sayso.protocol.messages.bounds import GREATEST
from tests.protocol import strategies

HELLO = '{"t":"hello","protocol":{"min":1,"max":1},"client":"test"}'


def ending(text: str | bytes) -> str:
    """The sentence about a frame that is no message at all."""
    with pytest.raises(Malformed) as caught:
        decode(text)
    assert caught.value.code == "malformed"
    assert caught.value.fatal
    return caught.value.message


# --- no message at all ---


@pytest.mark.parametrize("text", ["", " ", "null", "17", '"hello"', "[]", '["t"]', "true"])
def test_what_is_no_json_object_is_malformed(text: str) -> None:
    ending(text)


@pytest.mark.parametrize(
    "text",
    ["{", "}", "hello", '{"t":}', "{'t':'bye'}", '{"t":"bye",}', '{"t":"bye"} {}', '{"t":"\t"}'],
)
def test_broken_json_is_malformed(text: str) -> None:
    assert "not JSON" in ending(text)


@pytest.mark.parametrize("text", ["{}", '{"t":1}', '{"t":null}', '{"T":"bye"}', '{"t":["bye"]}'])
def test_a_frame_that_names_no_message_is_malformed(text: str) -> None:
    assert "names a message" in ending(text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize(
    "frame", ['{"t":"metrics","marks":{"final":%s}}', '{"t":"bye","unknown":[%s]}']
)
def test_numbers_that_no_double_holds_are_malformed(frame: str, number: str) -> None:
    assert "The frame holds" in ending(frame % number)


@pytest.mark.parametrize(
    "digits", [f"{GREATEST + 1}", f"{-GREATEST - 1}", "1" * 400, "1" * 5_000, "-" + "9" * 60_000]
)
def test_whole_numbers_that_json_readers_round_are_malformed(digits: str) -> None:
    assert "whole number" in ending(f'{{"t":"settings","values":{{"a":{digits}}}}}')


def test_the_greatest_whole_numbers_pass() -> None:
    values = {"most": GREATEST, "least": -GREATEST}
    assert decode(encode(Envelope(Settings(values)))).message == Settings(values)


@pytest.mark.parametrize(
    "data", [b"\xff", b'{"t":"bye","reason":"\xc3"}', b"\xed\xa0\x80", HELLO.encode("utf-16")]
)
def test_invalid_utf_8_is_malformed(data: bytes) -> None:
    assert "UTF-8" in ending(data)


@pytest.mark.parametrize(
    "text",
    [
        '{"t":"text","text":"\\ud800"}',
        '{"t":"text","text":"\\uDFFFa"}',
        '{"t":"text","text":"\\udc00\\ud800"}',
        '{"t":"bye","unknown":[{"\\ud83d":1}]}',
        '{"t":"text","text":"\ud800"}',
    ],
)
def test_half_a_surrogate_pair_is_malformed(text: str) -> None:
    ending(text)


def test_an_escaped_surrogate_pair_is_one_character() -> None:
    assert decode('{"t":"text","text":"\\ud83d\\ude00"}').message == Text("\U0001f600")


@pytest.mark.parametrize(
    "text", ['{"t":"bye","t":"ping","id":1}', '{"t":"settings","values":{"a":1,"a":1}}']
)
def test_a_field_named_twice_is_malformed(text: str) -> None:
    assert "twice" in ending(text)


def nested(levels: int) -> str:
    """A frame with so many levels of brackets, its own included."""
    inner = levels - 2
    return '{"t":"settings","values":{"a":' + "[" * inner + "]" * inner + "}}"


def test_nesting_is_bounded() -> None:
    decode(nested(MAX_DEPTH))
    assert "deeper than 32" in ending(nested(MAX_DEPTH + 1))


@pytest.mark.parametrize("bracket", ["[", '{"a":', '[{"":'])
def test_endless_nesting_is_malformed_and_no_recursion_error(bracket: str) -> None:
    assert "deeper" in ending(bracket * (MAX_TEXT_BYTES // len(bracket)))
    assert "deeper" in ending('{"t":"bye","a":' + bracket * sys.getrecursionlimit())


def test_brackets_in_text_are_no_nesting() -> None:
    code = '[[{"\\"' * 100
    assert decode(encode(Envelope(Text(code)))).message == Text(code)


def test_frames_at_the_limit_pass_and_longer_ones_do_not() -> None:
    text = encode(Envelope(Text("")))
    fits = encode(Envelope(Text("ü" * ((MAX_TEXT_BYTES - len(text)) // 2))))
    assert len(fits.encode()) in (MAX_TEXT_BYTES, MAX_TEXT_BYTES - 1)
    decode(fits)
    decode(fits.encode())
    for longer in (fits.replace("ü", "üü", 1), fits.replace("ü", "üü", 1).encode()):
        with pytest.raises(Oversized) as caught:
            decode(longer)
        assert caught.value.fatal


def test_the_limit_is_the_one_agreed() -> None:
    assert decode(HELLO, max_bytes=len(HELLO))
    with pytest.raises(Oversized, match="longer than 57 bytes"):
        decode(HELLO, max_bytes=len(HELLO) - 1)


# --- garbage ---


def only_a_protocol_error(data: str | bytes) -> None:
    with contextlib.suppress(ProtocolError):
        assert isinstance(decode(data), Envelope)


@given(st.binary(max_size=300))
@example(b"\xef\xbb\xbf" + HELLO.encode())
def test_any_bytes_give_a_message_or_a_protocol_error(data: bytes) -> None:
    only_a_protocol_error(data)


@given(st.text(st.characters(), max_size=300) | strategies.almost_json())
def test_any_text_gives_a_message_or_a_protocol_error(text: str) -> None:
    only_a_protocol_error(text)


@given(strategies.JSON, st.sampled_from([None, *TYPES]))
def test_any_json_gives_a_message_or_a_protocol_error(value: object, name: str | None) -> None:
    if isinstance(value, dict) and name:
        value = {**value, "t": name}
    only_a_protocol_error(json.dumps(value))


@given(strategies.envelopes(), st.data())
def test_a_message_with_wrong_values_gives_a_protocol_error(
    envelope: Envelope, data: st.DataObject
) -> None:
    fields = json.loads(encode(envelope))
    for key in data.draw(st.sets(st.sampled_from(sorted(fields)), min_size=1)):
        fields[key] = data.draw(strategies.JSON)
    only_a_protocol_error(json.dumps(fields))


@given(strategies.envelopes(), st.data())
def test_a_damaged_frame_gives_a_message_or_a_protocol_error(
    envelope: Envelope, data: st.DataObject
) -> None:
    damaged = bytearray(encode(envelope).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    only_a_protocol_error(bytes(damaged))
