"""What a file's mode forbids is forbidden to root as well, within a block."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION_3 = 0x20080522
_OVERLOOKS = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: root reads, writes and removes by them."""


@contextmanager
def permissions_hold() -> Iterator[None]:
    """For this thread alone; whoever is not root has nothing to lay down."""
    if os.geteuid():
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    held = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; and again, the upper halves
    assert libc.capget(header, held) == 0
    lowered = type(held)(*held)
    lowered[0] &= ~_OVERLOOKS
    assert libc.capset(header, lowered) == 0
    try:
        yield
    finally:
        assert libc.capset(header, held) == 0
