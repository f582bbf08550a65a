"""Requests with bodies and answers that last: for those who belong here, within bounds."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sayso.server.gateway.limits import Limits
from sayso.server.trust.principal import OWNER
from tests.gateway.http.adapter import LARGE, RIGHT, Adapter, gateway_with, http, post
from tests.gateway.http.raw_client import raw_client
from tests.gateway.running_gateway import TOKEN, WAIT_S


async def test_a_body_is_read_and_answered_on_a_connection_that_is_kept(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        for size in (0, 1, 200_000, 3):
            await post(client, "/v1/echo", b"x" * size)
            answer = await client.answer()
            assert (answer.status, len(answer.body)) == (200, size)
        assert (await client.get("/ping")).status == 200


async def test_a_body_in_chunks_is_read_as_it_comes(adapter: Adapter, tmp_path: Path) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for number in range(64):
            yield bytes([number]) * (LARGE // 64)

    async with gateway_with(adapter, tmp_path) as gateway, http(gateway) as client:
        assert (await client.post("/v1/large", content=pieces())).text == str(LARGE)
        assert (await client.post("/v1/large", content=b"x" * LARGE)).text == str(LARGE)


async def test_a_client_that_asks_whether_to_go_on_is_told_so(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        head = {"Content-Length": "5", "Expect": "100-continue"} | RIGHT
        await client.ask("/v1/echo", head, method="POST")
        assert (await client.answer()).status == 100
        await client.send(b"hello")
        assert (await client.answer()).body == b"hello"


async def test_curl_sends_and_receives(adapter: Adapter, tmp_path: Path) -> None:
    (tmp_path / "sent").write_bytes(b"x" * 300_000)
    async with gateway_with(adapter, tmp_path) as gateway:
        curl = await asyncio.create_subprocess_exec(
            *("curl", "--silent", "--fail", "--noproxy", "*", "--data-binary"),
            *(f"@{tmp_path / 'sent'}", "--header", "Transfer-Encoding: chunked"),
            *("--header", f"Authorization: Bearer {TOKEN}"),
            f"http://127.0.0.1:{gateway.port}/v1/echo",
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(WAIT_S):
            received, _ = await curl.communicate()
    assert (curl.returncode, len(received)) == (0, 300_000)


async def test_events_come_one_by_one_and_the_connection_is_kept(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, http(gateway) as client:
        async with client.stream("GET", "/v1/words/me") as answer:
            assert answer.headers["content-type"] == "text/event-stream"
            lines = answer.aiter_lines()
            first = [await anext(lines) for _ in range(3)]
            assert first == ["event: word", 'data: {"to": "me", "number": 0}', ""]
            async with asyncio.timeout(WAIT_S):
                await adapter.waits.wait()
            adapter.may_go_on.set()
            rest = [line async for line in lines]
        assert rest[-4:] == ["", "data: two", "data: lines", ""]
        assert (await client.get("/ping")).text == "pong"
        assert (await client.head("/v1/words/me")).text == ""


async def test_events_that_are_long_in_coming_are_kept_alive(
    adapter: Adapter, tmp_path: Path
) -> None:
    limits = Limits(ping_s=0.05)
    async with gateway_with(adapter, tmp_path, limits) as gateway, raw_client(gateway) as client:
        await client.ask("/v1/words/me", RIGHT)
        async with asyncio.timeout(WAIT_S):
            await client.reader.readuntil(b":\n\n")


# ── Who may ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer guess"}])
async def test_nothing_of_a_strangers_body_is_read(
    adapter: Adapter, tmp_path: Path, headers: dict[str, str]
) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        await client.ask(
            "/v1/echo", {"Content-Length": "5"} | headers, method="POST", body=b"hello"
        )
        assert (await client.answer()).status == 401
        assert await client.rest() == b""
        assert not adapter.asked


async def test_a_page_of_another_site_reaches_no_route(adapter: Adapter, tmp_path: Path) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        await post(client, "/v1/echo", b"hello", Origin="https://evil.example")
        assert (await client.answer()).status == 403
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        await post(client, "/v1/echo", b"hello", Host="evil.example")
        assert (await client.answer()).status == 403
    assert not adapter.asked


async def test_a_device_asks_within_its_rights_and_bounds(adapter: Adapter, tmp_path: Path) -> None:
    limits = Limits(requests_a_minute=3)
    async with gateway_with(adapter, tmp_path, limits) as gateway:
        _, token = gateway.devices.add("phone", OWNER, ("talk",))
        own = {"Authorization": f"Bearer {token}"}
        async with raw_client(gateway, tls=True) as client:
            await post(client, "/v1/admin", b"", **own)
            assert (await client.answer()).status == 403
            for status in (200, 200, 200, 429):
                await post(client, "/v1/echo", b"", **own)
                assert (await client.answer()).status == status


async def test_a_device_has_few_answers_at_once_and_keeps_no_strangers_place(
    adapter: Adapter, tmp_path: Path
) -> None:
    limits = Limits(device_requests=2, strangers=2, settled_s=WAIT_S)
    async with gateway_with(adapter, tmp_path, limits) as gateway:
        _, token = gateway.devices.add("phone", OWNER, ("talk",))
        own = {"Authorization": f"Bearer {token}"}
        async with (
            raw_client(gateway, tls=True) as first,
            raw_client(gateway, tls=True) as second,
        ):
            for client in (first, second):
                await client.ask("/v1/words/me", own)
                await client.reader.readuntil(b"number")
            async with raw_client(gateway, tls=True) as third:
                await third.ask("/v1/words/me", own)
                assert (await third.answer()).status == 429
        async with asyncio.timeout(WAIT_S):
            await adapter.ended.wait()


# ── Ends ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", ["/v1/words/me", "/v1/wait"])
async def test_what_a_client_asked_for_ends_with_its_connection(
    adapter: Adapter, tmp_path: Path, path: str
) -> None:
    async with gateway_with(adapter, tmp_path) as gateway:
        async with raw_client(gateway) as client:
            method = "GET" if "words" in path else "POST"
            await client.ask(path, RIGHT, method=method)
            async with asyncio.timeout(WAIT_S):
                await adapter.waits.wait()
        async with asyncio.timeout(WAIT_S):
            await adapter.ended.wait()


async def test_a_revoked_device_hears_nothing_more(adapter: Adapter, tmp_path: Path) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway, tls=True) as client:
        device, token = gateway.devices.add("phone", OWNER, ("talk",))
        await client.ask("/v1/words/me", {"Authorization": f"Bearer {token}"})
        async with asyncio.timeout(WAIT_S):
            await adapter.waits.wait()
            gateway.devices.revoke(device.id)
            await adapter.ended.wait()
        assert b"two" not in await client.rest()


async def test_a_server_that_stops_waits_for_no_answer_that_lasts(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        await client.ask("/v1/words/me", RIGHT)
        async with asyncio.timeout(WAIT_S):
            await adapter.waits.wait()
            await gateway.listener.close()
        assert adapter.ended.is_set()


# ── Bounds ───────────────────────────────────────────────────────────────────────────────────────
