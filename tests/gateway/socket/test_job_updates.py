"""A job's updates go to clients that know them, and after a cut the last of each comes once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict

from websockets.asyncio.client import ClientConnection

from sayso.protocol import messages as m
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.limits import Limits
from sayso.server.turn.events import Ticket
from tests.gateway.running_gateway import (
    TOKEN,
    WAIT_S,
    RunningGateway,
    hear,
    hear_envelope,
    open_gateway,
    say,
)

TICKET = Ticket(1, 0)
IDLE = m.TurnState("idle", "idle", "silent")


def job(text: str, name: str = "j1", **more: object) -> m.TaskUpdate:
    return m.TaskUpdate(name, "running", "run", "sort", text, **more)  # type: ignore[arg-type]


@asynccontextmanager
async def caller(
    gateway: RunningGateway,
    session: str | None = None,
    last_seq: int | None = None,
    *,
    knows: bool = True,
) -> AsyncIterator[tuple[ClientConnection, m.Welcome]]:
    features = ("resume", "tasks") if knows else ("resume",)
    async with gateway.stranger(token=TOKEN) as socket:
        hello = m.Hello(SPOKEN, "test 1", "phone", features, session=session, last_seq=last_seq)
        await say(socket, hello)
        welcome = await hear(socket)
        assert isinstance(welcome, m.Welcome)
        yield socket, welcome


async def cut(gateway: RunningGateway, socket: ClientConnection) -> None:
    gateway.somebody_left.clear()
    socket.transport.abort()
    async with asyncio.timeout(WAIT_S):
        await gateway.somebody_left.wait()


async def test_a_client_that_does_not_know_jobs_hears_nothing_of_them() -> None:
    async with open_gateway() as gateway, caller(gateway, knows=False) as (socket, _):
        gateway.outlets["phone"].tell(job("half way"), TICKET)
        gateway.outlets["phone"].tell(IDLE, TICKET)
        assert await hear(socket) == IDLE


async def test_after_a_cut_the_last_state_of_each_job_comes_once() -> None:
    async with open_gateway() as gateway:
        outlet = None
        async with caller(gateway) as (socket, first):
            outlet = gateway.outlets["phone"]
            for text in ("1", "2", "3"):
                outlet.tell(job(text), TICKET)
                await hear(socket)
            outlet.tell(job("other", "j2"), TICKET)
            await hear(socket)
            await cut(gateway, socket)
        for text in ("4", "5", "6"):
            outlet.tell(job(text), TICKET)
        async with caller(gateway, first.session, last_seq=0) as (socket, welcome):
            assert welcome.resume == "ok"
            outlet.tell(IDLE, TICKET)
            told = [await hear_envelope(socket) for _ in range(3)]
        assert [one.message for one in told] == [job("other", "j2"), job("6"), IDLE]
        assert [one.seq for one in told] == sorted(one.seq or 0 for one in told)


async def test_a_night_of_progress_costs_a_client_that_is_away_nothing_else() -> None:
    async with open_gateway(Limits(replay_messages=16)) as gateway:
        async with caller(gateway) as (socket, first):
            await cut(gateway, socket)
        outlet = gateway.outlets["phone"]
        outlet.tell(m.CodeStart("r1", "python", "sort()"), TICKET)
        for number in range(10_000):
            outlet.tell(job(str(number), output="x" * 2_000), TICKET)
        async with caller(gateway, first.session, last_seq=0) as (socket, welcome):
            assert welcome.resume == "ok"
            assert await hear(socket) == m.CodeStart("r1", "python", "sort()")
            assert await hear(socket) == job("9999", output="x" * 2_000)


async def test_a_snapshot_holds_the_jobs_for_those_who_know_them() -> None:
    going = asdict(job("half way", fraction=0.5))
    for knows in (True, False):
        async with open_gateway(Limits(replay_messages=1)) as gateway:
            async with caller(gateway, knows=knows) as (socket, first):
                await cut(gateway, socket)
            for number in range(3):
                gateway.outlets["phone"].tell(m.SttFinal(str(number)), TICKET)
            gateway.state = m.Snapshot(tasks=(going,))
            async with caller(gateway, first.session, 0, knows=knows) as (_, welcome):
                assert welcome.resume == "snapshot"
                assert welcome.snapshot is not None
                assert [dict(one) for one in welcome.snapshot.tasks] == ([going] if knows else [])


async def test_what_a_small_client_can_not_take_is_left_away_and_the_rest_told() -> None:
    async with open_gateway() as gateway, gateway.stranger(token=TOKEN) as socket:
        small = m.Limits(max_text_bytes=1_024)
        await say(socket, m.Hello(SPOKEN, "test 1", "lamp", ("tasks",), limits=small))
        await hear(socket)
        gateway.outlets["lamp"].tell(job("half way", output="x" * 2_000), TICKET)
        assert await hear(socket) == job("half way")


async def test_a_client_asks_for_a_job_to_be_stopped() -> None:
    async with open_gateway() as gateway, caller(gateway) as (socket, _):
        await say(socket, m.TaskCancel("j1"))
        await say(socket, m.Text("go on"))
        await gateway.next_event()
        assert gateway.cancelled == [("phone", "j1")]
