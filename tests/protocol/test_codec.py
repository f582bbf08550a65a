"""Text frames: what goes in comes out, and whatever else comes gives one typed error."""

import contextlib
import json
import sys
from types import MappingProxyType
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sayso.protocol.codec import MAX_DEPTH, MAX_TEXT_BYTES, Envelope, Unknown, decode, encode
from sayso.protocol.decoding import decoder_for
from sayso.protocol.errors import Invalid, Malformed, Oversized, ProtocolError
from sayso.protocol.messages import (
    NAMES,
    TYPES,
    Approve,
    Error,
    FromClient,
    FromServer,
    Hello,
    ListenStop,
    Message,
    Metrics,
    Ping,
    ReplyDelta,
    Settings,
    SpeechStart,
    Text,
    VersionRange,
    Welcome,
    Word,
)
from sayso.protocol.messages.quantities import GREATEST
from tests.protocol import strategies

HELLO = '{"t":"hello","protocol":{"min":1,"max":1},"client":"test"}'


def problem(text: str | bytes) -> str:
    """The sentence about a frame that is sound but wrong in a field."""
    with pytest.raises(Invalid) as caught:
        decode(text)
    assert not caught.value.fatal
    return caught.value.message


def ending(text: str | bytes) -> str:
    """The sentence about a frame that is no message at all."""
    with pytest.raises(Malformed) as caught:
        decode(text)
    assert caught.value.code == "malformed"
    assert caught.value.fatal
    return caught.value.message


# --- what goes in comes out ---


@given(strategies.envelopes())
def test_every_message_comes_out_as_it_went_in(envelope: Envelope) -> None:
    assert decode(encode(envelope), max_bytes=2**20) == envelope


@pytest.mark.parametrize("name", sorted(TYPES))
@given(data=st.data())
def test_each_type_of_message_comes_out_as_it_went_in(name: str, data: st.DataObject) -> None:
    envelope = Envelope(data.draw(strategies.records(TYPES[name])))
    text = encode(envelope)
    assert decode(text, max_bytes=2**20) == envelope
    assert decode(text.encode(), max_bytes=2**20) == envelope
    assert encode(decode(text, max_bytes=2**20)) == text


def test_every_message_has_one_name_and_belongs_to_a_direction() -> None:
    assert set(get_args(Message)) == set(TYPES.values()) == set(NAMES)
    assert set(get_args(FromClient)) | set(get_args(FromServer)) == set(TYPES.values())


def test_no_message_has_a_field_that_the_envelope_needs() -> None:
    for kind in TYPES.values():
        assert not {"t", "seq", "turn", "gen"} & set(kind.__dataclass_fields__)


def test_what_is_sent_is_compact_and_begins_with_its_name_and_place() -> None:
    assert (
        encode(Envelope(ReplyDelta("Grüß dich"), seq=7, turn=3, gen=0))
        == '{"t":"reply.delta","seq":7,"turn":3,"gen":0,"text":"Grüß dich"}'
    )


def test_fields_at_their_default_are_left_out_and_come_back() -> None:
    hello = Hello(VersionRange(1, 1), "test")
    assert encode(Envelope(hello)) == HELLO
    assert decode(HELLO) == Envelope(hello)


def test_nested_records_come_out_as_records() -> None:
    start = SpeechStart(1, 22_050, "one two", words=(Word("one", 0, 10), Word("two", 12, 20)))
    assert decode(encode(Envelope(start))).message == start


def test_any_kind_of_mapping_can_be_sent() -> None:
    settings = Settings(MappingProxyType({"voice": "joe", "more": MappingProxyType({"a": 1})}))
    assert json.loads(encode(Envelope(settings)))["values"] == {"voice": "joe", "more": {"a": 1}}


def test_a_lone_surrogate_in_output_is_replaced_and_a_pair_is_joined() -> None:
    text = encode(Envelope(ReplyDelta("a\ud800b \ud83d\ude00")))
    assert decode(text).message == ReplyDelta("a\ufffdb \U0001f600")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_lacks_is_not_sent(value: float) -> None:
    with pytest.raises(Invalid, match="metrics cannot be sent"):
        encode(Envelope(Metrics({"final": value})))


def test_what_is_no_json_is_not_sent() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(Invalid, match="settings cannot be sent"):
        encode(Envelope(Settings({"endless": endless})))


def test_an_unknown_message_cannot_be_sent_on() -> None:
    with pytest.raises(Invalid, match=r"'weather\.report' cannot be sent"):
        encode(Envelope(Unknown("weather.report")))


# --- what a newer peer may send ---


def test_unknown_fields_are_ignored() -> None:
    text = '{"t":"ping","id":4,"mood":{"x":[1]},"priority":null}'
    assert decode(text) == Envelope(Ping(4))


def test_unknown_fields_are_ignored_within_records() -> None:
    assert decode(HELLO.replace('"max":1', '"max":1,"best":1')) == decode(HELLO)


