"""Requests with bodies and answers that last: for those who belong here, within bounds."""

import asyncio
import gc
import json
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest
from websockets.http11 import Response

from sayso.server.gateway.admission.limits import Limits
from sayso.server.gateway.http.responses import answered, answered_events, event
from sayso.server.gateway.http.routes import HttpRequest, Route, Routes
from sayso.server.gateway.listener import Listener
from sayso.server.trust.certificates import identity
from sayso.server.trust.devices import Devices
from sayso.server.trust.principal import OWNER
from tests.gateway.http.raw_client import RawClient, raw_client
from tests.gateway.running_gateway import TOKEN, WAIT_S, House, NetworkHouse

RIGHT = {"Authorization": f"Bearer {TOKEN}"}
MOST = 1_000_000
LARGE = 8 * 2**20


class Adapter:
    """Answers what a test asks, and notes what it was asked."""

    def __init__(self) -> None:
        self.routes = Routes()
        self.routes.add(Route("POST", "/v1/echo", self.echo, body_bytes=MOST))
        self.routes.add(Route("POST", "/v1/large", self.size, body_bytes=4 * LARGE))
        self.routes.add(Route("POST", "/v1/deaf", self.deaf))
        self.routes.add(Route("POST", "/v1/wait", self.wait))
        self.routes.add(Route("POST", "/v1/admin", self.echo, scope="admin"))
        self.routes.add(Route("GET", "/v1/words/", self.words))
        self.asked: list[str] = []
        self.may_go_on = asyncio.Event()
        self.waits = asyncio.Event()
        self.ended = asyncio.Event()

    async def echo(self, request: HttpRequest) -> Response:
        body = await request.whole_body()
        self.asked.append(f"{request.method} {request.path} {len(body)}")
        return answered("text/plain", body)

    async def size(self, request: HttpRequest) -> Response:
        size = 0
        async for piece in request.body:
            size += len(piece)
        return answered("text/plain", str(size))

    async def deaf(self, request: HttpRequest) -> Response:
        return answered("text/plain", "I do not want to know.")

    async def wait(self, request: HttpRequest) -> Response:
        await request.whole_body()
        self.waits.set()
        try:
            await self.may_go_on.wait()
        finally:
            self.ended.set()
        return answered("text/plain", "done")

    async def words(self, request: HttpRequest) -> Response:
        return answered_events(self._words(request.path.rpartition("/")[2]))

    async def _words(self, whose: str) -> AsyncIterator[bytes]:
        try:
            for number in range(3):
                yield event(json.dumps({"to": whose, "number": number}), "word")
            self.waits.set()
            await self.may_go_on.wait()
            yield event("two\nlines")
        finally:
            self.ended.set()


@asynccontextmanager
async def house_with(
    adapter: Adapter, folder: Path, limits: Limits | None = None
) -> AsyncIterator[NetworkHouse]:
    house = NetworkHouse()
    house.devices = Devices(folder / "devices.json")
    listener = Listener(house, TOKEN, limits, devices=house.devices, routes=adapter.routes)
    house.port = await listener.open("127.0.0.1", 0)
    house.listener = listener
    house.identity = identity(folder / "certificates", ())
    house.network_port = await listener.open_network("127.0.0.1", 0, house.identity)
    try:
        yield house
    finally:
        async with asyncio.timeout(WAIT_S):
            await listener.close()


@pytest.fixture
def adapter() -> Adapter:
    return Adapter()


@asynccontextmanager
async def http(house: House) -> AsyncIterator[httpx.AsyncClient]:
    """An ordinary client."""
    base = f"http://127.0.0.1:{house.port}"
    async with httpx.AsyncClient(
        base_url=base, headers=RIGHT, timeout=WAIT_S, trust_env=False
    ) as client:
        yield client


async def post(client: RawClient, path: str, body: bytes, **headers: str) -> None:
    lines = {"Content-Length": str(len(body))} | RIGHT | headers
    await client.ask(path, lines, method="POST", body=body)


# ── What an ordinary client does ─────────────────────────────────────────────────────────────────


