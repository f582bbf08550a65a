"""The filter of system calls, run instruction by instruction as the kernel would."""

import errno
import re
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from sayso.server.runtimes.sandbox.refusals import (
    ASK,
    EVERYWHERE,
    IN_ITS_OWN_WORLD,
    IN_SIGHT_OF_THE_HOST,
    Rule,
)
from sayso.server.runtimes.sandbox.seccomp import assemble
from sayso.server.runtimes.sandbox.system_calls import NUMBERS, Machine, number
from tests.machine import lacking

ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "i386": 0x40000003}
ALLOWED, KILLED, ASKED, ERROR = 0x7FFF0000, 0x80000000, 0x7FC00000, 0x00050000
MACHINES: tuple[Machine, ...] = ("x86_64", "aarch64")
WORLDS = {"own": IN_ITS_OWN_WORLD, "shared": IN_SIGHT_OF_THE_HOST}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}

UNIX, INET, INET6, NETLINK, VSOCK = 1, 2, 10, 16, 40
STREAM, DATAGRAM, RAW, CLOSE_ON_EXEC = 1, 2, 3, 0o2000000
FORK, NEW_USER, THREAD = 17, 0x10000000, 0x3D0F00


def answer(program: bytes, call: int, arguments: Sequence[int], architecture: int) -> int:
    """What the kernel would do about a call."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    seen = struct.pack("<iIQ6Q", call, architecture, 0, *padded)
    steps = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    at = held = 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        if code == 0x20:
            (held,) = struct.unpack_from("<I", seen, value)
        elif code == 0x54:
            held &= value
        elif code == 0x06:
            return int(value)
        else:
            holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += then if holds else otherwise


def asked(world: str, machine: Machine, call: str, *arguments: int) -> int:
    called = number(call, machine)
    assert called is not None
    return answer(assemble(WORLDS[world], machine), called, arguments, ARCHITECTURE[machine])


def unconditional(rules: Sequence[Rule], machine: Machine) -> list[Rule]:
    return [rule for rule in rules if not rule.tests and number(rule.call, machine) is not None]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("world", WORLDS)
def test_what_is_forbidden_is_refused_with_its_error(world: str, machine: Machine) -> None:
    rules = unconditional((*EVERYWHERE, *WORLDS[world]), machine)
    assert len(rules) > 50
    for rule in rules:
        expected = ASKED if rule.error == ASK else ERROR | rule.error
        assert asked(world, machine, rule.call) == expected, rule.call


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("world", WORLDS)
def test_everything_else_is_allowed(world: str, machine: Machine) -> None:
    program = assemble(WORLDS[world], machine)
    forbidden = {number(rule.call, machine) for rule in (*EVERYWHERE, *WORLDS[world])}
    for call in set(range(470)) - forbidden:
        assert answer(program, call, [], ARCHITECTURE[machine]) == ALLOWED, call


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_instruction_set_end_the_process(machine: Machine) -> None:
    for other, architecture in ARCHITECTURE.items():
        expected = ALLOWED if other == machine else KILLED
        program = assemble(IN_ITS_OWN_WORLD, machine)
        assert answer(program, 0, [], architecture) == expected


def test_the_second_set_of_numbers_on_x86_64_is_not_there() -> None:
    program = assemble(IN_ITS_OWN_WORLD, "x86_64")
    for call in (0x40000000, 0x40000000 + 101, 0x7FFFFFFF):
        found = answer(program, call, [], ARCHITECTURE["x86_64"])
        assert found == ERROR | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_processes_and_threads_are_made_but_no_namespaces(machine: Machine) -> None:
    assert asked("own", machine, "clone", FORK) == ALLOWED
    assert asked("own", machine, "clone", THREAD) == ALLOWED
    assert asked("own", machine, "clone", FORK | NEW_USER) == ERROR | errno.EPERM
    assert asked("own", machine, "clone3") == ERROR | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("world", "family", "kind", "protocol", "allowed"),
    [
        ("own", UNIX, STREAM, 0, True),
        ("own", UNIX, DATAGRAM, 0, True),
        ("own", INET, STREAM | CLOSE_ON_EXEC, 6, True),
        ("own", INET6, DATAGRAM, 17, True),
        ("own", INET, STREAM, 132, False),  # SCTP
        ("own", NETLINK, RAW, 0, False),
        ("own", VSOCK, STREAM, 0, False),
        ("shared", UNIX, STREAM | CLOSE_ON_EXEC, 0, True),
        ("shared", UNIX, DATAGRAM, 0, False),
        ("shared", UNIX, RAW, 0, False),
        ("shared", INET, STREAM, 6, True),  # the guard alone connects it
        ("shared", INET, STREAM, 262, False),  # Multipath TCP
        ("shared", INET, DATAGRAM, 0, False),
        ("shared", INET6, DATAGRAM, 0, False),
        ("shared", NETLINK, RAW, 0, False),
    ],
)
def test_sockets_are_made_where_they_lead_nowhere(
    machine: Machine, world: str, family: int, kind: int, protocol: int, *, allowed: bool
) -> None:
    expected = ALLOWED if allowed else ERROR | errno.EOPNOTSUPP
    assert asked(world, machine, "socket", family, kind, protocol) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_connects_or_listens_unasked_in_sight_of_the_host(machine: Machine) -> None:
    for call in ("connect", "listen"):
        assert asked("own", machine, call) == ALLOWED
        assert asked("shared", machine, call) == ASKED


@pytest.mark.parametrize("machine", MACHINES)
def test_sending_makes_no_connection_in_sight_of_the_host(machine: Machine) -> None:
    fast_open, plain = 0x20000000, 0x4000
    for call, before in (("sendto", (3, 0, 0)), ("sendmsg", (3, 0)), ("sendmmsg", (3, 0, 0))):
        assert asked("shared", machine, call, *before, plain) == ALLOWED
        assert asked("shared", machine, call, *before, plain | fast_open) == (
            ERROR | errno.EOPNOTSUPP
        )
    assert asked("shared", machine, "ioctl", 3, 0x8912) == ERROR | errno.EPERM
    assert asked("shared", machine, "ioctl", 3, 0x541B) == ALLOWED


@pytest.mark.parametrize("machine", MACHINES)
def test_times_are_asked_about_by_path_and_not_by_handle(machine: Machine) -> None:
    assert asked("shared", machine, "utimensat", 3, 0) == ALLOWED
    assert asked("shared", machine, "utimensat", 3, 0x1000) == ASKED
    # A path may lie where the low half of its address is zero.
    assert asked("shared", machine, "utimensat", 3, 0x1_0000_0000) == ASKED


@pytest.mark.parametrize("machine", MACHINES)
def test_limits_and_priorities_of_others_are_asked_about(machine: Machine) -> None:
    for call in ("prlimit64", "sched_setaffinity", "sched_setscheduler"):
        assert asked("shared", machine, call, 0) == ALLOWED
        assert asked("shared", machine, call, 4711) == ASKED
    assert asked("shared", machine, "setpriority", 0, 0) == ALLOWED
    assert asked("shared", machine, "setpriority", 0, 4711) == ASKED
    assert asked("shared", machine, "setpriority", 2, 0) == ERROR | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_nobody_types_into_a_terminal(machine: Machine) -> None:
    assert asked("own", machine, "ioctl", 0, 0x5401) == ALLOWED
    assert asked("own", machine, "ioctl", 0, 0x5412) == ERROR | errno.EPERM
    assert asked("own", machine, "ioctl", 0, 0xFFFF_FFFF_0000_5412) == ERROR | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_the_systems_headers(machine: Machine) -> None:
    header = HEADERS[machine]
    if not header.exists():
        lacking(f"{header} is missing: sudo apt install linux-libc-dev")
    found = dict(
        re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text(), re.MULTILINE)
    )
    for call in NUMBERS:
        if call in found:  # an older header does not know the newest
            assert number(call, machine) == int(found[call]), call


def test_an_unknown_machine_has_no_filter() -> None:
    with pytest.raises(ValueError, match="riscv64"):
        assemble(IN_ITS_OWN_WORLD, "riscv64")
