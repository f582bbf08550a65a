"""The system calls that confined code may not make, as a program for the kernel's filter.

A filter (`man 2 seccomp`) is a classic BPF program that sees the number and the arguments of each
system call. Ours allows everything but what reaches beyond the sandbox: other processes' memory,
the kernel's own workings, mounts and namespaces, and the sockets that would lead out. It answers
with errors that libraries know how to live with; only a call in a foreign instruction set ends the
process.
"""

import errno
import platform
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Machine = Literal["x86_64", "aarch64"]

_AUDIT_ARCHITECTURE: Mapping[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""AUDIT_ARCH_* in linux/audit.h: how the kernel names the instruction set of a call."""

_NUMBERS: Mapping[str, tuple[int | None, int | None]] = {
    # call: (x86_64, aarch64), from asm/unistd_64.h and asm-generic/unistd.h
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "connect": (42, 203),
    "create_module": (174, None),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "migrate_pages": (256, 238),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}

_OTHER_PROCESSES = (
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
    "migrate_pages", "move_pages", "perf_event_open", "userfaultfd",
)  # fmt: skip
_KERNEL = (
    "bpf", "init_module", "finit_module", "delete_module", "create_module", "kexec_load",
    "kexec_file_load", "keyctl", "add_key", "request_key", "acct", "syslog", "reboot", "swapon",
    "swapoff", "settimeofday", "clock_settime", "sethostname", "setdomainname", "iopl", "ioperm",
    "lookup_dcookie", "quotactl", "quotactl_fd", "fanotify_init", "vhangup",
)  # fmt: skip
_NAMESPACES = (
    "mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "unshare", "setns",
    "name_to_handle_at", "open_by_handle_at",
)  # fmt: skip
_ABSENT = ("io_uring_setup", "io_uring_enter", "io_uring_register", "clone3")
"""Answered as if the kernel did not have them. The C library then uses `clone`, whose flags a
filter can see (those of `clone3` lie in memory); io_uring would do what the filter forbids,
unseen."""

_NEW_NAMESPACE = 0x7E020000
"""CLONE_NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET and NEWNS, together."""

_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_SOCK_STREAM, _SOCKET_TYPE = 1, 0xF
_PROTOCOLS = (0, 1, 6, 17)
"""The usual one, UNIX, TCP and UDP."""

_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
"""Both put characters into a terminal's input, as if a person had typed them."""

_X32 = 0x40000000
"""On x86_64, numbers from here are the x32 ABI: the same calls again, under numbers that we do not
check."""

# Instructions and answers of the filter (linux/filter.h, linux/seccomp.h).
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _AND, _RETURN = (
    0x20,
    0x15,
    0x35,
    0x45,
    0x54,
    0x06,
)
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16


_WHOLE = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class _Test:
    """A look at the lower half of an argument; a call is refused if any of its tests says so."""

    argument: int
    refused_if: Literal["it is one of", "it is none of", "it has any bit of"]
    values: tuple[int, ...]
    mask: int = _WHOLE


@dataclass(frozen=True, slots=True)
class _Rule:
    call: str
    error: int
    tests: tuple[_Test, ...] = ()
    """Without any, the call is refused always."""


_RULES: tuple[_Rule, ...] = (
    *(_Rule(call, errno.EPERM) for call in (*_OTHER_PROCESSES, *_KERNEL, *_NAMESPACES)),
    *(_Rule(call, errno.ENOSYS) for call in _ABSENT),
    _Rule("clone", errno.EPERM, (_Test(0, "it has any bit of", (_NEW_NAMESPACE,)),)),
    _Rule("ioctl", errno.EPERM, (_Test(1, "it is one of", (_TIOCSTI, _TIOCLINUX)),)),
)

_SHARED: tuple[_Rule, ...] = (
    # Not EPERM: libzmq aborts the process on any error but "this machine has no such sockets".
    #
    # Datagram sockets reach a path without connect(), by the address in sendmsg(), which lies in
    # memory; SOCK_RAW is another name for them. So whatever is no stream is refused.
    *(
        _Rule(
            call,
            errno.EOPNOTSUPP,
            (
                _Test(0, "it is none of", (_AF_UNIX,)),
                _Test(1, "it is none of", (_SOCK_STREAM,), _SOCKET_TYPE),
            ),
        )
        for call in ("socket", "socketpair")
    ),
    _Rule("connect", errno.EACCES),
)
"""Where the host's network and its sockets at paths are in sight: none but UNIX ones, which may be
bound and accepted from, as a kernel does, but connect to nothing."""

_OWN: tuple[_Rule, ...] = (
    _Rule(
        "socket",
        errno.EOPNOTSUPP,
        (
            _Test(0, "it is none of", (_AF_UNIX, _AF_INET, _AF_INET6)),
            _Test(2, "it is none of", _PROTOCOLS),
        ),
    ),
    _Rule("socketpair", errno.EOPNOTSUPP, (_Test(0, "it is none of", (_AF_UNIX,)),)),
)
"""In a network of the sandbox's own, TCP and UDP reach the sandbox alone; programs and their
children talk so. What no namespace holds (vsock, Bluetooth and other families) is refused."""


def assemble(network: Literal["own", "shared"], machine: str = "") -> bytes:
    """Return the filter as the kernel takes it: an array of `struct sock_filter`.

    `network` says whether the sandbox has its own, and a file system of its own, or sees the
    host's. A machine that we do not know is a ValueError.
    """
    known = _machine(machine or platform.machine())
    rules = _RULES + (_OWN if network == "own" else _SHARED)
    program = _Program()
    program.add(_LOAD, _ARCHITECTURE_AT)
    program.add(_JUMP_EQUAL, _AUDIT_ARCHITECTURE[known], otherwise="kill")
    program.add(_LOAD, _NUMBER_AT)
    if known == "x86_64":
        program.add(_JUMP_AT_LEAST, _X32, then=f"error {errno.ENOSYS}")
    for rule in rules:
        number = _NUMBERS[rule.call][0 if known == "x86_64" else 1]
        if number is not None:
            _write(program, rule, number)
    program.add(_RETURN, _ALLOW)
    program.label("kill")
    program.add(_RETURN, _KILL_PROCESS)
    for error in sorted({rule.error for rule in rules} | {errno.ENOSYS}):
        program.label(f"error {error}")
        program.add(_RETURN, _ERRNO | error)
    return program.assembled()


def supported(machine: str = "") -> bool:
    """Whether we know this machine's calls by number."""
    return (machine or platform.machine()) in _AUDIT_ARCHITECTURE


def _machine(name: str) -> Machine:
    for known in _AUDIT_ARCHITECTURE:
        if name == known:
            return known
    raise ValueError(f"no system call numbers are known for {name}")


def _write(program: "_Program", rule: _Rule, number: int) -> None:
    refuse = f"error {rule.error}"
    if not rule.tests:
        program.add(_JUMP_EQUAL, number, then=refuse)
        return
    after = program.fresh_label()
    program.add(_JUMP_EQUAL, number, otherwise=after)
    for test in rule.tests:
        program.add(_LOAD, _ARGUMENTS_AT + 8 * test.argument)  # both machines are little-endian
        if test.mask != _WHOLE:
            program.add(_AND, test.mask)
        passed = program.fresh_label()
        for value in test.values:
            if test.refused_if == "it is one of":
                program.add(_JUMP_EQUAL, value, then=refuse)
            elif test.refused_if == "it has any bit of":
                program.add(_JUMP_ANY_BIT, value, then=refuse)
            else:
                program.add(_JUMP_EQUAL, value, then=passed)
        if test.refused_if == "it is none of":
            program.add(_RETURN, _ERRNO | rule.error)
        program.label(passed)
    program.add(_LOAD, _NUMBER_AT)
    program.label(after)


class _Program:
    """Instructions that jump forward to labels; the kernel counts the instructions to skip."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, int, str, str]] = []
        self._labels: dict[str, int] = {}

    def add(self, code: int, value: int, then: str = "", otherwise: str = "") -> None:
        self._lines.append((code, value, then, otherwise))

    def label(self, name: str) -> None:
        self._labels[name] = len(self._lines)

    def fresh_label(self) -> str:
        return f"after {len(self._lines)}"

    def assembled(self) -> bytes:
        return b"".join(self._encoded())

    def _encoded(self) -> Iterator[bytes]:
        for at, (code, value, then, otherwise) in enumerate(self._lines):
            skips = [self._labels[name] - at - 1 if name else 0 for name in (then, otherwise)]
            yield struct.pack("<HBBI", code, *skips, value)  # struct refuses a skip over 255
