"""Binary frames: twelve bytes of header, little-endian, and what can be wrong with them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.protocol.errors import Invalid, Malformed, Oversized, ProtocolError
from sayso.protocol.frames import HEADER_BYTES, MAX_FRAME_BYTES, AudioFrame, unpack
from tests.protocol import strategies

EXAMPLE = bytes.fromhex("01 01 0300 29000000 c0030000 0000 ff7f 0080")
"""The example of SPEC.md."""


@given(strategies.frames())
def test_every_frame_comes_out_as_it_went_in(frame: AudioFrame) -> None:
    assert unpack(frame.pack()) == frame


def test_the_header_is_laid_out_as_specified() -> None:
    frame = AudioFrame(3, 41, 960, bytes.fromhex("0000ff7f0080"), last=True)
    assert frame.pack() == EXAMPLE
    assert unpack(EXAMPLE) == frame
    assert len(EXAMPLE) == HEADER_BYTES + 6


def test_an_empty_payload_is_a_frame() -> None:
    assert unpack(EXAMPLE[:HEADER_BYTES]) == AudioFrame(3, 41, 960, b"", last=True)


@pytest.mark.parametrize("length", range(HEADER_BYTES))
def test_a_frame_shorter_than_its_header_is_malformed(length: int) -> None:
    with pytest.raises(Malformed) as caught:
        unpack(EXAMPLE[:length])
    assert caught.value.fatal


def test_a_frame_longer_than_agreed_is_oversized() -> None:
    fits = AudioFrame(1, 0, 0, bytes(MAX_FRAME_BYTES - HEADER_BYTES)).pack()
    unpack(fits)
    with pytest.raises(Oversized) as caught:
        unpack(fits + b"\0")
    assert caught.value.fatal
    with pytest.raises(Oversized):
        unpack(EXAMPLE, max_bytes=len(EXAMPLE) - 1)


@pytest.mark.parametrize("kind", [0, 2, 0x7B, 255])
def test_a_frame_of_unknown_kind_is_refused_alone(kind: int) -> None:
    with pytest.raises(Invalid, match=f"kind {kind}") as caught:
        unpack(bytes([kind]) + EXAMPLE[1:])
    assert not caught.value.fatal


def test_flags_that_are_not_in_use_are_ignored() -> None:
    assert unpack(b"\x01\xfe" + EXAMPLE[2:]) == AudioFrame(3, 41, 960, EXAMPLE[HEADER_BYTES:])
    assert unpack(b"\x01\xff" + EXAMPLE[2:]).last


@pytest.mark.parametrize(
    "frame",
    [
        AudioFrame(65_536, 0, 0, b""),
        AudioFrame(0, 2**32, 0, b""),
        AudioFrame(0, 0, 2**32, b""),
        AudioFrame(-1, 0, 0, b""),
    ],
)
def test_a_header_that_does_not_fit_is_not_sent(frame: AudioFrame) -> None:
    with pytest.raises(Invalid, match="cannot be sent"):
        frame.pack()


@given(st.binary(max_size=64))
def test_any_bytes_give_a_frame_or_a_protocol_error(data: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        assert unpack(data).payload == data[HEADER_BYTES:]
