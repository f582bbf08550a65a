"""The server knows which device was sent a whole question: an answer counts from there alone."""

import asyncio

from websockets.asyncio.client import ClientConnection, connect

from sayso.protocol import messages as m
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.limits import Limits
from sayso.server.turn.events import QuestionShown, Ticket, Typed
from tests.gateway.admission.test_tcp_liveness import reader_of_little
from tests.gateway.running_gateway import TOKEN, WAIT_S, RunningGateway, hear, open_gateway, say

SMALL = m.Limits(max_text_bytes=4_096)
SHORT = m.ApprovalRequest("short", "n", "python", "print(1)", "/work")
LONG = m.ApprovalRequest("long", "n", "python", "汉" * 24_000, "/work")


async def shown(gateway: RunningGateway, socket: ClientConnection) -> list[str]:
    """Which questions the host has heard of as shown, when all that was sent is there."""
    await say(socket, m.Ping(1))
    while not isinstance(await hear(socket), m.Pong):
        pass
    await say(socket, m.Text("now"))
    found = []
    while not isinstance(event := await gateway.next_event(), Typed):
        if isinstance(event, QuestionShown):
            found.append(event.id)
    return found


def ask(gateway: RunningGateway, device: str, *questions: m.ApprovalRequest) -> None:
    for question in questions:
        gateway.outlets[device].tell(question, Ticket(1, 0))


async def test_what_a_device_cannot_take_whole_was_not_shown_there() -> None:
    async with (
        open_gateway() as gateway,
        gateway.client(device="desk") as desk,
        gateway.client(device="watch", limits=SMALL) as watch,
    ):
        longer = m.ApprovalRequest("longer", "n", "python", "#" * 8_000, "/work")
        ask(gateway, "desk", SHORT, longer, LONG)
        assert await shown(gateway, desk) == ["short", "longer"]
        ask(gateway, "watch", SHORT, longer, LONG)
        assert await shown(gateway, watch) == ["short"]


async def test_what_a_device_does_not_want_was_not_shown_there() -> None:
    wants = ("turn.state", "pong")
    async with open_gateway() as gateway, gateway.client(device="lamp", wants=wants) as lamp:
        ask(gateway, "lamp", SHORT)
        assert await shown(gateway, lamp) == []
        assert not gateway.joined[0].is_asked


async def test_what_waits_for_a_client_that_reads_nothing_was_not_shown() -> None:
    async with open_gateway() as gateway, reader_of_little(gateway) as slow:
        for _ in range(60):
            gateway.outlets["slow"].tell(m.Error("internal", "x" * 60_000), Ticket(1, 0))
        ask(gateway, "slow", SHORT)
        await say(slow, m.Text("yes"))
        assert isinstance(await gateway.next_event(), Typed)
        slow.transport.resume_reading()
        while not isinstance(await hear(slow), m.ApprovalRequest):
            pass
        assert isinstance(await gateway.next_event(), QuestionShown)


async def come_back(gateway: RunningGateway, session: str, last_seq: int) -> ClientConnection:
    socket = await connect(gateway.url, compression=None)
    hello = m.Hello(
        SPOKEN, "test 1", "desk", ("resume",), token=TOKEN, session=session, last_seq=last_seq
    )
    await say(socket, hello)
    return socket


async def begin(gateway: RunningGateway) -> tuple[ClientConnection, str]:
    socket = await connect(gateway.url, compression=None)
    await say(socket, m.Hello(SPOKEN, "test 1", "desk", ("resume",), token=TOKEN))
    welcome = await hear(socket)
    assert isinstance(welcome, m.Welcome)
    return socket, welcome.session


async def gone(gateway: RunningGateway, socket: ClientConnection) -> None:
    gateway.somebody_left.clear()
    socket.transport.abort()
    async with asyncio.timeout(WAIT_S):
        await gateway.somebody_left.wait()


async def test_who_comes_back_has_the_question_anew() -> None:
    async with open_gateway() as gateway:
        socket, session = await begin(gateway)
        ask(gateway, "desk", SHORT)
        assert await shown(gateway, socket) == ["short"]
        await gone(gateway, socket)
        again = await come_back(gateway, session, 0)
        assert await shown(gateway, again) == ["short"]
        again.transport.abort()


async def test_a_question_that_came_while_the_device_was_away_is_shown_when_it_is_back() -> None:
    async with open_gateway() as gateway:
        socket, session = await begin(gateway)
        await gone(gateway, socket)
        ask(gateway, "desk", LONG, SHORT)
        again = await come_back(gateway, session, 0)
        assert await shown(gateway, again) == ["short"]
        again.transport.abort()


async def test_of_a_snapshot_counts_what_is_in_it() -> None:
    limits = Limits(replay_messages=1)
    async with open_gateway(limits) as gateway:
        socket, session = await begin(gateway)
        ask(gateway, "desk", SHORT)
        assert await shown(gateway, socket) == ["short"]
        await gone(gateway, socket)
        for number in range(5):
            gateway.outlets["desk"].tell(m.Announce(str(number)), Ticket(1, 0))
        told = ({"id": "first"}, {"id": "much", "code": "汉" * 30_000}, {"id": "last"})
        gateway.state = m.Snapshot(approvals=told)
        again = await come_back(gateway, session, 0)
        assert await shown(gateway, again) == ["first", "last"]
        again.transport.abort()
