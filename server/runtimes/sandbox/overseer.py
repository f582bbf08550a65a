"""The guard's work while confined code runs: a script without packages, which the launcher loads.

It stays outside the sandbox and does three things. It ends what the code left behind, when the code
or the server has ended. It collects the dead. And it answers for calls that Landlock does not
govern and that programs cannot do without; the filter of system calls hands them over. It sets the
modes and times of files in the code's place, if they lie in reach, lets pass what changes the
limits and priorities of the code's own processes, and connects TCP sockets to the network proxy.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_KILL_S = 2.0
"""How long to keep killing before giving up on what does not die (it waits for a disk)."""

_KILL_AGAIN_S = 0.005
"""Between two looks at what is left: the dying need a moment."""

_PATH_MOST = 4_096
"""PATH_MAX: longer paths the kernel refuses as well."""

_ACCEPT_S = 1.0
"""On loopback a connection is there at once; beyond that, something is wrong."""

_SOCKET_ADDRESS_MOST = 128
"""Bytes: sockaddr_storage."""

_PIDFD_GETFD = 438

# Requests of linux/seccomp.h: receive, send, and is it still there.
_RECEIVE, _SEND, _STILL_THERE = 0xC0502100, 0xC0182101, 0x40082102
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
"""Id, process, flags; then what the filter saw: call, architecture, instruction, arguments."""
_ANSWER = struct.Struct("=QqiI")
_LET_PASS = 1
"""SECCOMP_USER_NOTIF_FLAG_CONTINUE."""

_ON_A_PROCESS = {
    **dict.fromkeys(
        ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"),
        0,
    ),
    **dict.fromkeys(("setpriority", "ioprio_set"), 1),
}
"""Which argument of these calls is the process."""

_AT_CWD, _AT_NOFOLLOW, _AT_EMPTY_PATH = -100, 0x100, 0x1000
_UTIME_NOW, _UTIME_OMIT = (1 << 30) - 1, (1 << 30) - 2
_MODE = 0o1777
"""What code may set: no set-user-id, no set-group-id."""


@dataclass(frozen=True)
class Charge:
    """Whom and what to watch over."""

    child: int
    """The confined process."""
    lifeline: int
    """A pipe that closes when the server ends."""
    listener: int
    """Where the filter hands calls over; -1 if it hands over none."""
    calls: dict[int, str]
    """The calls that come, by number."""
    folders: tuple[str, ...]
    """Where files may be changed."""
    user: int
    """Whose files, if the code is another user than we are; else -1."""
    door: int = -1
    """Where sockets are handed to the network proxy; -1 if there is none."""
    proxy_port: int = 0
    """Where code looks for it, on loopback."""


def oversee(charge: Charge) -> int:
    """Return the confined process's exit code when it, and all that it started, is gone."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    os.kill(os.getpid(), signal.SIGCHLD)  # it may have ended before we listened
    code = _watch(charge, woken)
    _end_all(charge.child)
    return code


def _watch(charge: Charge, woken: int) -> int:
    watched = [woken, charge.lifeline, *([charge.listener] if charge.listener >= 0 else [])]
    while True:
        readable, _, _ = select.select(watched, [], [])
        if woken in readable:
            signals = os.read(woken, 512)
            ended = _reap(charge.child)
            if ended is not None:
                return ended
            if set(signals) - {signal.SIGCHLD}:
                return 1
        if charge.lifeline in readable and not os.read(charge.lifeline, 512):
            return 1
        if charge.listener in readable:
            with contextlib.suppress(OSError):
                _answer(charge)


