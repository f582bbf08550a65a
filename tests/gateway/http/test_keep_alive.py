"""One connection, many requests: kept for those who ask again, and for nobody else."""

import asyncio
import socket
from collections import deque
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.limits import Limits
from sayso.server.trust.principal import OWNER
from tests.gateway.hostile_client import frame
from tests.gateway.http.raw_client import raw_client
from tests.gateway.running_gateway import TOKEN, WAIT_S, open_gateway, open_network_gateway

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


@pytest.mark.parametrize("tls", [False, True])
async def test_one_connection_answers_request_after_request(tmp_path: Path, *, tls: bool) -> None:
    async with open_network_gateway(tmp_path) as gateway, raw_client(gateway, tls=tls) as client:
        for path, status in (("/", 200), ("/app.js", 200), ("/nothing", 404), ("/ping", 200)) * 5:
            assert (await client.get(path)).status == status


async def test_requests_that_are_sent_at_once_are_answered_in_their_order() -> None:
    async with open_gateway() as gateway, raw_client(gateway) as client:
        head = f"Host: {client.host}\r\n\r\n"
        paths = ["/ping", "/nothing", "/app.js", "/ping"]
        await client.send("".join(f"GET {path} HTTP/1.1\r\n{head}" for path in paths))
        assert [(await client.answer()).status for _ in paths] == [200, 404, 200, 200]


async def test_who_sends_more_before_its_turn_than_browsers_do_is_cut_off() -> None:
    async with open_gateway() as gateway, raw_client(gateway) as client:
        one = f"GET /choices HTTP/1.1\r\nHost: {client.host}\r\nX: {'x' * 4_000}\r\n\r\n".encode()
        async with asyncio.timeout(WAIT_S):
            with suppress(ConnectionError):
                while True:  # its answers are not read
                    await client.send(one * 100)
        assert await gateway.get("/ping") == (200, "pong")


async def test_a_connection_that_asks_for_nothing_more_is_ended() -> None:
    async with open_gateway(Limits(idle_s=0.2)) as gateway, raw_client(gateway) as client:
        assert (await client.get("/ping")).status == 200
        assert await client.rest() == b""


async def test_a_client_that_wants_its_connection_ended_has_it_ended() -> None:
    async with open_gateway() as gateway, raw_client(gateway) as client:
        answer = await client.get("/ping", Connection="close")
        assert answer.headers["connection"] == "close"
        assert await client.rest() == b""


@pytest.mark.parametrize("tls", [False, True])
async def test_a_later_request_has_no_more_time_than_a_first_one(
    tmp_path: Path, *, tls: bool
) -> None:
    limits = Limits(handshake_s=0.3, idle_s=WAIT_S)
    async with (
        open_network_gateway(tmp_path, limits) as gateway,
        raw_client(gateway, tls=tls) as client,
    ):
        assert (await client.get("/ping")).status == 200
        await client.send("GET /ping HTTP/1.1\r\n")
        assert await client.rest() == b""


async def test_a_connection_that_was_asked_for_the_page_opens_a_socket_as_any_other() -> None:
    async with open_gateway() as gateway, raw_client(gateway) as client:
        assert (await client.get("/")).status == 200
        await client.ask("/ws", {"Authorization": f"Bearer {TOKEN}"} | UPGRADE)
        assert (await client.answer()).status == 101
        hello = m.Hello(SPOKEN, "raw 1", "desk")
        await client.send(frame(1, encode(Envelope(hello)).encode()))
        async with asyncio.timeout(WAIT_S):
            assert b'"welcome"' in await client.reader.readuntil(b'"welcome"')
        assert [joined.device for joined in gateway.joined] == ["desk"]


async def test_a_token_counts_for_the_request_that_shows_it_alone() -> None:
    async with open_gateway() as gateway, raw_client(gateway) as client:
        right = await client.get("/choices", Authorization=f"Bearer {TOKEN}")
        without = await client.get("/choices")
        assert (right.status, without.status) == (200, 401)


async def test_a_foreign_request_behind_one_of_our_own_is_refused() -> None:
    async with open_gateway() as gateway, raw_client(gateway) as client:
        assert (await client.get("/ping")).status == 200
        assert (await client.get("/ping", Origin="https://evil.example")).status == 403
        assert (await client.get("/ping", Host="evil.example")).status == 403


async def test_a_revoked_device_has_no_connection_left_to_ask_by(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway, raw_client(gateway, tls=True) as client:
        device, token = gateway.devices.add("phone", OWNER, ("talk",))
        right = {"Authorization": f"Bearer {token}"}
        assert (await client.get("/choices", **right)).status == 200
        gateway.devices.revoke(device.id)
        assert await client.rest() == b""


async def test_a_server_that_stops_ends_the_connections_that_it_keeps(tmp_path: Path) -> None:
    limits = Limits(idle_s=10 * WAIT_S, handshake_s=10 * WAIT_S)
    async with (
        open_network_gateway(tmp_path, limits) as gateway,
        raw_client(gateway, tls=True) as far,
        raw_client(gateway) as near,
        raw_client(gateway) as silent,
    ):
        assert (await far.get("/ping")).status == 200
        assert (await near.get("/ping")).status == 200
        async with asyncio.timeout(WAIT_S):
            await gateway.listener.close()
        assert await far.rest() == await near.rest() == await silent.rest() == b""


# ── Places of an address ─────────────────────────────────────────────────────────────────────────

FEW = Limits(strangers=2, settled_s=WAIT_S, handshake_s=2 * WAIT_S, idle_s=2 * WAIT_S)


async def test_a_connection_that_is_kept_gives_way_to_a_new_one_at_once(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path, FEW) as gateway, AsyncExitStack() as stack:
        for _ in range(10):
            client = await stack.enter_async_context(raw_client(gateway, tls=True))
            assert (await client.get("/ping")).status == 200


async def test_a_new_connection_waits_for_a_place_and_gets_it(tmp_path: Path) -> None:
    async with (
        open_network_gateway(tmp_path, FEW) as gateway,
        raw_client(gateway, tls=True) as first,
        raw_client(gateway, tls=True),
    ):

        async def visits() -> int:
            async with raw_client(gateway, tls=True) as client:
                return (await client.get("/ping")).status

        waiting = [asyncio.create_task(visits()) for _ in range(5)]
        await asyncio.sleep(0)
        assert (await first.get("/ping")).status == 200
        assert await asyncio.gather(*waiting) == [200] * 5


async def test_a_first_visit_starts_beside_a_flood_of_its_own_address(tmp_path: Path) -> None:
    limits = Limits(settled_s=0.2, handshake_s=WAIT_S)
    all_places_are_taken = asyncio.Event()

    async def flood(port: int) -> None:
        """Connect again and again, say nothing, and keep what the server does not end."""
        kept: deque[socket.socket] = deque()
        try:
            while True:
                kept.append(socket.create_connection(("127.0.0.1", port)))
                if len(kept) > 2 * (limits.strangers + limits.waiting):
                    all_places_are_taken.set()
                    kept.popleft().close()
                await asyncio.sleep(0.002)
        finally:
            for line in kept:
                line.close()

    async with open_network_gateway(tmp_path, limits) as gateway:
        flooding = asyncio.create_task(flood(gateway.network_port))
        async with asyncio.timeout(WAIT_S):
            await all_places_are_taken.wait()
        for _ in range(20):
            async with raw_client(gateway, tls=True) as client:
                assert (await client.get("/")).status == 200
        assert not flooding.done()
        flooding.cancel()
        await asyncio.gather(flooding, return_exceptions=True)
