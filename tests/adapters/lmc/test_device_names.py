"""What 01's light clients are called where they take part."""

import asyncio
import json
from typing import cast

from websockets.asyncio.client import ClientConnection, connect

from sayso.server.adapters.lmc.adapter import LmcAdapter
from sayso.server.adapters.plain_listeners import PlainListener
from sayso.server.adapters.turn_client import Host
from sayso.server.gateway.host import Outlet
from sayso.server.trust.principal import Principal
from sayso.server.turn.events import Event, Joined
from tests.rig import free_port


class Here:
    """A server with one conversation, which notes who takes part."""

    id = "one"

    def __init__(self) -> None:
        self.devices: list[str] = []
        self._changed = asyncio.Event()

    async def conversation(self, _: str, __: Principal) -> "Here":
        return self

    def join(self, device: Joined, _: Outlet) -> None:
        self.devices.append(device.device)
        self._changed.set()

    def leave(self, device: str) -> None:
        self.devices.remove(device)
        self._changed.set()

    def happened(self, event: Event) -> None:
        pass

    async def until(self, count: int) -> list[str]:
        async with asyncio.timeout(10):
            while len(self.devices) != count:
                self._changed.clear()
                await self._changed.wait()
        return self.devices


async def begun(port: int) -> ClientConnection:
    socket = await connect(f"ws://127.0.0.1:{port}", proxy=None)
    await socket.send(json.dumps({"auth": True}))
    return socket


async def test_a_client_that_comes_after_another_left_takes_no_name_that_is_in_use() -> None:
    here, port = Here(), free_port()
    adapter = LmcAdapter(cast(Host, here), PlainListener("127.0.0.1", port, frozenset()))
    await adapter.open()
    try:
        first = await begun(port)
        assert await here.until(1) == ["01 light"]
        second = await begun(port)
        assert await here.until(2) == ["01 light", "01 light 2"]
        await first.close()
        assert await here.until(1) == ["01 light 2"]
        third = await begun(port)
        assert await here.until(2) == ["01 light 2", "01 light"]
        await second.close()
        await third.close()
        await here.until(0)
    finally:
        await adapter.close()
