"""Reads what a call is about that the filter handed over, as its caller sees it: a script without
packages, which guarded_calls.py loads.

All of it may change at any moment, so each part is to be read once, and what was read to be used.
"""

import contextlib
import ctypes
import errno
import os
import re
import socket
import struct
from pathlib import Path

_PATH_MOST = 4_096
"""PATH_MAX: longer paths the kernel refuses as well."""

_SOCKET_ADDRESS_MOST = 128
"""Bytes: sockaddr_storage."""

_RESOLVE_TRIES = 3
"""The kernel gives up when somebody renames folders on the way."""

_PIDFD_GETFD, _OPENAT2 = 438, 437
_IN_ROOT, _NO_MAGIC_LINKS = 0x10, 0x02
"""RESOLVE_IN_ROOT and RESOLVE_NO_MAGICLINKS: no link leads out of the code's own view."""

_AT_CWD, _AT_NOFOLLOW, _AT_EMPTY_PATH = -100, 0x100, 0x1000

_OWN_DESCRIPTOR = re.compile(r"/(?:proc/(?:thread-)?self|dev)/fd/(\d+)")

_LIBC = ctypes.CDLL(None, use_errno=True)


def address_of_socket(pid: int, address: int, length: int) -> bytes:
    """Read the address of a socket."""
    if not 0 < length <= _SOCKET_ADDRESS_MOST:
        raise OSError(errno.EINVAL, "no address of a socket")
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(length)


def text(pid: int, address: int) -> str:
    """Read a path from the caller's memory, page by page: the next one may not exist."""
    found = b""
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        while b"\0" not in found:
            if len(found) > _PATH_MOST:
                raise OSError(errno.ENAMETOOLONG, "a path too long")
            memory.seek(address + len(found))
            piece = memory.read(4_096 - (address + len(found)) % 4_096)
            if not piece:
                raise ProcessLookupError(errno.ESRCH, "gone")
            found += piece
    return os.fsdecode(found.partition(b"\0")[0])


def times(pid: int, call: str, address: int) -> tuple[tuple[int, int], ...] | None:
    """Read the two times, each as seconds and nanoseconds; None stands for now."""
    if not address:
        return None
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        if call == "utime":
            accessed, modified = struct.unpack("=qq", memory.read(16))
            return (accessed, 0), (modified, 0)
        seconds, part, seconds2, part2 = struct.unpack("=qqqq", memory.read(32))
    unit = 1 if call == "utimensat" else 1_000
    return (seconds, part * unit), (seconds2, part2 * unit)


def seen(pid: int, link: str) -> str:
    """Where a link of /proc leads, as the caller names it.

    In a changed root its own view of the file system is told with what leads to that root.
    """
    root = Path(f"/proc/{pid}/root").readlink()
    return str(Path("/", Path(link).readlink().relative_to(root)))


def handle(pid: int, folder: int, path: str, flag: int = 0) -> int:
    """Return a handle of the file that the caller means, which lets nothing be read or written.

    It is found in the caller's own view of the file system, which may close what is open to us.
    """
    base = f"/proc/{pid}/cwd" if folder == _AT_CWD else f"/proc/{pid}/fd/{folder}"
    nofollow = os.O_NOFOLLOW if flag & _AT_NOFOLLOW else 0
    if not path:
        if not flag & _AT_EMPTY_PATH:
            raise FileNotFoundError(errno.ENOENT, "an empty path")
        return os.open(base, os.O_PATH | os.O_CLOEXEC)
    if not nofollow and (own := _OWN_DESCRIPTOR.fullmatch(path)):
        return os.open(f"/proc/{pid}/fd/{own[1]}", os.O_PATH | os.O_CLOEXEC)
    if not path.startswith("/"):
        path = f"{seen(pid, base)}/{path}"
    root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_CLOEXEC)
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC | nofollow, 0, _IN_ROOT | _NO_MAGIC_LINKS)
    try:
        for _ in range(_RESOLVE_TRIES):
            with contextlib.suppress(BlockingIOError):
                return _system(_OPENAT2, root, os.fsencode(path), how, len(how))
        raise BlockingIOError(errno.EAGAIN, "folders are being renamed")
    finally:
        os.close(root)


def copy_of_socket(pid: int, number: int) -> socket.socket:
    """Return a copy of the code's socket: what its number stands for may change."""
    process = os.pidfd_open(_leader(pid))
    try:
        copied = _system(_PIDFD_GETFD, process, number, 0)
    finally:
        os.close(process)
    try:
        return socket.socket(fileno=copied)
    except OSError:
        os.close(copied)
        raise


def _leader(thread: int) -> int:
    for line in Path(f"/proc/{thread}/status").read_text().splitlines():
        if line.startswith("Tgid:"):
            return int(line.split()[1])
    raise ProcessLookupError(errno.ESRCH, "gone")


def _system(number: int, *arguments: int | bytes) -> int:
    """Make a call that the C library has no function for; its number is the same everywhere."""
    converted = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = int(_LIBC.syscall(ctypes.c_long(number), *converted))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
