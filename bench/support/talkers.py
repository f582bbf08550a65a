"""Provides clients that ask typed questions of the product's own listener.

Behind the listener are real conversations with a model that echoes, so that no figure depends on
a model's speed.
"""

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.host import Conversation
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.listener import Listener
from sayso.server.process import keep_for_good
from sayso.server.trust.principal import THIS_MACHINE, Principal
from tests.gateway.running_gateway import TOKEN
from tests.scripted_server import Host
from tests.server.running_server import RunningServer, running_server

WANTS = ("reply.delta", "turn.state")
ROOMY = Limits(connections=4_096, near_strangers=4_096, sessions=4_096)
"""Nobody is turned away: it is measured how many there can be."""


class Hosts(Host):
    """A server's conversations, and others under names of their own."""

    def __init__(self, server: RunningServer) -> None:
        super().__init__(server)
        self.server = server
        self.besides: dict[str, Conversation] = {}

    async def conversation(self, wanted: str = "", who: Principal = THIS_MACHINE) -> Conversation:
        return self.besides.get(wanted) or await super().conversation(wanted, who)


@dataclass
class Hall:
    """A server that listens, and so many conversations in it."""

    host: Hosts
    url: str
    conversations: list[str]


@asynccontextmanager
async def open_hall(conversations: int) -> AsyncIterator[Hall]:
    """Until the block ends."""
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        async with running_server(Path(folder), open_at_most=conversations + 2) as server:
            host = Hosts(server)
            listener = Listener(host, TOKEN, ROOMY)
            url = f"ws://127.0.0.1:{await listener.open('127.0.0.1', 0)}/ws"
            begun = [
                await server.conversations.begin(f"talk {number}")
                for number in range(conversations)
            ]
            keep_for_good()  # as the server does once it is ready
            try:
                yield Hall(host, url, [one.id for one in begun])
            finally:
                await listener.close()


async def talk(
    url: str,
    conversation: str,
    pauses_s: tuple[float, float],
    goes_on: Callable[[list[float]], bool],
) -> list[float]:
    """Ask one question after the other; returns how many seconds each took to be answered."""
    now = asyncio.get_running_loop().time
    took: list[float] = []
    async with client(url, conversation) as socket:
        while goes_on(took):
            began = now()
            await socket.send(encode(Envelope(m.Text(f"question {len(took)}"))))
            answered = False
            while True:
                message = decode(await socket.recv()).message
                answered = answered or isinstance(message, m.ReplyDelta)
                if answered and message == m.TurnState("idle", "idle", "silent"):
                    break
            took.append(now() - began)
            await asyncio.sleep(random.uniform(*pauses_s))
    return took


@asynccontextmanager
async def client(
    url: str, conversation: str, name: str = "bench"
) -> AsyncIterator[ClientConnection]:
    """One that was welcomed."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with connect(url, additional_headers=headers, compression=None) as socket:
        hello = m.Hello(SPOKEN, "bench 1", name, wants=WANTS, conversation=conversation)
        await socket.send(encode(Envelope(hello)))
        assert isinstance(decode(await socket.recv()).message, m.Welcome)
        yield socket
