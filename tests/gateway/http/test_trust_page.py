"""Before a browser trusts the server: a plain page with its authority, while pairing is open."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from sayso.client.identity.pairing import Met, PairingFailed, join
from sayso.protocol import messages as m
from sayso.server.trust.pairing import OPEN_S
from tests.gateway.running_gateway import WAIT_S, hear, open_network_gateway, say

MANAGES = ("devices", "pairing.opened", "pairing.done")


async def fetched(url: str, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    """A plain request; returns status and body."""
    there = urlsplit(url)
    reader, writer = await asyncio.open_connection(there.hostname, there.port)
    lines = {"Host": there.netloc} | headers
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode())
    async with asyncio.timeout(WAIT_S):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, body = answer.partition(b"\r\n\r\n")  # type: ignore[assignment]
    return int(answer.split()[1]), body


async def shut(url: str) -> None:
    """Returns when nobody listens there any more."""
    there = urlsplit(url)
    async with asyncio.timeout(WAIT_S):
        while True:
            try:
                _, writer = await asyncio.open_connection(there.hostname, there.port)
            except ConnectionRefusedError:
                return
            writer.transport.abort()
            await asyncio.sleep(0.01)


async def opened(socket: object) -> m.PairingOpened:
    await say(socket, m.PairingOpen())  # type: ignore[arg-type]
    answer = await hear(socket)  # type: ignore[arg-type]
    assert isinstance(answer, m.PairingOpened)
    return answer


async def test_the_authority_is_had_without_tls_and_nothing_else(tmp_path: Path) -> None:
    async with (
        open_network_gateway(tmp_path) as gateway,
        gateway.client(device="console", wants=MANAGES) as owner,
    ):
        window = await opened(owner)
        assert window.trust.startswith("http://127.0.0.1:")
        assert window.expires_s == OPEN_S
        status, page = await fetched(window.trust, "/")
        assert status == 200
        assert window.words.encode() in page
        assert f"https://127.0.0.1:{gateway.network_port}/".encode() in page
        assert await fetched(window.trust, "/ca.crt") == (200, gateway.authority)
        secret = window.url.partition("pair=")[2].partition("&")[0]
        assert secret.encode() not in page
        assert window.digits.encode() not in page
        for path in ("/health", "/conversations", "/app.js", "/../devices.json"):
            assert (await fetched(window.trust, path))[0] == 404
        assert (await fetched(window.trust, "/", method="POST"))[0] >= 400
        assert (await fetched(window.trust, "/", Host="evil.example"))[0] == 403
        with pytest.raises(InvalidStatus) as refusal:
            await connect(window.trust.replace("http", "ws") + "ws")
        assert refusal.value.response.status_code == 404


async def test_the_page_is_there_only_while_pairing_is_open(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        async with gateway.client(device="console", wants=MANAGES) as owner:
            window = await opened(owner)
            await say(owner, m.PairingOpen())
            assert await hear(owner) == m.PairingDone("closed")
            again = await hear(owner)
            assert isinstance(again, m.PairingOpened)
            assert again.trust == window.trust
            assert (await fetched(window.trust, "/"))[0] == 200
            await say(owner, m.Bye())
        await shut(window.trust)


async def test_its_owner_closes_the_window_and_nobody_else(tmp_path: Path) -> None:
    async with (
        open_network_gateway(tmp_path) as gateway,
        gateway.client(device="console", wants=MANAGES) as owner,
        gateway.client(device="other", wants=MANAGES) as other,
    ):
        window = await opened(owner)
        for each in (other, owner):
            await say(each, m.PairingClose())
            await say(each, m.DevicesList())
        assert await hear(other) == m.Devices()
        assert await hear(owner) == m.PairingDone("closed")
        await shut(window.trust)
        met = Met(f"127.0.0.1:{gateway.network_port}", gateway.authority)
        with pytest.raises(PairingFailed, match="No pairing is open"):
            await join(met, window.digits, "late")


async def test_a_port_that_another_holds_does_not_keep_devices_out(tmp_path: Path) -> None:
    blocker = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = blocker.sockets[0].getsockname()[1]
    async with blocker, open_network_gateway(tmp_path, trust_port=port) as gateway:
        async with gateway.client(device="console", wants=MANAGES) as owner:
            window = await opened(owner)
        assert window.trust == ""
        assert window.digits
