"""Clients of other protocols that take nothing of what they are sent."""

import asyncio
from typing import cast

import pytest
from websockets.asyncio.server import ServerConnection

from sayso.server.adapters.outgoing_messages import SEND_S, OutgoingMessages
from sayso.server.adapters.realtime.outbox import RealtimeOutbox

pytestmark = pytest.mark.virtual_time


class Stalled:
    """A socket whose client reads nothing, and the transport under it."""

    def __init__(self) -> None:
        self.transport = self
        self.aborted_at: float | None = None

    async def send(self, _: str | bytes) -> None:
        await asyncio.get_running_loop().create_future()

    def abort(self) -> None:
        self.aborted_at = asyncio.get_running_loop().time()


async def test_a_client_that_takes_nothing_is_let_go() -> None:
    socket = Stalled()
    outgoing = OutgoingMessages(cast(ServerConnection, socket))
    outgoing.put("words")
    await outgoing.run()
    assert socket.aborted_at == SEND_S


async def test_a_realtime_client_that_takes_nothing_is_let_go() -> None:
    socket = Stalled()
    outbox = RealtimeOutbox(cast(ServerConnection, socket))
    outbox.emit({"type": "session.created"})
    await outbox.run()
    assert socket.aborted_at == SEND_S
