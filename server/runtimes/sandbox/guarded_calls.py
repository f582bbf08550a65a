"""Answers for the system calls that the filter hands over: a script without packages, which the
launcher loads into the guard, outside the sandbox.

What a pointer or a descriptor's number leads to may change while it is looked at. So no call is let
pass for what they lead to: the guard does it in the code's place, with the copy that it looked at.

It sets modes and times of files that lie in reach, whether code names them by path or by a
descriptor. It connects UNIX sockets to what lies in the sandbox's own memory, which nobody else can
have put there; other sockets in a network of the sandbox's own, or else to the network proxy alone.
It lets a UNIX socket with a path listen. By their numbers alone, it lets pass what changes the
limits and priorities of the code's own processes.
"""

import _thread
import contextlib
import ctypes
import errno
import fcntl
import os
import runpy
import socket
import stat
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_ACCEPT_S = 1.0
"""On loopback a connection is there at once; beyond that, something is wrong."""

_WAITING_MOST = 64
"""Connections that are being made at a time: each has a thread here. A program's own pools make a
few; who has more is told to try again."""

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

_AT_CWD, _AT_EMPTY_PATH = -100, 0x1000
_UTIME_NOW, _UTIME_OMIT = (1 << 30) - 1, (1 << 30) - 2
_MODE = 0o1777
"""What code may set: no set-user-id, no set-group-id."""

_LIBC = ctypes.CDLL(None, use_errno=True)

_CALLER = runpy.run_path(str(Path(__file__).with_name("call_arguments.py")))
_address_of_socket: Callable[[int, int, int], bytes] = _CALLER["address_of_socket"]
_copy_of: Callable[[int, int], socket.socket] = _CALLER["copy_of_socket"]
_text: Callable[[int, int], str] = _CALLER["text"]
_times: Callable[[int, str, int], tuple[tuple[int, int], ...] | None] = _CALLER["times"]
_seen: Callable[[int, str], str] = _CALLER["seen"]
_handle: Callable[[int, int, str, int], int] = _CALLER["handle"]


@dataclass(frozen=True)
class Rules:
    """What the guard may do on behalf of the code."""

    listener: int
    """Where the filter hands calls over."""
    calls: dict[int, str]
    """The calls that come, by number."""
    folders: tuple[str, ...]
    """Where files may be changed."""
    memory: tuple[int, ...]
    """The devices of file systems that are the sandbox's own."""
    user: int
    """Whose files, if the code is another user than we are; else -1."""
    own_network: bool
    """Whether its sockets lead nowhere but to itself."""
    door: int = -1
    """Where sockets are handed to the network proxy; -1 if there is none."""
    proxy_port: int = 0
    """Where code looks for it, on loopback."""


@dataclass(frozen=True)
class _Call:
    identity: int
    """By which the kernel knows it."""
    pid: int
    name: str
    arguments: Sequence[int]


class Needs(Protocol):
    """The fields of the launcher's `Steps` that are used here."""

    asked: dict[str, str]
    writable: list[str]
    user: int
    own_network: bool
    door: int
    proxy_port: int


def answers(needs: Needs, listener: int, memory: list[int]) -> Callable[[], None]:
    """Return a function that takes one system call over and answers it."""
    rules = Rules(
        listener=listener,
        calls={int(number): name for number, name in needs.asked.items()},
        folders=tuple(needs.writable),
        memory=tuple(memory),
        user=needs.user,
        own_network=needs.own_network,
        door=-1 if needs.own_network else needs.door,
        proxy_port=needs.proxy_port,
    )
    return _Guard(rules).answer