def _reap(child: int) -> int | None:
    """Collect whoever has ended; return the child's exit code if it is among them."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
    return None if code is None else code if code >= 0 else 128 - code


def _end_all(child: int) -> None:
    """Kill everything below this process: first stop it all, so that nothing is born meanwhile."""
    deadline = time.monotonic() + _KILL_S
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    while time.monotonic() < deadline and (below := descendants()):
        stopped: set[int] = set()
        while new := below - stopped:
            _send(new, signal.SIGSTOP)
            stopped |= new
            below = descendants()
        _send(stopped, signal.SIGKILL)
        _reap(child)
        time.sleep(_KILL_AGAIN_S)


def _send(pids: set[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def descendants() -> set[int]:
    """All living processes below this one.

    A dead one may have living ones below it: its threads go one by one, and its children stay with
    the last.
    """
    if sys.platform != "linux":
        return set()  # by design on macOS: the process group is all that can be known
    children: dict[int, list[int]] = {}
    dead: set[int] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                children.setdefault(int(parent), []).append(int(entry.name))
                if state in "ZX":
                    dead.add(int(entry.name))
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            found.add(child)
            waiting.append(child)
    return found - dead


def _answer(charge: Charge) -> None:
    """Take one call over, do it or refuse it, and let the caller go on."""
    asked = bytearray(_NOTIFICATION.size)
    fcntl.ioctl(charge.listener, _RECEIVE, asked)
    identity, pid, _, call, _, _, *arguments = _NOTIFICATION.unpack(asked)
    error = flags = 0
    try:
        name = charge.calls[call]
        if name in _ON_A_PROCESS:
            # A number cannot change under us, as what a pointer leads to can.
            error, flags = _judge(arguments[_ON_A_PROCESS[name]] & 0xFFFFFFFF)
        elif name in ("connect", "listen"):
            _use_socket(charge, identity, pid, name, arguments)
        else:
            _set_attributes(charge, identity, pid, name, arguments)
    except OSError as refused:
        error = refused.errno or errno.EPERM
    except (KeyError, ValueError):
        error = errno.EPERM
    fcntl.ioctl(charge.listener, _SEND, _ANSWER.pack(identity, 0, -error, flags))


def _judge(process: int) -> tuple[int, int]:
    """Let a call pass if it is about a process or a thread below this one."""
    while process > 1:
        status = dict(
            line.split(":\t", 1)
            for line in Path(f"/proc/{process}/status").read_text().splitlines()
            if line.startswith(("Tgid", "PPid"))
        )
        process = int(status["PPid"])
        if process == os.getpid():
            return 0, _LET_PASS
    return errno.EPERM, 0


def _use_socket(
    charge: Charge, identity: int, pid: int, call: str, arguments: Sequence[int]
) -> None:
    """Do it with a copy of the code's socket: what its number stands for may change under us."""
    address = _memory(pid, arguments[1], arguments[2]) if call == "connect" else b""
    with _copy_of(pid, arguments[0] & 0xFFFFFFFF) as theirs:
        fcntl.ioctl(charge.listener, _STILL_THERE, struct.pack("=Q", identity))
        if call == "listen":
            if theirs.family != socket.AF_UNIX:
                raise PermissionError(errno.EACCES, "only on a UNIX socket")
            theirs.listen(arguments[1] & 0x7FFFFFFF)
            return
        proxy = struct.pack("=H", socket.AF_INET) + struct.pack(">H", charge.proxy_port)
        proxy += socket.inet_aton("127.0.0.1")
        if charge.door < 0 or theirs.family != socket.AF_INET or address[:8] != proxy:
            raise PermissionError(errno.EACCES, "nothing but the proxy")
        _connect(charge.door, theirs)


def _copy_of(pid: int, number: int) -> socket.socket:
    process = os.pidfd_open(_leader(pid))
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        copied = libc.syscall(*map(ctypes.c_long, (_PIDFD_GETFD, process, number, 0)))
        if copied < 0:
            raise OSError(ctypes.get_errno(), "no such descriptor")
    finally:
        os.close(process)
    return socket.socket(fileno=copied)


def _connect(door: int, theirs: socket.socket) -> None:
    """Connect a socket of the code's to one of ours, and hand ours to the proxy."""
    with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
        listener.settimeout(_ACCEPT_S)
        with contextlib.suppress(BlockingIOError):  # its own wish not to wait; it need not
            theirs.connect(listener.getsockname())
        while True:
            ours, who = listener.accept()
            with ours:
                if who == theirs.getsockname():
                    with socket.socket(fileno=os.dup(door)) as way:
                        socket.send_fds(way, [b"."], [ours.fileno()])
                    return


