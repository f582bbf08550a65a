"""The filter of system calls, run instruction by instruction as the kernel would."""

import errno
import re
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from sayso.server.runtimes.sandbox.call_filter.refused_calls import (
    ASK,
    EVERYWHERE,
    IN_ITS_OWN_WORLD,
    IN_SIGHT_OF_THE_HOST,
    WITH_A_SANDBOX_INSIDE,
    Rule,
)
from sayso.server.runtimes.sandbox.call_filter.seccomp import assemble
from sayso.server.runtimes.sandbox.call_filter.system_calls import NEWEST, NUMBERS, Machine, number
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
STREAM, DATAGRAM, RAW, PACKETS, CLOSE_ON_EXEC = 1, 2, 3, 5, 0o2000000
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
    return [
        rule
        for rule in rules
        if not (rule.tests or rule.given) and number(rule.call, machine) is not None
    ]


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
    for call in set(range(NEWEST + 1)) - forbidden:
        assert answer(program, call, [], ARCHITECTURE[machine]) == ALLOWED, call


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("world", WORLDS)
def test_calls_that_nobody_has_judged_yet_are_not_there(world: str, machine: Machine) -> None:
    assert max(of for numbers in NUMBERS.values() for of in numbers if of) <= NEWEST
    program = assemble(WORLDS[world], machine)
    for call in (NEWEST + 1, 500, 1_000, 0x3FFFFFFF, 0xFFFFFFFF - 2**32):
        found = answer(program, call, [], ARCHITECTURE[machine])
        assert found == ERROR | errno.ENOSYS, call


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
        ("own", UNIX, PACKETS | CLOSE_ON_EXEC, 0, True),
        ("own", UNIX, DATAGRAM, 0, False),
        ("own", UNIX, RAW | CLOSE_ON_EXEC, 0, False),
        ("own", UNIX, 0, 0, False),
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
    if family == UNIX:
        assert asked(world, machine, "socketpair", family, kind, protocol) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_connects_or_listens_unasked(machine: Machine) -> None:
    assert asked("own", machine, "connect") == ASKED
    assert asked("own", machine, "listen") == ALLOWED
    for call in ("connect", "listen"):
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
def test_modes_and_times_are_asked_about_by_path_and_by_descriptor(machine: Machine) -> None:
    for arguments in ((3, 0), (3, 0x1000), (3, 0x1_0000_0000)):
        assert asked("shared", machine, "utimensat", *arguments) == ASKED
    assert asked("shared", machine, "fchmod", 3, 0o644) == ASKED
    assert asked("own", machine, "fchmod", 3, 0o644) == ALLOWED
    for call in ("fchown", "fsetxattr", "fremovexattr", "getxattr", "listxattr"):
        assert asked("shared", machine, call, 3) & ERROR, call


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("world", WORLDS)
def test_no_call_makes_a_program_that_gives_away_its_owners_rights(
    world: str, machine: Machine
) -> None:
    refused = ERROR | errno.EPERM
    creating, temporary, reading = 0o102, 0o20200002, 0o2000000
    calls: list[tuple[str, tuple[int, ...]]] = [
        ("fchmod", (3,)), ("fchmodat", (3, 0x1000)), ("fchmodat2", (3, 0x1000)),
        ("mkdirat", (3, 0x1000)), ("mknodat", (3, 0x1000)), ("openat", (3, 0x1000, creating)),
        ("openat", (3, 0x1000, temporary)),
    ]  # fmt: skip
    if machine == "x86_64":
        calls += [
            ("chmod", (0x1000,)), ("creat", (0x1000,)), ("mkdir", (0x1000,)), ("mknod", (0x1000,)),
            ("open", (0x1000, creating)),
        ]  # fmt: skip
    for call, before in calls:
        for mode in (0o4755, 0o2755, 0o6000, 0xFFFF_FFFF_0000_0000 | 0o4000):
            assert asked(world, machine, call, *before, mode) == refused, call
        assert asked(world, machine, call, *before, 0o1777) in (ALLOWED, ASKED), call
    # Without a file to make there is no mode; what stands there is anything.
    assert asked(world, machine, "openat", 3, 0x1000, reading, 0o7777) == ALLOWED
    assert asked(world, machine, "openat2", 3, 0x1000, 0x2000, 24) == ERROR | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("world", WORLDS)
def test_of_requests_to_files_only_harmless_ones_are_made(world: str, machine: Machine) -> None:
    for request in (0x5401, 0x541B, 0x5421, 0x5451, 0x80086601, 0x40049409, 0x80045430):
        assert asked(world, machine, "ioctl", 3, request) == ALLOWED, hex(request)
    for request in (0x40086602, 0x401C5820, 0x40087602, 0x40806685, 0x50009417, 0x4008940E):
        assert asked(world, machine, "ioctl", 3, request) == ERROR | errno.ENOTTY, hex(request)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("world", WORLDS)
def test_nobody_is_made_to_wait_for_a_file(world: str, machine: Machine) -> None:
    for command in (1024, 1026):
        assert asked(world, machine, "fcntl", 3, command) == ERROR | errno.EPERM
    assert asked(world, machine, "fcntl", 3, 6) == ALLOWED


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("world", WORLDS)
def test_a_crash_stays_bounded_to_no_dump(world: str, machine: Machine) -> None:
    core, files = 4, 7
    refused = ERROR | errno.EPERM
    assert asked(world, machine, "setrlimit", core, 0x1000) == refused
    assert asked(world, machine, "prlimit64", 0, core, 0x1000) == refused
    assert asked(world, machine, "prlimit64", 0, core, 0x1_0000_0000) == refused
    assert asked(world, machine, "prlimit64", 0, core, 0) == ALLOWED  # it is only read
    assert asked(world, machine, "prlimit64", 0, files, 0x1000) == ALLOWED


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
    for request in (0x5412, 0x541C, 0x5423):
        assert asked("own", machine, "ioctl", 0, request) == ERROR | errno.EPERM
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


@pytest.mark.parametrize("machine", MACHINES)
def test_what_confines_its_own_pages_makes_three_namespaces_and_nothing_else_more(
    machine: Machine,
) -> None:
    usual = assemble(IN_ITS_OWN_WORLD, machine)
    wider = assemble(IN_ITS_OWN_WORLD, machine, everywhere=WITH_A_SANDBOX_INSIDE)
    architecture = ARCHITECTURE[machine]
    for call in ("clone", "unshare"):
        at = number(call, machine)
        assert at is not None
        for flag in (0x10000000, 0x20000000, 0x40000000):  # users, processes, networks
            assert answer(usual, at, [flag], architecture) == ERROR | errno.EPERM
            assert answer(wider, at, [flag], architecture) == ALLOWED
        for flag in (0x02000000, 0x04000000, 0x08000000, 0x20000, 0x10020000):
            assert answer(wider, at, [flag], architecture) == ERROR | errno.EPERM
    let_pass = {
        rule.call
        for rule in EVERYWHERE
        if not rule.tests
        and (at := number(rule.call, machine)) is not None
        and answer(wider, at, [], architecture) == ALLOWED
    }
    assert let_pass == {"chroot", "unshare"}
