"""The golden transcripts: lines that the codec would write, in an order that the rules allow."""

import asyncio
import re
from itertools import pairwise

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from sayso.protocol import messages as m
from sayso.protocol.codec import Unknown, decode, encode
from sayso.protocol.errors import ProtocolError
from sayso.protocol.frames import is_picture, unpack, unpack_picture
from sayso.protocol.messages import TYPES
from tests.gateway import running_gateway
from tests.protocol.rules import BrokenRule, Rules
from tests.protocol.transcripts import Close, Frame, Line, names, read

GOOD = [name for name in names() if name != "errors"]


def frames_of(name: str) -> list[Frame]:
    return [line for line in read(name) if isinstance(line, Frame)]


def test_the_transcripts_are_all_there() -> None:
    spoken = ["hands_free", "interruption", "pairing", "resume", "spoken_question"]
    typed = [
        "access",
        "conversations",
        "device_requests",
        "errors",
        "files",
        "jobs",
        "typed_question",
        "undo",
        "words_during_work",
    ]
    assert names() == sorted([*spoken, *typed])


@pytest.mark.parametrize("name", names())
def test_each_line_is_what_the_codec_writes(name: str) -> None:
    for frame in frames_of(name):
        if frame.wrong in ("malformed", "invalid", "oversized"):
            assert refusal(frame.data) == frame.wrong, frame.place
        elif isinstance(frame.data, bytes):
            read_frame = unpack_picture if is_picture(frame.data) else unpack
            assert read_frame(frame.data).pack() == frame.data, frame.place
        else:
            envelope = decode(frame.data)
            assert decode(frame.canonical) == envelope, frame.place
            if not isinstance(envelope.message, Unknown):
                assert encode(envelope) == frame.canonical, frame.place


def refusal(data: str | bytes) -> str:
    """The code with which the codec refuses a frame."""
    with pytest.raises(ProtocolError) as caught:
        unpack(data) if isinstance(data, bytes) else decode(data)
    return caught.value.code


@pytest.mark.parametrize("name", names())
def test_each_transcript_obeys_the_order_rules(name: str) -> None:
    rules = Rules()
    for line in read(name):
        if isinstance(line, Close):
            rules.close(line.code)
        elif line.wrong:
            with pytest.raises((ProtocolError, BrokenRule)):
                rules.up(line.data)
        elif line.direction == "up":
            rules.up(line.data)
        else:
            rules.down(line.data)


@pytest.mark.parametrize("name", GOOD)
def test_only_the_errors_hold_what_is_wrong(name: str) -> None:
    assert not [line for line in read(name) if isinstance(line, Frame) and line.wrong]


def test_each_wrong_line_is_answered_by_its_error() -> None:
    lines = read("errors")
    for line, answer in pairwise(lines):
        if isinstance(line, Frame) and line.wrong not in ("", "ignored"):
            assert isinstance(answer, Frame)
            error = decode(answer.data).message
            assert isinstance(error, m.Error)
            assert error.code == line.wrong, line.place


def test_every_message_of_the_foundation_occurs() -> None:
    good = [frame for name in names() for frame in frames_of(name) if not frame.wrong]
    seen = {type(decode(frame.data).message) for frame in good if isinstance(frame.data, str)}
    later = {"settings", "listen.cancel"}
    assert {name for name, kind in TYPES.items() if kind not in seen} == later


# --- the real door answers as the transcript says ---


def connections() -> list[list[Line]]:
    """The transcript of errors, cut where connections end."""
    found: list[list[Line]] = [[]]
    for line in read("errors"):
        found[-1].append(line)
        if isinstance(line, Close):
            found.append([])
    return found[:-1]


@pytest.mark.parametrize("lines", connections(), ids=lambda lines: lines[0].place)
async def test_the_door_answers_what_is_wrong_as_the_transcript_says(lines: list[Line]) -> None:
    async with running_gateway.open_gateway() as here, here.stranger() as socket:
        for line in lines:
            if isinstance(line, Close):
                assert await running_gateway.close_code(socket) == line.code, line.place
            elif line.direction == "up":
                data = line.data
                await socket.send(_with_token(data) if isinstance(data, str) else data)
            else:
                assert await _said(socket) == _outline(decode(line.data).message), line.place


def _with_token(text: str) -> str:
    """The golden token stands for the one that this machine has."""
    return re.sub(r'"token":"\w{43}"', f'"token":"{running_gateway.TOKEN}"', text)


async def _said(socket: ClientConnection) -> object:
    """What the server says next; the sentences may differ."""
    async with asyncio.timeout(running_gateway.WAIT_S):
        try:
            return _outline(decode(await socket.recv()).message)
        except ConnectionClosed as closed:
            return f"closed: {closed}"


def _outline(message: object) -> object:
    match message:
        case m.Error(code=code, fatal=fatal):
            return code, fatal
        case m.Pong():
            return message
        case _:
            return type(message)
