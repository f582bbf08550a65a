"""A session outlives its connection: what was missed comes once, and what was sent counts once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.client import ClientConnection

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.socket import resume
from sayso.server.turn import events
from sayso.server.turn.effects import Send
from sayso.server.turn.events import Ticket
from tests.gateway.fault_injection import endure
from tests.gateway.running_gateway import (
    TOKEN,
    WAIT_S,
    RunningGateway,
    close_code,
    hear,
    hear_envelope,
    open_gateway,
    say,
)

TICKET = Ticket(3, 1)
IDLE = m.TurnState("idle", "idle", "silent")


@asynccontextmanager
async def caller(
    gateway: RunningGateway,
    session: str | None = None,
    last_seq: int | None = None,
    wants: tuple[str, ...] = (),
) -> AsyncIterator[tuple[ClientConnection, m.Welcome]]:
    """A client that knows how to resume, and how it was welcomed."""
    async with gateway.stranger(token=TOKEN) as socket:
        hello = m.Hello(
            SPOKEN,
            "test 1",
            "phone",
            ("resume",),
            wants=wants,
            session=session,
            last_seq=last_seq,
        )
        await say(socket, hello)
        welcome = await hear(socket)
        assert isinstance(welcome, m.Welcome)
        yield socket, welcome


async def cut(gateway: RunningGateway, socket: ClientConnection) -> None:
    """The line breaks, and the server has noticed."""
    gateway.somebody_left.clear()
    socket.transport.abort()
    async with asyncio.timeout(WAIT_S):
        await gateway.somebody_left.wait()


async def test_what_was_sent_and_did_not_arrive_comes_again_under_its_old_number() -> None:
    async with open_gateway() as gateway:
        async with caller(gateway) as (socket, first):
            for text in ("a", "b", "c"):
                gateway.outlets["phone"].tell(m.SttFinal(text), TICKET)
                await hear(socket)
            await cut(gateway, socket)
        async with caller(gateway, first.session, last_seq=1) as (socket, welcome):
            assert (welcome.resume, welcome.session) == ("ok", first.session)
            missed = [await hear_envelope(socket) for _ in range(2)]
        assert [(one.message, one.seq, one.turn) for one in missed] == [
            (m.SttFinal("b"), 2, 3),
            (m.SttFinal("c"), 3, 3),
        ]


async def test_who_takes_up_a_session_is_sent_what_it_wants_now() -> None:
    async with open_gateway() as gateway:
        async with caller(gateway, wants=("turn.state",)) as (socket, first):
            gateway.outlets["phone"].tell(m.ReplyDelta("unwanted"), TICKET)
            gateway.outlets["phone"].tell(IDLE, TICKET)
            assert await hear(socket) == IDLE
            await cut(gateway, socket)
        async with caller(gateway, first.session, 1, ("reply.delta",)) as (socket, welcome):
            assert welcome.resume == "ok"
            assert not gateway.joined[-1].speaks
            gateway.outlets["phone"].tell(IDLE, TICKET)
            gateway.outlets["phone"].tell(m.ReplyDelta("wanted"), TICKET)
            assert await hear(socket) == m.ReplyDelta("wanted")


async def test_what_is_told_while_a_device_is_away_waits_for_it() -> None:
    async with open_gateway() as gateway:
        async with caller(gateway) as (socket, first):
            gateway.outlets["phone"].tell(m.SttFinal("seen"), TICKET)
            await hear(socket)
            await cut(gateway, socket)
        assert (gateway.gone, gateway.left) == (["phone"], [])
        gateway.outlets["phone"].tell(m.CodeEnd("r1", "ok"), TICKET)
        async with caller(gateway, first.session, last_seq=1) as (socket, _):
            done = await hear_envelope(socket)
        assert (done.message, done.seq) == (m.CodeEnd("r1", "ok"), 2)
        assert [(device.device, device.returns) for device in gateway.returned] == [("phone", True)]


async def test_speech_and_partials_are_not_replayed() -> None:
    async with open_gateway() as gateway:
        async with caller(gateway) as (socket, first):
            outlet = gateway.outlets["phone"]
            outlet.tell(m.SpeechStart(1, 16_000, "hi"), TICKET)
            await hear(socket)
            await cut(gateway, socket)
        outlet.send(Send("phone", 1, 0, bytes(800), False))
        outlet.tell(m.SttPartial("I", " am"), TICKET)
        outlet.tell(m.SpeechStop(1, "interrupted"), TICKET)
        outlet.tell(IDLE, TICKET)
        async with caller(gateway, first.session, last_seq=0) as (socket, _):
            assert await hear(socket) == IDLE


async def test_what_the_client_sends_again_counts_once() -> None:
    async with open_gateway() as gateway:
        async with caller(gateway) as (socket, first):
            await socket.send(encode(Envelope(m.Text("one"), seq=1)))
            await socket.send(encode(Envelope(m.Text("two"), seq=2)))
            assert await gateway.next_event() == events.Typed("phone", "one")
            assert await gateway.next_event() == events.Typed("phone", "two")
            await cut(gateway, socket)
        async with caller(gateway, first.session, last_seq=0) as (socket, welcome):
            assert welcome.last_seq == 2
            await socket.send(encode(Envelope(m.Text("two"), seq=2)))
            await socket.send(encode(Envelope(m.Text("three"), seq=3)))
            assert await gateway.next_event() == events.Typed("phone", "three")


async def test_the_older_of_two_connections_of_a_session_is_told_and_closed() -> None:
    async with (
        open_gateway() as gateway,
        caller(gateway) as (old, first),
        caller(gateway, first.session, last_seq=0),
    ):
        farewell = await hear(old)
        assert isinstance(farewell, m.Error)
        assert (farewell.code, farewell.fatal) == ("replaced", True)
        assert await close_code(old) == 4409
        assert gateway.left == []


async def test_who_missed_more_than_is_kept_gets_a_snapshot() -> None:
    async with open_gateway(Limits(replay_messages=4)) as gateway:
        async with caller(gateway) as (socket, first):
            await cut(gateway, socket)
        for number in range(6):
            gateway.outlets["phone"].tell(m.SttFinal(str(number)), TICKET)
        request = {"id": "a", "nonce": "n", "language": "python", "code": "1", "where": "/w"}
        gateway.state = m.Snapshot(({"turn": 3, "said": "hi", "reply": "ho"},), (request,))
        async with caller(gateway, first.session, last_seq=0) as (socket, welcome):
            assert welcome.resume == "snapshot"
            assert welcome.snapshot == gateway.state
            gateway.outlets["phone"].tell(m.SttFinal("next"), TICKET)
            assert await hear(socket) == m.SttFinal("next")


async def test_a_snapshot_is_cut_to_what_the_client_can_take() -> None:
    async with open_gateway(Limits(replay_messages=1)) as gateway:
        async with caller(gateway) as (socket, first):
            await cut(gateway, socket)
        for number in range(3):
            gateway.outlets["phone"].tell(m.SttFinal(str(number)), TICKET)
        gateway.state = m.Snapshot(tuple({"turn": n, "reply": "x" * 4_000} for n in range(40)))
        async with caller(gateway, first.session, last_seq=0) as (_, welcome):
            assert welcome.snapshot is not None
            turns = [turn["turn"] for turn in welcome.snapshot.turns]
            assert turns[-1] == 39
            assert 10 < len(turns) < 20


async def test_a_session_that_nobody_knows_is_a_new_one() -> None:
    async with open_gateway() as gateway, caller(gateway, "guess", last_seq=7) as (_, welcome):
        assert welcome.resume == "new"
        assert welcome.session != "guess"


async def test_a_session_is_kept_for_a_while_only() -> None:
    async with open_gateway(Limits(resume_s=0.05)) as gateway:
        async with caller(gateway) as (socket, first):
            await cut(gateway, socket)
        gateway.somebody_left.clear()
        async with asyncio.timeout(WAIT_S):
            while not gateway.left:
                gateway.somebody_left.clear()
                await gateway.somebody_left.wait()
        async with caller(gateway, first.session, last_seq=0) as (_, welcome):
            assert welcome.resume == "new"


async def test_a_session_whose_welcome_was_lost_is_not_kept_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resume, "UNCONFIRMED_S", 0.05)
    async with open_gateway() as gateway:
        async with caller(gateway) as (confirmed, first):
            await say(confirmed, m.Ping(1))
            await hear(confirmed)
            await cut(gateway, confirmed)
        async with caller(gateway, first.session, last_seq=0) as (_, welcome):
            assert welcome.resume == "ok"
            async with gateway.client(device="ghost", features=("resume",)) as ghost:
                await cut(gateway, ghost)
            async with asyncio.timeout(WAIT_S):
                while not gateway.left:
                    gateway.somebody_left.clear()
                    await gateway.somebody_left.wait()
            assert gateway.left == ["ghost"]


async def test_a_goodbye_ends_the_session() -> None:
    async with open_gateway() as gateway:
        async with caller(gateway) as (socket, first):
            await say(socket, m.Bye())
            await close_code(socket)
        async with caller(gateway, first.session, last_seq=0) as (_, welcome):
            assert welcome.resume == "new"


async def test_a_device_that_begins_anew_keeps_its_name() -> None:
    async with open_gateway() as gateway:
        async with caller(gateway) as (socket, _):
            await cut(gateway, socket)
        async with caller(gateway):
            assert [joined.device for joined in gateway.joined] == ["phone", "phone"]


async def test_sessions_are_bounded_and_the_one_longest_away_gives_way() -> None:
    async with open_gateway(Limits(sessions=2)) as gateway:
        sockets = []
        for name in ("one", "two", "three"):
            async with gateway.stranger(token=TOKEN) as socket:
                await say(socket, m.Hello(SPOKEN, "test", name, ("resume",)))
                sockets.append(await hear(socket))
                await cut(gateway, socket)
        assert gateway.left == ["one"]


async def test_pieces_of_text_that_wait_are_joined() -> None:
    async with open_gateway() as gateway:
        async with caller(gateway) as (socket, first):
            await cut(gateway, socket)
        outlet = gateway.outlets["phone"]
        for word in ("The ", "answer ", "is "):
            outlet.tell(m.ReplyDelta(word), TICKET)
        outlet.tell(m.ReplyDelta("new"), Ticket(4, 0))
        async with caller(gateway, first.session, last_seq=0) as (socket, _):
            assert await hear(socket) == m.ReplyDelta("The answer is ")
            assert await hear(socket) == m.ReplyDelta("new")


@pytest.mark.parametrize("seed", [1, 2])
async def test_over_a_line_that_keeps_breaking_nothing_is_lost_and_nothing_doubled(
    seed: int,
) -> None:
    toll = await endure(seed, requests=60)
    assert toll.cuts > 3
    assert (toll.lost, toll.doubled, toll.rerun, toll.misplaced, toll.anew) == (0, 0, 0, 0, 0)