async def test_a_body_is_read_and_answered_on_a_connection_that_is_kept(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
        for size in (0, 1, 200_000, 3):
            await post(client, "/v1/echo", b"x" * size)
            answer = await client.answer()
            assert (answer.status, len(answer.body)) == (200, size)
        assert (await client.get("/ping")).status == 200


async def test_a_body_in_chunks_is_read_as_it_comes(adapter: Adapter, tmp_path: Path) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for number in range(64):
            yield bytes([number]) * (LARGE // 64)

    async with house_with(adapter, tmp_path) as house, http(house) as client:
        assert (await client.post("/v1/large", content=pieces())).text == str(LARGE)
        assert (await client.post("/v1/large", content=b"x" * LARGE)).text == str(LARGE)


async def test_a_client_that_asks_whether_to_go_on_is_told_so(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
        head = {"Content-Length": "5", "Expect": "100-continue"} | RIGHT
        await client.ask("/v1/echo", head, method="POST")
        assert (await client.answer()).status == 100
        await client.send(b"hello")
        assert (await client.answer()).body == b"hello"


async def test_curl_sends_and_receives(adapter: Adapter, tmp_path: Path) -> None:
    (tmp_path / "sent").write_bytes(b"x" * 300_000)
    async with house_with(adapter, tmp_path) as house:
        curl = await asyncio.create_subprocess_exec(
            *("curl", "--silent", "--fail", "--noproxy", "*", "--data-binary"),
            *(f"@{tmp_path / 'sent'}", "--header", "Transfer-Encoding: chunked"),
            *("--header", f"Authorization: Bearer {TOKEN}"),
            f"http://127.0.0.1:{house.port}/v1/echo",
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(WAIT_S):
            received, _ = await curl.communicate()
    assert (curl.returncode, len(received)) == (0, 300_000)


async def test_events_come_one_by_one_and_the_connection_is_kept(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with house_with(adapter, tmp_path) as house, http(house) as client:
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
    async with house_with(adapter, tmp_path, limits) as house, raw_client(house) as client:
        await client.ask("/v1/words/me", RIGHT)
        async with asyncio.timeout(WAIT_S):
            await client.reader.readuntil(b":\n\n")


# ── Who may ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer guess"}])
async def test_nothing_of_a_strangers_body_is_read(
    adapter: Adapter, tmp_path: Path, headers: dict[str, str]
) -> None:
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
        await client.ask(
            "/v1/echo", {"Content-Length": "5"} | headers, method="POST", body=b"hello"
        )
        assert (await client.answer()).status == 401
        assert await client.rest() == b""
        assert not adapter.asked


async def test_a_page_of_another_site_reaches_no_route(adapter: Adapter, tmp_path: Path) -> None:
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
        await post(client, "/v1/echo", b"hello", Origin="https://evil.example")
        assert (await client.answer()).status == 403
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
        await post(client, "/v1/echo", b"hello", Host="evil.example")
        assert (await client.answer()).status == 403
    assert not adapter.asked


async def test_a_device_asks_within_its_rights_and_bounds(adapter: Adapter, tmp_path: Path) -> None:
    limits = Limits(requests_a_minute=3)
    async with house_with(adapter, tmp_path, limits) as house:
        _, token = house.devices.add("phone", OWNER, ("talk",))
        own = {"Authorization": f"Bearer {token}"}
        async with raw_client(house, tls=True) as client:
            await post(client, "/v1/admin", b"", **own)
            assert (await client.answer()).status == 403
            for status in (200, 200, 200, 429):
                await post(client, "/v1/echo", b"", **own)
                assert (await client.answer()).status == status


async def test_a_device_has_few_answers_at_once_and_keeps_no_strangers_place(
    adapter: Adapter, tmp_path: Path
) -> None:
    limits = Limits(device_requests=2, strangers=2, settled_s=WAIT_S)
    async with house_with(adapter, tmp_path, limits) as house:
        _, token = house.devices.add("phone", OWNER, ("talk",))
        own = {"Authorization": f"Bearer {token}"}
        async with (
            raw_client(house, tls=True) as first,
            raw_client(house, tls=True) as second,
        ):
            for client in (first, second):
                await client.ask("/v1/words/me", own)
                await client.reader.readuntil(b"number")
            async with raw_client(house, tls=True) as third:
                await third.ask("/v1/words/me", own)
                assert (await third.answer()).status == 429
        async with asyncio.timeout(WAIT_S):
            await adapter.ended.wait()


# ── Ends ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", ["/v1/words/me", "/v1/wait"])
async def test_what_a_client_asked_for_ends_with_its_connection(
    adapter: Adapter, tmp_path: Path, path: str
) -> None:
    async with house_with(adapter, tmp_path) as house:
        async with raw_client(house) as client:
            method = "GET" if "words" in path else "POST"
            await client.ask(path, RIGHT, method=method)
            async with asyncio.timeout(WAIT_S):
                await adapter.waits.wait()
        async with asyncio.timeout(WAIT_S):
            await adapter.ended.wait()


async def test_a_revoked_device_hears_nothing_more(adapter: Adapter, tmp_path: Path) -> None:
    async with house_with(adapter, tmp_path) as house, raw_client(house, tls=True) as client:
        device, token = house.devices.add("phone", OWNER, ("talk",))
        await client.ask("/v1/words/me", {"Authorization": f"Bearer {token}"})
        async with asyncio.timeout(WAIT_S):
            await adapter.waits.wait()
            house.devices.revoke(device.id)
            await adapter.ended.wait()
        assert b"two" not in await client.rest()


async def test_a_server_that_stops_waits_for_no_answer_that_lasts(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
        await client.ask("/v1/words/me", RIGHT)
        async with asyncio.timeout(WAIT_S):
            await adapter.waits.wait()
            await house.listener.close()
        assert adapter.ended.is_set()


# ── Bounds ───────────────────────────────────────────────────────────────────────────────────────


async def test_a_body_that_is_too_long_is_refused_before_it_is_read(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
        head = {"Content-Length": str(MOST + 1)} | RIGHT
        await client.ask("/v1/echo", head, method="POST")
        answer = await client.answer()
        assert (answer.status, answer.headers["connection"]) == (413, "close")


async def test_a_body_without_a_length_is_refused_where_it_becomes_too_long(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
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
    async with house_with(adapter, tmp_path, limits) as house, raw_client(house) as client:
        head = {"Transfer-Encoding": "chunked"} | RIGHT
        await client.ask("/v1/echo", head, method="POST", body=sent)
        assert (await client.answer()).status == 408
        assert await client.rest() == b""


async def test_a_body_that_drips_is_given_up(adapter: Adapter, tmp_path: Path) -> None:
    limits = Limits(body_s=0.3)
    async with house_with(adapter, tmp_path, limits) as house, raw_client(house) as client:
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
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
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
        assert await house.get("/ping") == (200, "pong")


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
    async with house_with(adapter, tmp_path, limits) as house, raw_client(house) as client:
        begin = f"POST /v1/echo HTTP/1.1\r\nHost: {client.host}\r\nAuthorization: Bearer {TOKEN}"
        hidden = HIDDEN.format(host=client.host)
        await client.send(f"{begin}\r\n{head}\r\n\r\n{body}{hidden}")
        answers = await client.rest()
        assert answers.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501", b"HTTP/1.1 413"))
        assert answers.count(b"HTTP/1.1") == 1
        assert b"hidden" not in answers
        assert not adapter.asked


async def test_chunks_in_the_oldest_http_are_refused(adapter: Adapter, tmp_path: Path) -> None:
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
        head = f"Host: {client.host}\r\nAuthorization: Bearer {TOKEN}\r\nTransfer-Encoding: chunked"
        await client.send(f"POST /v1/echo HTTP/1.0\r\n{head}\r\n\r\n0\r\n\r\n")
        assert (await client.answer()).status == 400
        assert not adapter.asked


async def test_bodies_that_are_sent_at_once_are_each_their_own(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
        head = f"Host: {client.host}\r\nAuthorization: Bearer {TOKEN}\r\n"
        fixed = f"POST /v1/echo HTTP/1.1\r\n{head}Content-Length: 3\r\n\r\none"
        chunked = f"POST /v1/echo HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n"
        await client.send(f"{fixed}{chunked}3\r\ntwo\r\n0\r\n\r\nGET /ping HTTP/1.1\r\n{head}\r\n")
        assert [(await client.answer()).body for _ in range(3)] == [b"one", b"two", b"pong"]


async def test_a_body_on_a_path_that_takes_none_ends_the_connection(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with house_with(adapter, tmp_path) as house, raw_client(house) as client:
        hidden = HIDDEN.format(host=client.host).encode()
        await post(client, "/ping", hidden)
        await client.answer()
        assert await client.rest() == b""
        await client.ask("/ping")
        assert not adapter.asked