class _Guard:
    """Answers call after call."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._own = {*rules.memory, _device_of_nameless_files()}
        self._waiting: set[int] = set()

    def answer(self) -> None:
        """Take one call over, do it or refuse it, and let the caller go on."""
        asked = bytearray(_NOTIFICATION.size)
        fcntl.ioctl(self._rules.listener, _RECEIVE, asked)
        identity, pid, _, number, _, _, *arguments = _NOTIFICATION.unpack(asked)
        try:
            call = _Call(identity, pid, self._rules.calls[number], arguments)
            self._act(call)
        except OSError as refused:
            self._send(identity, refused.errno or errno.EPERM)
        except Exception:  # noqa: BLE001 - whatever code asks for, the guard lives on
            self._send(identity, errno.EPERM)

    def _act(self, call: _Call) -> None:
        if call.name in _ON_A_PROCESS:
            # A number cannot change under us, as what a pointer leads to can.
            _check_process(call.arguments[_ON_A_PROCESS[call.name]] & 0xFFFFFFFF)
            self._send(call.identity, flags=_LET_PASS)
        elif call.name == "connect":
            self._connect(call)
        elif call.name == "listen":
            self._listen(call)
            self._send(call.identity)
        else:
            self._set_attributes(call)
            self._send(call.identity)

    def _send(self, identity: int, error: int = 0, flags: int = 0) -> None:
        with contextlib.suppress(OSError):  # who asked may be gone
            fcntl.ioctl(self._rules.listener, _SEND, _ANSWER.pack(identity, 0, -error, flags))

    def _check_still_there(self, call: _Call) -> None:
        """What was read may be of a process that took the number of one that died."""
        fcntl.ioctl(self._rules.listener, _STILL_THERE, struct.pack("=Q", call.identity))

    def _listen(self, call: _Call) -> None:
        with _copy_of(call.pid, call.arguments[0] & 0xFFFFFFFF) as theirs:
            self._check_still_there(call)
            # A name without a path is anybody's to take, that of a program of the host's, too.
            if theirs.family != socket.AF_UNIX or not isinstance(theirs.getsockname(), str):
                raise PermissionError(errno.EACCES, "only on a UNIX socket with a path")
            theirs.listen(call.arguments[1] & 0x7FFFFFFF)

    def _connect(self, call: _Call) -> None:
        with contextlib.ExitStack() as held:
            address = _address_of_socket(call.pid, call.arguments[1], call.arguments[2])
            theirs = held.enter_context(_copy_of(call.pid, call.arguments[0] & 0xFFFFFFFF))
            self._check_still_there(call)
            own = self._rules.own_network
            if theirs.family == socket.AF_UNIX and (path := _path_in(address)):
                handle = _handle(call.pid, _AT_CWD, path, 0)
                held.callback(os.close, handle)
                self._check_socket(handle)
                named = f"/proc/self/fd/{handle}".encode()
                address = struct.pack("=H", socket.AF_UNIX) + named + b"\0"
            elif own and theirs.family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6):
                pass
            elif not own and theirs.family == socket.AF_INET and address[:8] == self._proxy():
                _hand_over(self._rules.door, theirs)
                self._send(call.identity)
                return
            else:
                raise PermissionError(errno.EACCES, "nothing but the proxy")
            self._do_aside(call, lambda: _connect(theirs.fileno(), address), held.pop_all())

    def _do_aside(self, call: _Call, action: Callable[[], int], held: contextlib.ExitStack) -> None:
        """Do what may take long in a thread: nobody else waits for it."""

        def act() -> None:
            with held:
                error = action()
            self._waiting.discard(call.identity)
            self._send(call.identity, error)

        if len(self._waiting) >= _WAITING_MOST:
            held.close()
            raise BlockingIOError(errno.EAGAIN, "too many connections at a time")
        self._waiting.add(call.identity)
        _thread.start_new_thread(act, ())

    def _proxy(self) -> bytes:
        if self._rules.door < 0:
            raise PermissionError(errno.EACCES, "there is no proxy")
        port = struct.pack(">H", self._rules.proxy_port)
        return struct.pack("=H", socket.AF_INET) + port + socket.inet_aton("127.0.0.1")

    def _check_socket(self, handle: int) -> None:
        """Refuse a socket that somebody else may listen on."""
        found = os.fstat(handle)
        if not stat.S_ISSOCK(found.st_mode):
            raise ConnectionRefusedError(errno.ECONNREFUSED, "no socket")
        if found.st_dev not in self._rules.memory:
            raise PermissionError(errno.EACCES, "not the sandbox's own")

    def _set_attributes(self, call: _Call) -> None:
        file = self._named(call)
        try:
            self._check_file(call.pid, file)
            named = f"/proc/self/fd/{file}"
            if "chmod" in call.name:
                mode = call.arguments[1 if call.name in ("chmod", "fchmod") else 2]
                os.chmod(named, mode & _MODE)  # noqa: PTH101 - through the handle
            else:
                times = _times(
                    call.pid,
                    call.name,
                    call.arguments[1 if call.name in ("utime", "utimes") else 2],
                )
                self._check_still_there(call)
                now = time.time_ns()
                kept = os.stat(named)  # noqa: PTH116 - through the handle
                os.utime(named, ns=_chosen(times, now, (kept.st_atime_ns, kept.st_mtime_ns)))
        finally:
            os.close(file)

    def _named(self, call: _Call) -> int:
        """Return a handle of the file that a call is about."""
        arguments, folder, flag = call.arguments, _AT_CWD, 0
        by_number = call.name == "fchmod" or (call.name == "utimensat" and not arguments[1])
        if by_number:
            path, folder, flag = "", _signed(arguments[0]), _AT_EMPTY_PATH
        elif call.name in ("fchmodat", "fchmodat2", "utimensat", "futimesat"):
            path, folder = _text(call.pid, arguments[1]), _signed(arguments[0])
            flag = arguments[3] & 0xFFFFFFFF if call.name in ("fchmodat2", "utimensat") else 0
        else:
            path = _text(call.pid, arguments[0])
        self._check_still_there(call)
        if by_number and folder == _AT_CWD:
            raise OSError(errno.EFAULT, "no path")
        return _handle(call.pid, folder, path, flag)

    def _check_file(self, pid: int, file: int) -> None:
        """Refuse what lies out of reach, wherever links led to, and what the code does not own."""
        found = os.fstat(file)
        place = Path(_seen(pid, f"/proc/self/fd/{file}"))
        if found.st_dev not in self._own and not any(
            place.is_relative_to(folder) for folder in self._rules.folders
        ):
            raise PermissionError(errno.EPERM, "out of reach")
        if self._rules.user >= 0 and found.st_uid != self._rules.user:
            raise PermissionError(errno.EPERM, "not the code's own")


def _device_of_nameless_files() -> int:
    """Where files of memory lie that have no path (memfd_create): nobody else reaches one."""
    file = os.memfd_create("")
    try:
        return os.fstat(file).st_dev
    finally:
        os.close(file)


def _check_process(process: int) -> None:
    """Refuse what is no process or thread below this one."""
    while process > 1:
        status = dict(
            line.split(":\t", 1)
            for line in Path(f"/proc/{process}/status").read_text().splitlines()
            if line.startswith(("Tgid", "PPid"))
        )
        process = int(status["PPid"])
        if process == os.getpid():
            return
    raise PermissionError(errno.EPERM, "not the code's own")


def _connect(number: int, address: bytes) -> int:
    """Connect, and return the error's number."""
    done = _LIBC.connect(number, address, len(address))
    return ctypes.get_errno() if done < 0 else 0


def _hand_over(door: int, theirs: socket.socket) -> None:
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


def _path_in(address: bytes) -> str:
    """The path in the address of a UNIX socket; nothing if it is a name without a path."""
    return os.fsdecode(address[2:].partition(b"\0")[0])


def _signed(number: int) -> int:
    """An argument as the int that it is."""
    return int(struct.unpack("=i", struct.pack("=I", number & 0xFFFFFFFF))[0])


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
