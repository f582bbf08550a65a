"""An adapter with a route of each kind, and a server that has it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from websockets.http11 import Response

from sayso.server.gateway.http.adapter_routes import HttpRequest, Route, Routes
from sayso.server.gateway.http.responses import answered, answered_events, event
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.listener import Listener
from sayso.server.trust.certificates import identity
from sayso.server.trust.devices import Devices
from tests.gateway.http.raw_client import RawClient
from tests.gateway.running_gateway import TOKEN, WAIT_S, NetworkGateway, RunningGateway

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
async def gateway_with(
    adapter: Adapter, folder: Path, limits: Limits | None = None
) -> AsyncIterator[NetworkGateway]:
    gateway = NetworkGateway()
    gateway.devices = Devices(folder / "devices.json")
    listener = Listener(gateway, TOKEN, limits, devices=gateway.devices, routes=adapter.routes)
    gateway.port = await listener.open("127.0.0.1", 0)
    gateway.listener = listener
    gateway.identity = identity(folder / "certificates", ())
    gateway.network_port = await listener.open_network("127.0.0.1", 0, gateway.identity)
    try:
        yield gateway
    finally:
        async with asyncio.timeout(WAIT_S):
            await listener.close()


@asynccontextmanager
async def http(gateway: RunningGateway) -> AsyncIterator[httpx.AsyncClient]:
    """An ordinary client."""
    base = f"http://127.0.0.1:{gateway.port}"
    async with httpx.AsyncClient(
        base_url=base, headers=RIGHT, timeout=WAIT_S, trust_env=False
    ) as client:
        yield client


async def post(client: RawClient, path: str, body: bytes, **headers: str) -> None:
    lines = {"Content-Length": str(len(body))} | RIGHT | headers
    await client.ask(path, lines, method="POST", body=body)


# ── What an ordinary client does ─────────────────────────────────────────────────────────────────