def _leader(thread: int) -> int:
    for line in Path(f"/proc/{thread}/status").read_text().splitlines():
        if line.startswith("Tgid:"):
            return int(line.split()[1])
    raise ProcessLookupError(errno.ESRCH, "gone")


def _memory(pid: int, address: int, length: int) -> bytes:
    """Read what a pointer leads to, as far as an address of a socket is long."""
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(min(length, _SOCKET_ADDRESS_MOST))


def _set_attributes(
    charge: Charge, identity: int, pid: int, call: str, arguments: Sequence[int]
) -> None:
    folder = _AT_CWD
    if call in ("fchmodat", "fchmodat2", "utimensat", "futimesat"):
        folder = struct.unpack("=i", struct.pack("=I", arguments[0] & 0xFFFFFFFF))[0]
        arguments = arguments[1:]
    path = _text(pid, arguments[0])
    flags = {"fchmodat2": 2, "utimensat": 2}.get(call)
    flag = arguments[flags] & 0xFFFFFFFF if flags else 0
    times = None if "chmod" in call else _times(pid, call, arguments[1])
    # What was read may be of a process that took the number of one that died.
    fcntl.ioctl(charge.listener, _STILL_THERE, struct.pack("=Q", identity))
    file = _open(pid, folder, path, flag)
    try:
        _check(charge, pid, file)
        named = f"/proc/self/fd/{file}"
        if "chmod" in call:
            os.chmod(named, arguments[1] & _MODE)  # noqa: PTH101 - through the handle
        else:
            now = time.time_ns()
            kept = os.stat(named)  # noqa: PTH116 - through the handle
            os.utime(named, ns=_chosen(times, now, (kept.st_atime_ns, kept.st_mtime_ns)))
    finally:
        os.close(file)


def _open(pid: int, folder: int, path: str, flag: int) -> int:
    """Return a handle of the file that the caller means, which lets nothing be read or written."""
    base = f"/proc/{pid}/cwd" if folder == _AT_CWD else f"/proc/{pid}/fd/{folder}"
    if not path and not flag & _AT_EMPTY_PATH:
        raise FileNotFoundError(errno.ENOENT, "an empty path")
    # Its own view of the file system may close to it what is open to us.
    root = f"/proc/{pid}/root"
    meant = f"{root}{path}" if path.startswith("/") else f"{base}/{path}" if path else base
    handle = os.O_PATH | os.O_CLOEXEC | (os.O_NOFOLLOW if flag & _AT_NOFOLLOW else 0)
    return os.open(meant, handle)


def _check(charge: Charge, pid: int, file: int) -> None:
    """Refuse what lies out of reach, wherever links led to, and what the code does not own."""
    # In a changed root its own view of the file system is told with what leads to that root.
    root = Path(f"/proc/{pid}/root").readlink()
    seen = Path(os.readlink(f"/proc/self/fd/{file}"))  # noqa: PTH115 - no path, but a handle
    place = Path("/", seen.relative_to(root))
    if not any(place.is_relative_to(folder) for folder in charge.folders):
        raise PermissionError(errno.EPERM, "out of reach")
    if charge.user >= 0 and os.fstat(file).st_uid != charge.user:
        raise PermissionError(errno.EPERM, "not the code's own")


def _text(pid: int, address: int) -> str:
    """Read a path from the caller's memory, page by page: the next one may not exist."""
    found = b""
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        while b"\0" not in found:
            if len(found) > _PATH_MOST:
                raise OSError(errno.ENAMETOOLONG, "a path too long")
            memory.seek(address + len(found))
            found += memory.read(4_096 - (address + len(found)) % 4_096)
    return os.fsdecode(found.partition(b"\0")[0])


def _times(pid: int, call: str, address: int) -> tuple[tuple[int, int], ...] | None:
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


def _chosen(
    times: tuple[tuple[int, int], ...] | None, now: int, kept: tuple[int, int]
) -> tuple[int, int]:
    if times is None:
        return now, now
    accessed, modified = (
        now if part == _UTIME_NOW else old if part == _UTIME_OMIT else seconds * 10**9 + part
        for (seconds, part), old in zip(times, kept, strict=True)
    )
    return accessed, modified
