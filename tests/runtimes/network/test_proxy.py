"""The network proxy by itself: its bounds, and what it answers when it refuses."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.network import proxy as proxies
from sayso.server.runtimes.network import relay, traffic_record
from sayso.server.runtimes.network.http_head import HEAD_BYTES
from sayso.server.runtimes.network.proxy import Proxy
from sayso.server.runtimes.network.traffic_record import (
    IN_SUM,
    ONE_BY_ONE,
    OTHERS,
    Passages,
    Transfer,
)
from tests.runtimes.network.web_double import Web, web

ALL = Grants(network=True)


@asynccontextmanager
async def serving(reach: Grants, outside: Web) -> AsyncIterator[tuple[Proxy, int]]:
    proxy = Proxy(reach, outside)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=HEAD_BYTES)
    async with server:
        yield proxy, server.sockets[0].getsockname()[1]
        await proxy.close()


async def said(port: int, request: bytes) -> bytes:
    """All that the proxy answers."""
    async with asyncio.timeout(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer


def get(host: str, port: int, path: str = "/") -> bytes:
    return f"GET http://{host}:{port}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


@pytest.fixture
async def outside() -> AsyncIterator[Web]:
    async with web() as made:
        yield made


async def test_a_request_is_led_there_and_counted(outside: Web) -> None:
    async with serving(ALL, outside) as (proxy, port):
        answer = await said(port, get("files.example.org", outside.port))
        assert answer.endswith(b"hello from outside")
        await said(port, get("unknown.example.org", 80))  # meanwhile the first has ended
        passage, _ = proxy.take_passages()
    assert (passage.host, passage.verdict) == ("files.example.org", "passed")
    assert passage.sent > 0
    assert passage.received == len(answer)


async def test_a_tunnel_is_opened_and_its_bytes_are_left_alone(outside: Web) -> None:
    async with serving(ALL, outside) as (_, port):
        there = f"files.example.org:{outside.port}"
        request = f"CONNECT {there} HTTP/1.1\r\nHost: {there}\r\n\r\n".encode()
        answer = await said(port, request + b"GET / HTTP/1.1\r\nHost: files.example.org\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK")
    assert answer.endswith(b"hello from outside")


@pytest.mark.parametrize(
    ("request_", "status", "why"),
    [
        (get("unknown.example.org", 80), b"403", b"is not known"),
        (get("files.example.org", 25), b"403", b"port 25 is not for the web"),
        (b"CONNECT files.example.org:22 HTTP/1.1\r\n\r\n", b"403", b"port 22"),
        (b"nonsense\r\n\r\n", b"400", b"no HTTP request"),
        (b"GET http://files.example.org/" + b"x" * HEAD_BYTES + b" HTTP/1.1\r\n\r\n", b"400", b""),
    ],
)
async def test_what_is_not_led_anywhere_is_told_why(
    outside: Web, request_: bytes, status: bytes, why: bytes
) -> None:
    async with serving(ALL, outside) as (_, port):
        answer = await said(port, request_)
    assert answer.split(b" ")[1] == status
    assert why in answer
    assert not outside.heads


async def test_a_closed_host_stays_closed_whatever_is_granted(outside: Web) -> None:
    reach = Grants(hosts=("files.example.org",), network=True, closed=("*.example.org",))
    async with serving(reach, outside) as (proxy, port):
        assert b"is not granted" in await said(port, get("files.example.org", outside.port))
        assert proxy.take_passages() == (Transfer("files.example.org", outside.port, "refused"),)
    assert not outside.looked_up


async def test_who_says_nothing_is_not_waited_for(
    outside: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxies, "HEAD_S", 0.1)
    monkeypatch.setattr(relay, "IDLE_S", 0.1)
    async with serving(ALL, outside) as (_, port):
        assert await said(port, b"GET http://files") == b""
        there = f"files.example.org:{outside.port}"
        tunnel = await said(port, f"CONNECT {there} HTTP/1.1\r\n\r\n".encode())
    assert tunnel == b"HTTP/1.1 200 Connection established\r\n\r\n"


async def test_there_are_only_so_many_connections_at_once(
    outside: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxies, "CONNECTIONS", 2)
    async with serving(ALL, outside) as (_, port):
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        for _, writer in held:
            writer.write(b"GET ")
            await writer.drain()
        refused = False
        async with asyncio.timeout(20):
            while not refused:  # the two may not have been taken on yet
                try:
                    answer = await said(port, get("files.example.org", outside.port))
                    refused = answer.startswith(b"HTTP/1.1 503 ")
                except ConnectionError:  # it did not even wait for the request
                    refused = True
        for _, writer in held:
            writer.close()
            await writer.wait_closed()


async def test_what_is_taken_back_is_cut(outside: Web) -> None:
    async with serving(ALL, outside) as (proxy, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        there = f"files.example.org:{outside.port}"
        writer.write(f"CONNECT {there} HTTP/1.1\r\n\r\n".encode())
        async with asyncio.timeout(20):
            await reader.readuntil(b"\r\n\r\n")
            proxy.reach = Grants()
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def test_what_is_open_is_told_of_as_it_goes(outside: Web) -> None:
    async with serving(ALL, outside) as (proxy, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        there = f"files.example.org:{outside.port}"
        writer.write(f"CONNECT {there} HTTP/1.1\r\n\r\n".encode())
        async with asyncio.timeout(20):
            await reader.readuntil(b"\r\n\r\n")
            (opened,) = proxy.take_passages()
            assert proxy.take_passages() == ()
            writer.write(b"GET / HTTP/1.0\r\n\r\n")
            assert b"hello" in await reader.read()
        (moved,) = proxy.take_passages()
        writer.close()
        await writer.wait_closed()
    assert (opened.sent, opened.received) == (0, 0)
    assert (moved.sent, moved.received > 0) == (18, True)


async def test_what_was_refused_is_remembered_once(outside: Web) -> None:
    async with serving(Grants(), outside) as (proxy, port):
        for number in range(5):
            await said(port, get(f"host{number}.example.org", 80))
        assert [passage.host for passage in proxy.take_passages()][-1] == "host4.example.org"
        assert proxy.take_passages() == ()


def test_no_flood_of_refusals_covers_up_what_passed() -> None:
    kept = Passages()
    for number in range(ONE_BY_ONE + 3 * IN_SUM):
        kept.note(Transfer(f"host{number}.example.org", 80, "refused"))
        if number % 100 == 0:
            kept.note(Transfer("a.example.org", 443, "passed", 1, 2))
    assert kept.full
    taken = kept.take()
    sums = [(each.sent, each.received) for each in taken if each.verdict == "passed"]
    assert (sum(sent for sent, _ in sums), sum(received for _, received in sums)) == (20, 40)
    assert taken[-1] == Transfer(OTHERS, 0, "refused")
    assert len(taken) <= ONE_BY_ONE + IN_SUM + 2
    assert kept.take() == ()


async def test_what_cannot_be_written_down_does_not_pass(
    outside: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traffic_record, "ONE_BY_ONE", 1)
    monkeypatch.setattr(traffic_record, "IN_SUM", 1)
    async with serving(ALL, outside) as (proxy, port):
        for path in ("/", "/"):
            assert b"hello" in await said(port, get("files.example.org", outside.port, path))
        assert b"cannot be written down" in await said(port, get("other.example.net", outside.port))
        assert len(proxy.take_passages()) == 2
        assert b"hello" in await said(port, get("other.example.net", outside.port))


@pytest.mark.parametrize("from_then_on", [1, 2])
async def test_an_address_that_has_become_our_own_is_sent_nothing(
    outside: Web, monkeypatch: pytest.MonkeyPatch, from_then_on: int
) -> None:
    looks = itertools.count(1)
    monkeypatch.setattr(outside, "is_outside", lambda _: next(looks) < from_then_on)
    async with serving(ALL, outside) as (proxy, port):
        answer = await said(port, get("files.example.org", outside.port))
        (passage,) = proxy.take_passages()
    assert b"in a private network" in answer
    why = "files.example.org is in a private network, which is never reached"
    assert passage == Transfer("files.example.org", outside.port, "refused", trouble=why)
    assert not outside.heads
