"""What boards send, read byte by byte, and Opus packets."""

import math
import struct

import pytest

from sayso.server.adapters.xiaozhi.messages import (
    Abort,
    Hello,
    ListenStart,
    ListenStop,
    XiaozhiMessage,
    framed,
    read_message,
    read_sound,
)
from sayso.server.adapters.xiaozhi.opus import (
    DECODED_RATE,
    BadPacketError,
    OpusDecoder,
    OpusEncoder,
)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('{"type": "hello", "audio_params": {"format": "opus"}}', Hello()),
        ('{"type": "hello"}', Hello()),
        ('{"type": "hello", "audio_params": {"format": "pcm"}}', None),
        ('{"type": "listen", "state": "start", "mode": "manual"}', ListenStart("manual")),
        ('{"type": "listen", "state": "start", "mode": []}', ListenStart("auto")),
        ('{"type": "listen", "state": "stop"}', ListenStop()),
        ('{"type": "listen", "state": "detect", "text": "hi"}', None),
        ('{"type": "abort"}', Abort()),
        ("[]", None),
        ("{", None),
        ('{"type": ["hello"]}', None),
    ],
)
def test_a_message_is_understood_or_passed_over(text: str, meant: XiaozhiMessage | None) -> None:
    assert read_message(text) == meant


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_packet_travels_in_each_form(version: int) -> None:
    assert read_sound(framed(b"packet", version), version) == b"packet"


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0\xff" + b"x", b"\1\0\0\1x", b"\0\0\0\0x"])
def test_a_frame_that_is_none_holds_no_packet(data: bytes) -> None:
    assert read_sound(data, 3) == b""
    assert read_sound(data, 2) == b""


def test_sound_survives_opus() -> None:
    samples = [int(8_000 * math.sin(2 * math.pi * 440 * n / 24_000)) for n in range(24_000)]
    encoder, decoder = OpusEncoder(24_000), OpusDecoder()
    pcm = struct.pack(f"<{len(samples)}h", *samples)
    packets = encoder.encode(pcm[: 999 * 2]) + encoder.encode(pcm[999 * 2 :]) + encoder.finish()
    assert len(packets) == 17
    heard = b"".join(decoder.decode(packet) for packet in packets)
    assert abs(len(heard) // 2 - 17 * DECODED_RATE * 60 // 1000) < DECODED_RATE // 10
    loud = max(abs(value) for (value,) in struct.iter_unpack("<h", heard))
    assert 6_000 < loud < 10_000


@pytest.mark.parametrize("packet", [b"", b"\xff" * 40, b"x" * 5_000])
def test_what_is_no_opus_is_said_to_be_none(packet: bytes) -> None:
    with pytest.raises(BadPacketError):
        OpusDecoder().decode(packet)
