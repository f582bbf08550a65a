"""How connections come out of a sandbox: as open sockets, handed over a pair that has no name.

Inside, code connects to one address of its own loopback, where every program looks for a proxy that
the environment names. No sandbox has a network that leads here; so the sandbox hands over sockets:

    bubblewrap   the launcher, before any code runs, listens on that address in the sandbox's own
                 network, hands the listening socket over and keeps nothing
    Landlock     code's own `connect` is refused; the guard outside makes the connection in its
                 place, to an address of its own choice, and hands over the other end
"""

import asyncio
import contextlib
import os
import socket

from sayso.server.runtimes.network.http_head import HEAD_BYTES
from sayso.server.runtimes.network.proxy import Proxy

PORT = 3_128
"""Where proxies are, by custom."""
ADDRESS = f"http://127.0.0.1:{PORT}"

ENVIRONMENT = {
    **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), ADDRESS),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1,::1"),
    "NODE_USE_ENV_PROXY": "1",  # node's own fetch looks at the others only then
}
"""How programs are told of the proxy."""

_HANDED_AT_ONCE = 8
"""Sockets in one message; there is one."""


_WITH_DOORS = ("bubblewrap", "landlock")
"""Sandboxes that can hand sockets out."""


def handover_for(kind: str, proxy: Proxy | None) -> "SocketHandover | None":
    """A connection to the proxy, if there is one and this kind of sandbox can pass it on."""
    return SocketHandover(proxy) if proxy and kind in _WITH_DOORS else None


class SocketHandover:
    """The server's end of one sandbox's pair."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._ours.setblocking(False)
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._ours, self._take)

    @property
    def descriptor(self) -> int:
        """The sandbox's end, to be passed to the process that confines."""
        return self._theirs.fileno()

    def passed_on(self) -> None:
        """The process has it: let go of ours, so that its end shows."""
        self._theirs.close()

    def close(self) -> None:
        """Take nothing more."""
        self._loop.remove_reader(self._ours)
        self._ours.close()
        self._theirs.close()
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()

    def _take(self) -> None:
        try:
            said, handed, _, _ = socket.recv_fds(self._ours, 1, _HANDED_AT_ONCE)
        except BlockingIOError:
            return
        except OSError:
            said, handed = b"", []
        for descriptor in handed:
            task = self._loop.create_task(self._open(descriptor))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if not said:
            self._loop.remove_reader(self._ours)

    async def _open(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        handed = socket.socket(fileno=descriptor)
        handed.setblocking(False)
        with contextlib.suppress(OSError):
            if handed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                server = await asyncio.start_server(
                    self._proxy.serve, sock=handed, limit=HEAD_BYTES
                )
                self._servers.append(server)
                return
            reader = asyncio.StreamReader(limit=HEAD_BYTES)
            protocol = asyncio.StreamReaderProtocol(reader, self._proxy.serve)
            await self._loop.connect_accepted_socket(lambda: protocol, handed)
