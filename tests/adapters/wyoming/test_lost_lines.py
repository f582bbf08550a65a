"""Connections of Home Assistant's that break."""

import asyncio
from typing import Any, cast

import pytest

from sayso.server.adapters.wyoming.connection import WAITING, WyomingConnection
from sayso.server.adapters.wyoming.events import LINE_BYTES, WyomingEvent, written

pytestmark = pytest.mark.virtual_time


class Nowhere:
    """What is written here is not read."""

    def get_extra_info(self, _: str) -> None:
        return None

    def write(self, _: bytes) -> None:
        pass

    async def drain(self) -> None:
        pass


@pytest.mark.parametrize("events", [0, 1, WAITING, 3 * WAITING])
async def test_a_line_that_breaks_after_events_is_let_go_at_once(events: int) -> None:
    reader = asyncio.StreamReader(limit=LINE_BYTES)
    reader.feed_data(written(WyomingEvent("ping")) * events)
    unused = cast(Any, None)
    connection = WyomingConnection(reader, cast(Any, Nowhere()), unused, unused, "1")
    talking = asyncio.create_task(connection.talk())
    await asyncio.sleep(0.1)
    reader.set_exception(ConnectionResetError())
    await talking
    assert asyncio.get_running_loop().time() == 0.1
