"""Tries to break out. The self-test runs this inside the sandbox: a script without packages.

It runs as `python -I -S escape_probe.py TARGETS FINDINGS`: TARGETS is a `Targets` record as JSON,
FINDINGS the file to which it writes, as a JSON list, what it could do and should not have been able
to.
"""

import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SYSTEM = ("/", "/usr", "/usr/lib", "/etc", "/root", "/home", "/var", "/proc", "/sys", "/dev")
"""Where nothing may be written. Some exist inside as folders of the sandbox's own."""

_CONNECT_S = 0.2
"""A listener on the same machine answers within a millisecond; a network that is not there, at
once."""


@dataclass(frozen=True)
class Targets:
    """What the server has set out to be found."""

    workspace: str
    """To be written in: the one thing here that must succeed."""
    canaries: list[str]
    """Files outside, to be neither read nor changed."""
    secret: str
    """What is in the canaries and in the victim's environment."""
    victim: int
    """A process of the server's user, to be left alone."""
    mark: str
    """The name of a file to try to make in the system's folders."""
    tcp: int
    udp: int
    """Ports of the host's loopback."""
    stream: str
    datagram: str
    """UNIX sockets at paths."""
    abstract: str
    """A UNIX socket without a path."""
    granted: str
    """A file in a folder that may be read and no more."""
    granted_stream: str
    """A UNIX socket in it."""


def write_in_workspace(targets: Targets) -> bool:
    file = Path(targets.workspace, f".sayso-probe-{os.getpid()}")
    file.write_text("written")
    file.unlink()
    return True


def read_files(targets: Targets) -> bool:
    for canary in targets.canaries:
        with contextlib.suppress(OSError):
            if targets.secret in Path(canary).read_text():
                return True
    return False


def change_files(targets: Targets) -> bool:
    """Change, add to and take from folders outside; the server sees whether they were real."""
    for canary in map(Path, targets.canaries):
        with contextlib.suppress(OSError):
            canary.with_name("made").write_text("made")
        with contextlib.suppress(OSError), canary.open("r+") as file:
            file.write("changed")
        with contextlib.suppress(OSError):
            canary.chmod(0)
        with contextlib.suppress(OSError):
            canary.unlink()
    for folder in SYSTEM:
        with contextlib.suppress(OSError):
            Path(folder, targets.mark).touch()
    return False


def see_processes(targets: Targets) -> bool:
    return Path(f"/proc/{targets.victim}/comm").read_text() == "sleep\n"


def read_environments(targets: Targets) -> bool:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if targets.secret.encode() in (entry / "environ").read_bytes():
                    return True
    return False


def read_memory(targets: Targets) -> bool:
    with Path(f"/proc/{targets.victim}/mem").open("rb"):
        return True


def trace(targets: Targets) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    attach = 16 if sys.platform == "linux" else 10  # PTRACE_ATTACH, PT_ATTACH
    return bool(libc.ptrace(attach, targets.victim, None, 0) == 0)


def signal_a_process(targets: Targets) -> bool:
    os.kill(targets.victim, signal.SIGTERM)
    return True


def connect_by_tcp(targets: Targets) -> bool:
    with socket.create_connection(("127.0.0.1", targets.tcp), timeout=_CONNECT_S):
        return True


def send_by_udp(targets: Targets) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"out", ("127.0.0.1", targets.udp))
    return False  # it says nothing whether that arrived; the server looks for itself


def connect_to_socket(targets: Targets) -> bool:
    return _connects(targets.stream)


def connect_to_granted_socket(targets: Targets) -> bool:
    return _connects(targets.granted_stream)


def change_through_descriptor(targets: Targets) -> bool:
    """Only the mode; the server sees whether it is another."""
    handle = os.open(targets.granted, os.O_RDONLY)
    try:
        os.fchmod(handle, 0)
    finally:
        os.close(handle)
    return True


def leave_a_program(targets: Targets) -> bool:
    """A program that runs with its owner's rights, whichever user starts it."""
    file = Path(targets.workspace, f".sayso-probe-{os.getpid()}-program")
    file.touch()
    try:
        file.chmod(0o4755)
        return bool(file.stat().st_mode & 0o4000)
    finally:
        file.unlink()


def connect_to_abstract_socket(targets: Targets) -> bool:
    return _connects("\0" + targets.abstract)


def send_to_socket(targets: Targets) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendmsg([b"out"], [], 0, targets.datagram)
    return True


def make_a_namespace(_: Targets) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.unshare(0x10000000) == 0)  # CLONE_NEWUSER


def hold_capabilities(_: Targets) -> bool:
    status = Path("/proc/self/status").read_text()
    return any(
        line.startswith(("CapPrm", "CapEff", "CapAmb")) and int(line.split()[1], 16)
        for line in status.splitlines()
    )


def _connects(address: str) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_CONNECT_S)
        client.connect(address)
    return True


ATTEMPTS: dict[str, Callable[[Targets], bool]] = {
    "read a file outside": read_files,
    "change files outside": change_files,
    "see the processes of the host": see_processes,
    "read their environment": read_environments,
    "read another process's memory": read_memory,
    "trace another process": trace,
    "connect by TCP": connect_by_tcp,
    "send by UDP": send_by_udp,
    "connect to a socket of the host": connect_to_socket,
    "connect to an abstract socket of the host": connect_to_abstract_socket,
    "send to a socket of the host": send_to_socket,
    **(
        {
            "connect to a socket in a folder granted to read": connect_to_granted_socket,
            "change a file through a descriptor to read": change_through_descriptor,
            "leave a set-user-id program": leave_a_program,
        }
        if sys.platform == "linux"
        else {}
    ),
    "make a user namespace": make_a_namespace,
    "hold capabilities": hold_capabilities,
    "signal another process": signal_a_process,
}


def main(targets: Targets) -> list[str]:
    done = []
    for name, attempt in ATTEMPTS.items():
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if attempt(targets):
                done.append(name)
    with contextlib.suppress(OSError):
        write_in_workspace(targets)
        return done
    return [*done, "not even write in its own folder"]


if __name__ == "__main__":
    found = main(Targets(**json.loads(sys.argv[1])))
    Path(sys.argv[2]).write_text(json.dumps(found))
