"""What is sent with a request: whole, bounded, and never taken for another request."""

import asyncio
import gc
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest

from sayso.server.gateway.limits import Limits
from tests.gateway.http.adapter import MOST, RIGHT, Adapter, gateway_with, post
from tests.gateway.http.raw_client import raw_client
from tests.gateway.running_gateway import TOKEN, WAIT_S


async def test_a_body_that_is_too_long_is_refused_before_it_is_read(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        head = {"Content-Length": str(MOST + 1)} | RIGHT
        await client.ask("/v1/echo", head, method="POST")
        answer = await client.answer()
        assert (answer.status, answer.headers["connection"]) == (413, "close")


async def test_a_body_without_a_length_is_refused_where_it_becomes_too_long(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        await client.ask("/v1/echo", {"Transfer-Encoding": "chunked"} | RIGHT, method="POST")
        with suppress(ConnectionError):
            for _ in range(MOST // 10_000 + 2):
                await client.send(b"2710\r\n" + bytes(10_000) + b"\r\n")
        assert (await client.answer()).status == 413
        assert not adapter.asked


@pytest.mark.parametrize("sent", [b"", b"1\r\n", b"5\r\nhel"])
async def test_a_body_that_never_ends_is_given_up(
    adapter: Adapter, tmp_path: Path, sent: bytes
) -> None:
    limits = Limits(body_stalls_s=0.1)
    async with gateway_with(adapter, tmp_path, limits) as gateway, raw_client(gateway) as client:
        head = {"Transfer-Encoding": "chunked"} | RIGHT
        await client.ask("/v1/echo", head, method="POST", body=sent)
        assert (await client.answer()).status == 408
        assert await client.rest() == b""


async def test_a_body_that_drips_is_given_up(adapter: Adapter, tmp_path: Path) -> None:
    limits = Limits(body_s=0.3)
    async with gateway_with(adapter, tmp_path, limits) as gateway, raw_client(gateway) as client:
        await client.ask("/v1/echo", {"Content-Length": "100000"} | RIGHT, method="POST")
        answer = asyncio.create_task(client.answer())
        while not answer.done():
            with suppress(ConnectionError):
                await client.send(b"x")
            await asyncio.sleep(0.01)
        assert answer.result().status == 408


@pytest.mark.parametrize("path", ["/v1/deaf", "/v1/wait"])
async def test_a_body_that_nobody_reads_costs_little(
    adapter: Adapter, tmp_path: Path, path: str
) -> None:
    adapter.may_go_on.set()
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        await client.ask(path, {"Content-Length": str(10**6)} | RIGHT, method="POST")
        gc.collect()
        tracemalloc.start()
        try:
            async with asyncio.timeout(WAIT_S):
                with suppress(ConnectionError):
                    for _ in range(2_000):
                        await client.send(bytes(65_536))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 8 * 2**20
        assert await gateway.get("/ping") == (200, "pong")


# ── What can be read in two ways ─────────────────────────────────────────────────────────────────

HIDDEN = "POST /v1/echo HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer " + TOKEN
HIDDEN += "\r\nContent-Length: 6\r\n\r\nhidden"

SMUGGLED = {
    "a length and chunks": ("Content-Length: 4\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
    "chunks and a length": ("Transfer-Encoding: chunked\r\nContent-Length: 4", "0\r\n\r\n"),
    "two lengths": ("Content-Length: 0\r\nContent-Length: 5", "0\r\n\r\n"),
    "two lengths in a line": ("Content-Length: 0, 5", "0\r\n\r\n"),
    "two codings": ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n"),
    "an unknown coding": ("Transfer-Encoding: xchunked", "0\r\n\r\n"),
    "a coding before chunks": ("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
    "a space before the colon": ("Transfer-Encoding : chunked", "0\r\n\r\n"),
    "a folded line": ("Transfer-Encoding:\r\n x, chunked", "0\r\n\r\n"),
    "a length with a sign": ("Content-Length: +0", ""),
    "a negative length": ("Content-Length: -1", ""),
    "a length in hexadecimal": ("Content-Length: 0x0", ""),
    "a length beyond all": ("Content-Length: " + "9" * 40, ""),
    "a bad size of a chunk": ("Transfer-Encoding: chunked", "zz\r\n"),
    "a negative size of a chunk": ("Transfer-Encoding: chunked", "-1\r\n"),
    "a size beyond all": ("Transfer-Encoding: chunked", "f" * 40 + "\r\n"),
    "a chunk longer than it says": ("Transfer-Encoding: chunked", "1\r\nxyz\r\n0\r\n\r\n"),
    "an endless extension of a chunk": ("Transfer-Encoding: chunked", "1;" + "x" * 100_000),
    "a NUL in a name": ("X\0: y\r\nContent-Length: 0", ""),
    "a bare line feed in a value": ("X: y\rContent-Length: 5", "hello"),
}


@pytest.mark.parametrize(("head", "body"), SMUGGLED.values(), ids=SMUGGLED)
async def test_a_request_whose_end_is_doubtful_is_refused_and_nothing_behind_it_is_read(
    adapter: Adapter, tmp_path: Path, head: str, body: str
) -> None:
    limits = Limits(body_stalls_s=1.0)
    async with gateway_with(adapter, tmp_path, limits) as gateway, raw_client(gateway) as client:
        begin = f"POST /v1/echo HTTP/1.1\r\nHost: {client.host}\r\nAuthorization: Bearer {TOKEN}"
        hidden = HIDDEN.format(host=client.host)
        await client.send(f"{begin}\r\n{head}\r\n\r\n{body}{hidden}")
        answers = await client.rest()
        assert answers.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501", b"HTTP/1.1 413"))
        assert answers.count(b"HTTP/1.1") == 1
        assert b"hidden" not in answers
        assert not adapter.asked


async def test_chunks_in_the_oldest_http_are_refused(adapter: Adapter, tmp_path: Path) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        head = f"Host: {client.host}\r\nAuthorization: Bearer {TOKEN}\r\nTransfer-Encoding: chunked"
        await client.send(f"POST /v1/echo HTTP/1.0\r\n{head}\r\n\r\n0\r\n\r\n")
        assert (await client.answer()).status == 400
        assert not adapter.asked


async def test_bodies_that_are_sent_at_once_are_each_their_own(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        head = f"Host: {client.host}\r\nAuthorization: Bearer {TOKEN}\r\n"
        fixed = f"POST /v1/echo HTTP/1.1\r\n{head}Content-Length: 3\r\n\r\none"
        chunked = f"POST /v1/echo HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n"
        await client.send(f"{fixed}{chunked}3\r\ntwo\r\n0\r\n\r\nGET /ping HTTP/1.1\r\n{head}\r\n")
        assert [(await client.answer()).body for _ in range(3)] == [b"one", b"two", b"pong"]


async def test_a_body_on_a_path_that_takes_none_ends_the_connection(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with gateway_with(adapter, tmp_path) as gateway, raw_client(gateway) as client:
        hidden = HIDDEN.format(host=client.host).encode()
        await post(client, "/ping", hidden)
        await client.answer()
        assert await client.rest() == b""
        await client.ask("/ping")
        assert not adapter.asked
