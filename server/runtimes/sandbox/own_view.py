"""Gives confined code a view of the file system of its own, in which some of what it may write is
closed: a script without packages, which the launcher loads where Landlock confines."""

import contextlib
import ctypes
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

Place = tuple[str, int, int, bool]


class Needs(Protocol):
    """The fields of the launcher's `Steps` that are used here."""

    user: int
    own: list[Place]
    shared_memory: str
    scratch: int


def hold(
    needs: Needs,
    held: list[Place],
    found_again: Callable[[str, int, int], int],
    memory: list[str],
) -> None:
    """Close what must stay as it is, and get memory to share, in this process's view of the file
    system alone; add to `memory` where that lies."""
    if not in_a_child(lambda: own_view(needs.user)):
        if needs.own:
            own = needs.own[-1][0]
            raise OSError(0, "Sayso's own programs cannot be kept closed here", own)
        return  # the machine allows nobody to; what is done to them is undone after the run
    own_view(needs.user)
    for path, device, inode, closed in sorted([*held, *needs.own]):
        place = found_again(path, device, inode)
        # open_tree with OPEN_TREE_CLONE, mount_setattr with MOUNT_ATTR_RDONLY, and move_mount.
        tree = _call("syscall", 428, place, b"", 0x1 | 0x80000 | 0x1000 | 0x8000)
        if closed:
            attributes = struct.pack("=QQQQ", 0x1, 0, 0, 0)
            _call("syscall", 442, tree, b"", 0x1000 | 0x8000, attributes, len(attributes))
        _call("syscall", 429, tree, b"", place, b"", 0x4 | 0x40)
        os.close(tree)
        os.close(place)
    if needs.shared_memory:
        where, options = os.fsencode(needs.shared_memory), f"mode=1777,size={needs.scratch}"
        with contextlib.suppress(OSError):  # without, there is none to reach
            # MS_NOSUID | MS_NODEV | MS_NOEXEC
            _call("mount", b"sayso", where, b"tmpfs", 0x2 | 0x4 | 0x8, options.encode())
            memory.append(needs.shared_memory)


def in_a_child(action: Callable[[], None]) -> bool:
    """Try an irreversible step in a forked process; return whether it succeeds there."""
    child = os.fork()
    if not child:
        try:
            action()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def own_view(user: int) -> None:
    """Get a view of the file system of our own, as root or as the root of a user namespace."""
    if user < 0 and os.geteuid():
        uid, gid = os.getuid(), os.getgid()
        _call("unshare", 0x10000000 | 0x20000)  # CLONE_NEWUSER | CLONE_NEWNS
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    else:
        _call("unshare", 0x20000)
    _call("mount", None, b"/", None, 0x44000, None)  # MS_REC | MS_PRIVATE: nothing of it gets out


def _call(function: str, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    converted = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = getattr(libc, function)(*converted)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), function)
    return int(result)
