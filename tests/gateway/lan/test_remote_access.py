"""The listener for other devices stays open, whatever happens to the clock."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from sayso.protocol.home import Home
from sayso.server.gateway.lan.remote_access import RemoteAccess
from sayso.server.gateway.listener import Listener
from sayso.server.settings.defaults import Listen
from tests.gateway.running_gateway import TOKEN, RunningGateway
from tests.server.running_server import until

NOW = datetime(2026, 7, 1, tzinfo=UTC)


class Clock:
    """That of a machine, which can be set."""

    def __init__(self) -> None:
        self.off = timedelta()

    @property
    def now(self) -> datetime:
        return NOW + timedelta(seconds=asyncio.get_running_loop().time()) + self.off

    def __call__(self) -> float:
        return self.now.timestamp()


def serial(folder: Path) -> int:
    pem = (folder / "certificates" / "server.pem").read_bytes()
    return x509.load_pem_x509_certificate(pem).serial_number


@pytest.mark.parametrize("years", [-56, 20])
async def test_a_certificate_made_by_a_wrong_clock_is_made_anew_as_soon_as_that_is_set(
    tmp_path: Path, years: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.server.gateway.lan.remote_access.LOOK_AT_CLOCK_S", 0.01)
    clock = Clock()
    clock.off = timedelta(days=365 * years)
    listener = Listener(RunningGateway(), TOKEN)
    listen = Listen(network="127.0.0.1", network_port=0, announce=False, trust_page=False)
    network = RemoteAccess(Home(tmp_path, tmp_path, tmp_path), listen, listener, clock)
    await network.open()
    running = asyncio.create_task(network.run())
    try:
        by_the_wrong_one = serial(tmp_path)
        clock.off = timedelta()
        await until(lambda: serial(tmp_path) != by_the_wrong_one)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await listener.close()
