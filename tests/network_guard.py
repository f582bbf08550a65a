"""Keeps tests on this machine: code that tries to leave it fails the test that it ran in.

Three fences, from the inside out:

- Python code of the test's own process: an audit hook sees each name look-up, connection and
  listener, and raises `OutsideReached` unless it stays on loopback or in a UNIX socket.
- Child processes that go out by HTTP: the proxy variables lead them to a door on loopback that lets
  nobody through and notes whom they wanted.
- Everything else (C code, raw sockets, any language): `scripts/test` runs the tests in a network
  that has no outside, where the system allows that (tests/without_network.py), and there the kernel
  counts who wanted out.
"""

import ipaddress
import os
import socket
import socketserver
import sys
import threading
from pathlib import Path

_CONNECTS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
_LOOKUPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}

_DOOR_WAIT_S = 5.0
"""How long the door listens for whom a child process wants: it says so at once."""

NETLESS = "SAYSO_TEST_NETLESS"
"""Set where tests/without_network.py has succeeded."""

_LONGEST_LINE = 4096
"""Bytes of a request's first line that the door reads."""


class OutsideReached(BaseException):
    """Something went outside. Not an `Exception`, so that no retry in tested code hides it."""


class NetworkGuard:
    """The fences, from `close` on, for the whole test run."""

    def __init__(self) -> None:
        self._attempts: list[str] = []
        self._closed = False
        self._door = _Door(("127.0.0.1", 0), self._attempts)

    def close(self) -> None:
        """Let nobody out from now on."""
        threading.Thread(target=self._door.serve_forever, name="door", daemon=True).start()
        sys.addaudithook(self._audit)
        self._closed = True

    def open(self) -> None:
        """Stop guarding: the test run is over."""
        if self._closed:
            self._closed = False
            self._door.shutdown()
        self._door.server_close()

    @property
    def variables(self) -> dict[str, str]:
        """What leads child processes to the door."""
        door = f"http://127.0.0.1:{self._door.server_address[1]}"
        inside = "localhost,127.0.0.1,::1"
        small = {"http_proxy": door, "https_proxy": door, "all_proxy": door, "no_proxy": inside}
        return small | {name.upper(): value for name, value in small.items()}

    def take_attempts(self) -> list[str]:
        """Who wanted out since the last time."""
        taken = self._attempts[:]
        del self._attempts[: len(taken)]
        return taken

    def count_misses(self) -> int:
        """How often, so far, any process found no way to the outside of our own small network."""
        if not os.environ.get(NETLESS):
            return 0
        return sum(_counters("/proc/net/snmp")) + sum(_counters("/proc/net/snmp6"))

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._closed or not event.startswith("socket."):
            return
        if event in _CONNECTS and _is_internet(arguments[0]):
            self._judge(event, arguments[1], inside=_stays_here(arguments[1]))
        elif event == "socket.bind" and _is_internet(arguments[0]):
            self._judge(event, arguments[1], inside=_is_loopback(arguments[1]))
        elif event in _LOOKUPS:
            self._judge(event, arguments[0], inside=_needs_no_asking(arguments[0]))

    def _judge(self, event: str, whom: object, *, inside: bool) -> None:
        if inside:
            return
        attempt = f"{event} {whom!r} (process {os.getpid()})"
        self._attempts.append(attempt)
        raise OutsideReached(f"Tests reach only this machine, but this was tried: {attempt}")


def _counters(table: str) -> list[int]:
    """How many packets found no route, as one of two tables of the kernel has it."""
    lines = [line.split() for line in Path(table).read_text().splitlines()]
    if table.endswith("6"):
        return [int(value) for name, value in lines if name == "Ip6OutNoRoutes"]
    names, values = (line for line in lines if line[0] == "Ip:")
    return [int(values[names.index("OutNoRoutes")])]


def _is_internet(what: object) -> bool:
    return isinstance(what, socket.socket) and what.family in {socket.AF_INET, socket.AF_INET6}


def _host(address: object) -> str:
    host = address[0] if isinstance(address, tuple) else address
    return host.decode() if isinstance(host, bytes) else str(host)


def _is_loopback(address: object) -> bool:
    host = _host(address).partition("%")[0]
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _stays_here(address: object) -> bool:
    # A socket that is connected already sends without an address.
    return address is None or _is_loopback(address) or _host(address) in {"0.0.0.0", "::"}


def _needs_no_asking(host: object) -> bool:
    """Whether a look-up is answered on this machine: no name, a number, or this machine's own."""
    if host is None or _host(host) in {"", "localhost", socket.gethostname()}:
        return True
    try:
        ipaddress.ip_address(_host(host).partition("%")[0])
    except ValueError:
        return False
    return True


class _Door(socketserver.ThreadingTCPServer):
    """Where child processes are led that want out."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], attempts: list[str]) -> None:
        self.attempts = attempts
        super().__init__(address, _Doorkeeper)


class _Doorkeeper(socketserver.StreamRequestHandler):
    """Notes whom somebody wanted, and refuses."""

    timeout = _DOOR_WAIT_S
    server: _Door

    def handle(self) -> None:
        wanted = self.rfile.readline(_LONGEST_LINE).decode("latin-1").strip()
        self.server.attempts.append(f"through the proxy variables: {wanted or 'no request'}")
        self.wfile.write(b"HTTP/1.1 403 Tests reach only this machine\r\nConnection: close\r\n\r\n")
