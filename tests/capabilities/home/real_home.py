"""A real Home Assistant on loopback, with the rooms and devices of its own demo.

It is no part of the tests' environment: `SAYSO_TEST_HOME_ASSISTANT` names the program `hass` of an
environment that has it (docs/home.md).
"""

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from tests.rig import free_port

READY_S = 180.0
"""For a first start on a busy machine."""

CONFIGURATION = """
homeassistant:
  name: Home
  time_zone: Europe/Berlin
http:
  server_host: 127.0.0.1
  server_port: {port}
conversation:
demo:
shopping_list:
script:
  open_up:
    alias: Open up
    sequence:
      - action: lock.unlock
        target: {{entity_id: lock.front_door}}
scene:
  - name: Movie night
    entities: {{light.kitchen_lights: "off"}}
automation:
"""


@dataclass
class RealHome:
    """One that runs."""

    url: str
    token: str
    process: asyncio.subprocess.Process
    changes: list[tuple[float, str, str]] = field(default_factory=list)
    """When something came to be in another state, what, and in which."""

    async def state(self, entity: str) -> str:
        async with httpx.AsyncClient(trust_env=False) as http:
            headers = {"Authorization": f"Bearer {self.token}"}
            answer = await http.get(f"{self.url}/api/states/{entity}", headers=headers)
        return str(answer.json()["state"])

    async def changed(self, entity: str, after: float) -> tuple[float, str] | None:
        """When it came to be in another state, and in which; None if it did not."""
        for _ in range(3_000):
            for at, name, state in self.changes:
                if name == entity and at >= after:
                    return at, state
            await asyncio.sleep(0.001)
        return None

    async def stop(self) -> None:
        """End it, as its person may."""
        self.process.terminate()
        await self.process.wait()

    async def until(self, entity: str, state: str) -> None:
        """Wait until it is in this state."""
        async with asyncio.timeout(10):
            while await self.state(entity) != state:  # noqa: ASYNC110 - of another process
                await asyncio.sleep(0.1)

    async def command(self, **message: object) -> Any:  # noqa: ANN401 - JSON
        """Over a socket of its own."""
        async with await self._socket() as socket:
            await socket.send(json.dumps({"id": 1, **message}))
            return json.loads(await socket.recv())["result"]

    async def watch(self) -> None:
        """Note what changes, until cancelled."""
        async with await self._socket() as socket:
            wanted = {"id": 1, "type": "subscribe_events", "event_type": "state_changed"}
            await socket.send(json.dumps(wanted))
            async for text in socket:
                message = json.loads(text)
                if message["type"] == "event" and (new := message["event"]["data"]["new_state"]):
                    self.changes.append((time.perf_counter(), new["entity_id"], new["state"]))

    async def _socket(self) -> ClientConnection:
        address = f"{self.url.replace('http', 'ws', 1)}/api/websocket"
        socket = await connect(address, proxy=None, max_size=None)
        await socket.recv()
        await socket.send(json.dumps({"type": "auth", "access_token": self.token}))
        assert json.loads(await socket.recv())["type"] == "auth_ok"
        return socket


@contextlib.asynccontextmanager
async def real_home(
    hass: Path, folder: Path, exposed: Sequence[str] = ()
) -> AsyncIterator[RealHome]:
    """Started anew, with one person in it. `exposed`: what assistants may use besides the usual."""
    port = free_port()
    await asyncio.to_thread(_configure, folder, port)
    process = await asyncio.create_subprocess_exec(
        str(hass),
        *("--config", str(folder), "--skip-pip"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "HOME": str(folder)},
        start_new_session=True,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        home = RealHome(url, await _person_of(url), process)
        await home.command(
            type="homeassistant/expose_entity",
            assistants=["conversation"],
            entity_ids=list(exposed),
            should_expose=True,
        )
        watching = asyncio.create_task(home.watch())
        try:
            yield home
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def _configure(folder: Path, port: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "configuration.yaml").write_text(CONFIGURATION.format(port=port))


async def _person_of(url: str) -> str:
    """The token of the person who sets it up."""
    client = f"{url}/"
    async with httpx.AsyncClient(trust_env=False, base_url=url, timeout=20) as http:
        ann = {"name": "Ann", "username": "ann", "password": "not-a-secret", "language": "en"}
        async with asyncio.timeout(READY_S):
            while True:
                with contextlib.suppress(httpx.HTTPError):
                    answer = await http.post(
                        "/api/onboarding/users", json={"client_id": client, **ann}
                    )
                    if answer.is_success:
                        break
                await asyncio.sleep(0.5)
        code = {"grant_type": "authorization_code", "code": answer.json()["auth_code"]}
        given = await http.post("/auth/token", data={"client_id": client, **code})
        return str(given.json()["access_token"])
