"""The filter of system calls, assembled for this machine.

A filter (`man 2 seccomp`) is a classic BPF program that sees the number and the arguments of each
system call, and answers. Ours lets everything pass but what refused_calls.py names. Calls newer
than that are not there; a call in a foreign instruction set ends the process.
"""

import errno
import itertools
import struct
from collections.abc import Iterator, Mapping, Sequence

from sayso.server.runtimes.sandbox.call_filter.refused_calls import (
    ASK,
    EVERYWHERE,
    WHOLE,
    Rule,
    Test,
)
from sayso.server.runtimes.sandbox.call_filter.system_calls import NEWEST, Machine, known, number

_AUDIT_ARCHITECTURE: Mapping[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""AUDIT_ARCH_* in linux/audit.h: how the kernel names the instruction set of a call."""

# Instructions, as linux/filter.h numbers them.
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT = 0x15, 0x35, 0x45

# Answers, as linux/seccomp.h numbers them.
_ALLOW, _KILL_PROCESS, _ERRNO, _USER_NOTIFICATION = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000

# Where the filter finds what it looks at: `struct seccomp_data`, little-endian on both machines.
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16


def supported() -> bool:
    """Whether this machine's calls are known."""
    return known() is not None


def assemble(
    rules: Sequence[Rule], machine: str = "", everywhere: Sequence[Rule] = EVERYWHERE
) -> bytes:
    """Return a filter that refuses what is refused everywhere, and these rules on top.

    It comes as the kernel takes it: an array of `struct sock_filter`. A machine that we do not know
    is a ValueError.
    """
    name = known(machine)
    if name is None:
        raise ValueError(f"no system call numbers are known for {machine or 'this machine'}")
    program = _Program()
    program.add(_LOAD, _ARCHITECTURE_AT)
    program.add(_JUMP_EQUAL, _AUDIT_ARCHITECTURE[name], then="ours")
    program.add(_RETURN, _KILL_PROCESS)
    program.label("ours")
    program.add(_LOAD, _NUMBER_AT)
    # On x86_64 the x32 ABI is among them: the same calls under numbers that no rule names.
    program.add(_JUMP_AT_LEAST, NEWEST + 1, otherwise="judged")
    program.add(_RETURN, _answer(errno.ENOSYS))
    program.label("judged")
    for rule in (*everywhere, *rules):
        called = number(rule.call, name)
        if called is not None:
            _write(program, rule, called)
    program.add(_RETURN, _ALLOW)
    return program.assembled()


def asked(rules: Sequence[Rule]) -> dict[int, str]:
    """Return the calls that these rules hand over to a guard, by their numbers on this machine."""
    name = known()
    if name is None:
        return {}
    numbers = ((number(rule.call, name), rule) for rule in rules if rule.error == ASK)
    return {called: rule.call for called, rule in numbers if called is not None}


def installer() -> int:
    """The number of the call that installs a filter on this machine."""
    name = known()
    return (number("seccomp", name) if name else None) or 0


def _answer(error: int) -> int:
    return _USER_NOTIFICATION if error == ASK else _ERRNO | error


def _write(program: "_Program", rule: Rule, called: int) -> None:
    after, again = program.fresh_label(), program.fresh_label()
    program.add(_JUMP_EQUAL, called, otherwise=after)
    for test in rule.given:
        _write_test(program, test, otherwise=again)
    for test in rule.tests:
        untrue = program.fresh_label()
        _write_test(program, test, otherwise=untrue)
        program.add(_RETURN, _answer(rule.error))
        program.label(untrue)
    if not rule.tests:
        program.add(_RETURN, _answer(rule.error))
    if rule.tests or rule.given:
        program.label(again)
        program.add(_LOAD, _NUMBER_AT)
    program.label(after)


def _write_test(program: "_Program", test: Test, otherwise: str) -> None:
    """Go on where a test is true, and elsewhere where it is not."""
    half_at = 4 if test.half == "high" else 0
    program.add(_LOAD, _ARGUMENTS_AT + 8 * test.argument + half_at)
    if test.mask != WHOLE:
        program.add(_AND, test.mask)
    true = program.fresh_label()
    *others, last = test.values
    if test.true_if == "it is none of":
        for value in test.values:
            program.add(_JUMP_EQUAL, value, then=otherwise)
    else:
        jump = _JUMP_EQUAL if test.true_if == "it is one of" else _JUMP_ANY_BIT
        for value in others:
            program.add(jump, value, then=true)
        program.add(jump, last, otherwise=otherwise)
    program.label(true)


class _Program:
    """Instructions that jump forward to labels; the kernel counts the instructions to skip."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, int, str, str]] = []
        self._labels: dict[str, int] = {}
        self._fresh = itertools.count()

    def add(self, code: int, value: int, then: str = "", otherwise: str = "") -> None:
        self._lines.append((code, value, then, otherwise))

    def label(self, name: str) -> None:
        self._labels[name] = len(self._lines)

    def fresh_label(self) -> str:
        return f"label {next(self._fresh)}"

    def assembled(self) -> bytes:
        return b"".join(self._encoded())

    def _encoded(self) -> Iterator[bytes]:
        for at, (code, value, then, otherwise) in enumerate(self._lines):
            skips = [self._labels[name] - at - 1 if name else 0 for name in (then, otherwise)]
            yield struct.pack("<HBBI", code, *skips, value)  # struct refuses a skip over 255
