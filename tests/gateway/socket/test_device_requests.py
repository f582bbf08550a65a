"""A request to a device is sent at once or never."""

import asyncio

from sayso.protocol import messages as m
from sayso.protocol.version import SPOKEN
from sayso.server.turn.events import Ticket
from tests.gateway.running_gateway import TOKEN, WAIT_S, hear, open_gateway, say

IDLE = m.TurnState("idle", "idle", "silent")
ASKED = m.ActRequest("d1", "pointer.click", 5.0, 1)


def hello(session: str | None = None) -> m.Hello:
    return m.Hello(
        SPOKEN,
        "test 1",
        "desk",
        ("resume", "desktop"),
        session=session,
        last_seq=None if session is None else 0,
        offers=("pointer.click",),
    )


async def test_what_waits_when_a_newer_generation_begins_is_not_sent() -> None:
    async with open_gateway() as gateway, gateway.stranger(token=TOKEN) as socket:
        await say(socket, hello())
        await hear(socket)
        outlet = gateway.outlets["desk"]
        outlet.tell(ASKED, Ticket(1, 0))  # Nothing can leave before this test waits.
        outlet.tell(IDLE, Ticket(1, 1))
        assert await hear(socket) == IDLE
        outlet.tell(ASKED, Ticket(1, 1))
        assert await hear(socket) == ASKED


async def test_nothing_is_kept_for_a_device_that_is_away_nor_sent_again() -> None:
    async with open_gateway() as gateway:
        async with gateway.stranger(token=TOKEN) as socket:
            await say(socket, hello())
            welcome = await hear(socket)
            assert isinstance(welcome, m.Welcome)
            outlet = gateway.outlets["desk"]
            outlet.tell(ASKED, Ticket(1, 0))
            assert await hear(socket) == ASKED
            gateway.somebody_left.clear()
            socket.transport.abort()
            async with asyncio.timeout(WAIT_S):
                await gateway.somebody_left.wait()
        outlet.tell(ASKED, Ticket(1, 0))
        outlet.tell(IDLE, Ticket(1, 0))
        async with gateway.stranger(token=TOKEN) as socket:
            await say(socket, hello(welcome.session))
            back = await hear(socket)
            assert isinstance(back, m.Welcome)
            assert back.resume == "ok"
            assert await hear(socket) == IDLE


async def test_an_old_client_is_told_nothing_of_it() -> None:
    async with open_gateway() as gateway, gateway.client(device="desk") as socket:
        gateway.outlets["desk"].tell(ASKED, Ticket(1, 0))
        gateway.outlets["desk"].tell(IDLE, Ticket(1, 0))
        assert await hear(socket) == IDLE
        assert gateway.joined[-1].offers == ()
