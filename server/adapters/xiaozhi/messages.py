"""Reads what a xiaozhi board sends. Pure: any bytes give a message, or none.

Boards know no errors: what means nothing here is passed over. Sound comes in one of three forms, by
the version that the board names when it connects:

    1   the Opus packet
    2   version u16, type u16, reserved u32, timestamp u32, size u32, then the packet
    3   type u8, reserved u8, size u16, then the packet                 (all big-endian)
"""

import struct
from dataclasses import dataclass
from typing import Any, Final, Literal

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json

SECOND: Final = struct.Struct(">HHIII")
THIRD: Final = struct.Struct(">BBH")
OPUS: Final = 0
"""The type of a frame that holds sound."""
ListenMode = Literal["auto", "manual", "realtime"]


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message."""


@dataclass(frozen=True, slots=True)
class ListenStart:
    """The board's microphone opens."""

    mode: ListenMode
    """`manual`: its key says when it ends. `auto`: it listens again after each answer. `realtime`:
    it goes on listening while it speaks."""


@dataclass(frozen=True, slots=True)
class ListenStop:
    """The key was released."""


@dataclass(frozen=True, slots=True)
class Abort:
    """The person wants silence."""


XiaozhiMessage = Hello | ListenStart | ListenStop | Abort


def read_message(text: str) -> XiaozhiMessage | None:
    """What is meant; None: nothing that is known here."""
    try:
        value = read_json(text)
    except UntrustedJsonError:
        return None
    if not isinstance(value, dict):
        return None
    match value.get("type"), value.get("state"):
        case "hello", _:
            return Hello() if _takes_opus(value.get("audio_params")) else None
        case "listen", "start":
            return ListenStart(_mode(value.get("mode")))
        case "listen", "stop":
            return ListenStop()
        case "abort", _:
            return Abort()
        case _:
            return None


def read_sound(data: bytes, version: int) -> bytes:
    """The Opus packet in a frame; empty where it holds none."""
    if version == 2:  # noqa: PLR2004 - as the boards name it
        if len(data) < SECOND.size:
            return b""
        _, kind, _, _, size = SECOND.unpack_from(data)
        packet = data[SECOND.size :]
    elif version == 3:  # noqa: PLR2004
        if len(data) < THIRD.size:
            return b""
        kind, _, size = THIRD.unpack_from(data)
        packet = data[THIRD.size :]
    else:
        return data
    return packet if kind == OPUS and size == len(packet) else b""


def framed(packet: bytes, version: int) -> bytes:
    """A packet as it travels."""
    if version == 2:  # noqa: PLR2004
        return SECOND.pack(2, OPUS, 0, 0, len(packet)) + packet
    if version == 3:  # noqa: PLR2004
        return THIRD.pack(OPUS, 0, len(packet)) + packet
    return packet


def _takes_opus(params: Any) -> bool:  # noqa: ANN401 - looked at here
    return not isinstance(params, dict) or params.get("format", "opus") == "opus"


def _mode(value: object) -> ListenMode:
    return value if value in ("manual", "realtime") else "auto"
