"""Clients that are gone, or half gone, and do not say so."""

import ctypes
import os
import socket
import struct
import sys
from asyncio.trsock import TransportSocket

_SO_ATTACH_FILTER = 26
_DROP_ALL = struct.pack("=HBBI", 6, 0, 0, 0)
"""A packet filter of one instruction: take nothing."""


def vanish(line: TransportSocket | socket.socket) -> None:
    """Be a machine that is gone: no packet that comes is acknowledged."""
    program = ctypes.create_string_buffer(_DROP_ALL)
    described = struct.pack("HL", 1, ctypes.addressof(program))
    line.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, described)


def _can_vanish() -> bool:
    """Linux filters the packets of one socket: nearly everywhere for everybody, else for root."""
    if sys.platform != "linux":
        return False
    with socket.socket() as line:
        try:
            vanish(line)
        except PermissionError:
            return False
    return True


CAN_VANISH = _can_vanish()


def shut_own_side(line: TransportSocket) -> None:
    """Say that nothing more comes from here, and hold on."""
    with socket.socket(fileno=os.dup(line.fileno())) as same:
        same.shutdown(socket.SHUT_WR)
