"""The server is found by its name, by multicast on loopback."""

import json
import subprocess
import sys

import pytest

LOOKS = """
import asyncio, json
from zeroconf import IPVersion
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf
from sayso.server.gateway.lan.mdns import SERVICE, Announcer

async def main():
    announcer = Announcer("127.0.0.1", 8766)
    await announcer.tell(["localhost", "127.0.0.1", "192.168.1.5", "::1"])
    there = AsyncZeroconf(interfaces=["127.0.0.1"], ip_version=IPVersion.V4Only)
    names = asyncio.Queue()
    def saw(zeroconf, service_type, name, state_change):
        names.put_nowait((name, state_change.name))
    browser = AsyncServiceBrowser(there.zeroconf, SERVICE, handlers=[saw])
    name, change = await names.get()
    found = AsyncServiceInfo(SERVICE, name)
    await found.async_request(there.zeroconf, 3_000)
    told = [change, found.server, found.parsed_addresses(), found.port]
    await announcer.close()
    told.append((await names.get())[1])
    await browser.async_cancel()
    await there.async_close()
    print(json.dumps(told))

asyncio.run(asyncio.wait_for(main(), 30))
"""
"""In a process of its own: tests themselves send nothing by multicast."""


@pytest.mark.thorough
def test_the_server_is_found_as_sayso_local_and_says_when_it_goes() -> None:
    run = subprocess.run(
        [sys.executable, "-c", LOOKS], capture_output=True, text=True, timeout=50, check=False
    )

    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == ["Added", "sayso.local.", ["127.0.0.1"], 8766, "Removed"]
