"""Packs and unpacks Opus, by the library inside PyAV; nothing of it is loaded before it is used."""

from typing import Any, Final

DECODED_RATE: Final = 48_000
"""Samples a second: Opus has no other inside."""
PACKET_BYTES: Final = 4_000
"""Longest packet: what the library itself recommends, many times what speech takes."""
FRAME_MS: Final = 60


class BadPacketError(Exception):
    """What came is no Opus."""


class OpusDecoder:
    """Of one stream of packets."""

    def __init__(self) -> None:
        import av

        self._av: Any = av
        self._codec: Any = av.CodecContext.create("libopus", "r")
        self._codec.layout = "mono"

    def decode(self, packet: bytes) -> bytes:
        """PCM16 mono at 48 kHz. Raises BadPacketError."""
        if not 0 < len(packet) <= PACKET_BYTES:
            raise BadPacketError
        try:
            frames = self._codec.decode(self._av.Packet(packet))
        except (self._av.FFmpegError, ValueError):
            raise BadPacketError from None
        return b"".join(bytes(frame.planes[0])[: frame.samples * 2] for frame in frames)


class OpusEncoder:
    """Of one stream of sound, in packets of 60 ms."""

    def __init__(self, rate: int) -> None:
        import av

        self._av: Any = av
        self._codec: Any = av.CodecContext.create("libopus", "w")
        self._codec.sample_rate = rate
        self._codec.layout = "mono"
        self._codec.format = "s16"
        self._codec.options = {"frame_duration": str(FRAME_MS), "application": "voip"}
        self._rate = rate
        self._size = rate * FRAME_MS // 1000 * 2
        self._waiting = b""
        self._samples = 0

    def encode(self, pcm: bytes) -> list[bytes]:
        """The packets that are whole with this."""
        self._waiting += pcm
        packets: list[bytes] = []
        while len(self._waiting) >= self._size:
            packets += self._packets(self._waiting[: self._size])
            self._waiting = self._waiting[self._size :]
        return packets

    def finish(self) -> list[bytes]:
        """What is left, filled up with silence."""
        left, self._waiting = self._waiting, b""
        return self._packets(left.ljust(self._size, b"\0")) if left else []

    def _packets(self, pcm: bytes) -> list[bytes]:
        frame = self._av.AudioFrame(format="s16", layout="mono", samples=len(pcm) // 2)
        frame.sample_rate = self._rate
        frame.pts = self._samples
        frame.planes[0].update(pcm)
        self._samples += len(pcm) // 2
        return [bytes(packet) for packet in self._codec.encode(frame)]
