"""Another user of this machine listens where the server should be, and is shown nothing."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from sayso.client.errors import ClientError
from sayso.client.files.download import pieces
from sayso.client.identity.device_admin import administering
from sayso.client.identity.known_server import Credentials
from sayso.client.session.link import Link
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.protocol.home import Home, make_token
from sayso.protocol.messages import Hello
from sayso.protocol.own_server import check
from sayso.protocol.version import SPOKEN
from sayso.server.commands.mcp_bridge import McpBridge

SOMEBODY = 65_533

LISTENS = """
import os, socket, sys
address, takes, user = sys.argv[1], sys.argv[2] == "takes", int(sys.argv[3])
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(user, user, user)
listener = socket.create_server(
    (address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET,
    dualstack_ipv6=address == "::", backlog=8,
)
print(listener.getsockname()[1], flush=True)
heard = b""
def take():
    global heard
    line, _ = listener.accept()
    line.settimeout(1)
    try:
        while piece := line.recv(65536):
            heard += piece
    except OSError:
        pass
if takes:
    take()
else:
    sys.stdin.readline()
    listener.settimeout(0.2)
    try:
        while True:
            take()
    except OSError:
        pass
print(heard.hex(), flush=True)
"""


@dataclass
class Stranger:
    """Listens, and keeps what is said to it."""

    process: "subprocess.Popen[str]"
    port: int

    def heard(self) -> bytes:
        said, _ = self.process.communicate("\n", timeout=20)
        return bytes.fromhex(said.strip())


@contextmanager
def listening(address: str, takes: str) -> Iterator[Stranger]:
    with subprocess.Popen(
        [sys.executable, "-I", "-c", LISTENS, address, takes, str(SOMEBODY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
    ) as process:
        try:
            assert process.stdout
            yield Stranger(process, int(process.stdout.readline()))
        finally:
            process.kill()


@pytest.fixture
def token() -> str:
    """This machine's, for the home of these tests."""
    home = Home.find()
    home.state.mkdir(parents=True, exist_ok=True)
    return make_token(home)


async def by_link(host: str, port: int) -> str:
    credentials = Credentials(f"ws://{host}:{port}/ws")
    link = Link(
        credentials.server,
        Hello(SPOKEN, "test"),
        credentials.token,
        credentials.context,
        credentials.connection,
    )
    running = asyncio.create_task(link.run())
    try:
        async with asyncio.timeout(10):
            async for event in link.events():
                if isinstance(event, LinkChange) and event.state is LinkState.WAITING:
                    return event.reason
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return ""


async def by_admin(host: str, port: int) -> str:
    try:
        async with administering(f"ws://{host}:{port}/ws"):
            return "let in"
    except ClientError as error:
        return str(error)


async def by_download(host: str, port: int) -> str:
    def fetch() -> str:
        try:
            return str(list(pieces(Credentials(f"ws://{host}:{port}/ws"), "/files/a", 5.0)))
        except ClientError as error:
            return str(error)

    return await asyncio.to_thread(fetch)


async def by_agents_command(host: str, port: int) -> str:
    said: list[bytes] = []
    bridge = McpBridge(Home.find(), host.strip("[]"), port, said.append)
    await asyncio.to_thread(bridge.pass_on, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    return b"".join(said).decode()


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root can be two users"
)
@pytest.mark.parametrize("call", [by_link, by_admin, by_download, by_agents_command])
@pytest.mark.parametrize("takes", ["takes", "waits"])
@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::", "::1"])
async def test_another_users_program_is_shown_no_token(
    token: str, call: object, takes: str, address: str
) -> None:
    """Whether it takes the connection, or leaves it lying until the token would have come."""
    assert callable(call)
    with listening(address, takes) as stranger:
        told = await call("[::1]" if address == "::1" else "localhost", stranger.port)
        assert "belongs to another user" in told
        heard = stranger.heard()
    assert token.encode() not in heard
    assert b"Bearer" not in heard


def test_a_program_of_ones_own_is_shown_who_we_are() -> None:
    for address in ("127.0.0.1", "::1"):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with (
            socket.create_server((address, 0), family=family) as listener,
            socket.create_connection((address, listener.getsockname()[1])) as line,
        ):
            check(line.getsockname(), line.getpeername())
            with listener.accept()[0]:
                check(line.getsockname(), line.getpeername())
