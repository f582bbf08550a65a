"""Text frames: what goes in comes out, and a wrong field is named."""

import json
from types import MappingProxyType
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.protocol.codec import Envelope, Unknown, decode, encode
from sayso.protocol.decoding import decoder_for
from sayso.protocol.errors import Invalid, Malformed
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
    VersionRange,
    Welcome,
    Word,
)
from tests.protocol import strategies

HELLO = '{"t":"hello","protocol":{"min":1,"max":1},"client":"test"}'


def problem(text: str | bytes) -> str:
    """The sentence about a frame that is sound but wrong in a field."""
    with pytest.raises(Invalid) as caught:
        decode(text)
    assert not caught.value.fatal
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
    with pytest.raises(Malformed) as caught:
        decode(HELLO[:-1] + f',"token":"{secret}"]')
    assert secret not in caught.value.message


def test_a_problem_stays_short_whatever_names_were_sent() -> None:
    name = "x" * 50_000
    assert len(problem(f'{{"t":"metrics","marks":{{"{name}":"soon"}}}}')) < 200
    assert len(problem(f'{{"t":"{name}","seq":-1}}')) < 200


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