def test_an_unknown_message_is_told_apart_by_its_name() -> None:
    envelope = decode('{"t":"weather.report","seq":9,"turn":2,"rain":true}')
    assert envelope == Envelope(Unknown("weather.report"), seq=9, turn=2)


def test_null_stands_for_an_absent_optional_field() -> None:
    text = '{"t":"error","seq":null,"code":"busy","message":"Wait.","retry_ms":null}'
    assert decode(text) == Envelope(Error("busy", "Wait."))


# --- a wrong field ---


def test_a_missing_field_is_named() -> None:
    text = '{"t":"listen.stop","stream":1}'
    assert problem(text) == "listen.stop: `samples` is missing."


def test_a_wrong_field_is_named_with_the_way_to_it() -> None:
    text = HELLO.replace('"max":1', '"max":"one"')
    assert problem(text) == "hello: `protocol.max` must be a whole number from 1 to 65535."
    words = '{"t":"speech.start","stream":1,"rate":22050,"text":"a","words":[{"text":"a"}]}'
    assert problem(words) == "speech.start: `words.0.start` is missing."


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"t":"ping","id":true}', "id"),
        ('{"t":"ping","id":1.0}', "id"),
        ('{"t":"ping","id":"1"}', "id"),
        ('{"t":"ping","id":-1}', "id"),
        ('{"t":"ping","id":null}', "id"),
        ('{"t":"ping","id":1,"seq":false}', "seq"),
        ('{"t":"ping","id":1,"turn":-1}', "turn"),
        ('{"t":"ping","id":1,"gen":"0"}', "gen"),
        ('{"t":"text","text":7}', "text"),
        ('{"t":"text","text":["a"]}', "text"),
        ('{"t":"error","code":"a","message":"b","fatal":1}', "fatal"),
        ('{"t":"error","code":"a","message":"b","fatal":null}', "fatal"),
        ('{"t":"settings","values":[]}', "values"),
        ('{"t":"settings","values":"loud"}', "values"),
        ('{"t":"listen.start","mode":"shout","stream":1}', "mode"),
        ('{"t":"listen.start","mode":["ptt"],"stream":1}', "mode"),
        ('{"t":"listen.stop","stream":65536,"samples":1}', "stream"),
        ('{"t":"listen.stop","stream":1,"samples":4294967296}', "samples"),
        ('{"t":"metrics","marks":{"final":"soon"}}', "marks.final"),
        (HELLO.replace('"test"', '"test","features":"all"'), "features"),
        (HELLO.replace('"test"', '"test","features":["a",1]'), "features.1"),
        (HELLO.replace('"test"', '"test","limits":{"max_frame_bytes":12}'), "limits.max_frame"),
        (HELLO.replace('"test"', '"test","limits":{"play_buffer_ms":0}'), "limits.play_buffer"),
        (HELLO.replace('{"min":1,"max":1}', "1"), "protocol"),
    ],
)
def test_a_field_of_the_wrong_type_is_refused(text: str, field: str) -> None:
    assert f"`{field}" in problem(text)


def test_a_whole_number_may_stand_for_a_fraction() -> None:
    text = '{"t":"code.end","id":"a","status":"ok","seconds":2}'
    seconds = decode(text).message.seconds  # type: ignore[union-attr]
    assert type(seconds) is float


@pytest.mark.parametrize(
    "fields",
    ['"decision":"edit"', '"decision":"edit","code":""', '"decision":"yes","code":"x"'],
)
def test_code_comes_with_an_edit_and_only_then(fields: str) -> None:
    assert "only then" in problem('{"t":"approve","id":"a","nonce":"n",' + fields + "}")
    with pytest.raises(ValueError, match="only then"):
        Approve("a", "n", "edit")


def test_a_problem_never_repeats_what_was_sent() -> None:
    secret = "correct horse battery staple"
    assert secret not in problem(HELLO.replace('"client"', f'"token":["{secret}"],"client"'))
    assert secret not in ending(HELLO[:-1] + f',"token":"{secret}"]')


def test_a_problem_stays_short_whatever_names_were_sent() -> None:
    name = "x" * 50_000
    assert len(problem(f'{{"t":"metrics","marks":{{"{name}":"soon"}}}}')) < 200
    assert len(problem(f'{{"t":"{name}","seq":-1}}')) < 200


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


def test_a_hint_that_no_message_has_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="no message can hold"):
        decoder_for(set[int])


def test_welcome_defaults_are_whole() -> None:
    welcome = decode('{"t":"welcome","protocol":1,"server":"s","session":"x"}').message
    assert isinstance(welcome, Welcome)
    assert (welcome.resume, welcome.audio.up, welcome.limits.play_buffer_ms) == (
        "new",
        "pcm16",
        800,
    )


def test_a_stop_is_a_stop() -> None:
    stop = decode('{"t":"listen.stop","stream":0,"samples":4294967295}').message
    assert stop == ListenStop(0, 4_294_967_295)
