"""Unauthenticated connections are bounded, and do not keep authenticated clients out."""

import asyncio
import gc
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import WebSocketException

from sayso.server.gateway.limits import Limits
from sayso.server.trust.principal import OWNER
from tests.gateway.running_gateway import WAIT_S, NetworkGateway, open_network_gateway


@pytest.mark.slow
async def test_strangers_of_one_address_are_bounded_and_keep_nobody_out(tmp_path: Path) -> None:
    limits = Limits(strangers=3, handshake_s=30.0, settled_s=30.0)
    async with open_network_gateway(tmp_path, limits) as gateway:
        _, token = gateway.devices.add("phone", OWNER, ["talk"])
        async with gateway.device(token), gateway.far(), gateway.far(), gateway.far():
            with pytest.raises((OSError, WebSocketException)):
                async with gateway.far():
                    pass
        await let_in(gateway, token)


async def let_in(gateway: NetworkGateway, token: str) -> None:
    """Try until the server has noticed that the strangers are gone."""
    async with asyncio.timeout(WAIT_S):
        while True:
            try:
                async with gateway.device(token):
                    return
            except (OSError, WebSocketException):
                await asyncio.sleep(0.01)


async def test_who_guesses_or_says_nothing_keeps_no_place_of_an_address(tmp_path: Path) -> None:
    limits = Limits(strangers=3, handshake_s=30.0, settled_s=0.0)
    async with open_network_gateway(tmp_path, limits) as gateway:
        _, token = gateway.devices.add("phone", OWNER, ["talk"])
        async with gateway.far() as first, gateway.far(), gateway.far():
            async with gateway.device(token):
                await first.wait_closed()
            async with gateway.device(token):
                pass


# ── Before TLS is agreed on ──────────────────────────────────────────────────────────────────────


@asynccontextmanager
async def silent(gateway: NetworkGateway) -> AsyncIterator[asyncio.StreamReader]:
    """Connected, and says nothing, not even what TLS begins with."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.network_port)
    try:
        yield reader
    finally:
        writer.transport.abort()


async def is_shut(reader: asyncio.StreamReader) -> None:
    """Wait until the server has ended a connection."""
    async with asyncio.timeout(WAIT_S):
        with suppress(ConnectionError):
            assert await reader.read() == b""


@pytest.mark.slow
async def test_who_connects_and_says_nothing_counts_as_a_stranger(tmp_path: Path) -> None:
    limits = Limits(strangers=3, handshake_s=30.0, settled_s=30.0)
    async with open_network_gateway(tmp_path, limits) as gateway:
        _, token = gateway.devices.add("phone", OWNER, ["talk"])
        async with silent(gateway), silent(gateway), gateway.far():
            async with silent(gateway) as one_too_many:
                await is_shut(one_too_many)
            with pytest.raises((OSError, WebSocketException)):
                async with gateway.far():
                    pass
        await let_in(gateway, token)


async def test_who_connects_and_says_nothing_keeps_no_place(tmp_path: Path) -> None:
    limits = Limits(strangers=3, handshake_s=30.0, settled_s=0.0)
    async with open_network_gateway(tmp_path, limits) as gateway:
        _, token = gateway.devices.add("phone", OWNER, ["talk"])
        async with (
            silent(gateway) as first,
            silent(gateway),
            silent(gateway),
            gateway.device(token),
        ):
            await is_shut(first)


@pytest.mark.parametrize("says", [b"", b"GET /ws HTTP/1.1\r\n"])
async def test_what_tls_takes_is_taken_of_the_time_to_say_hello(
    tmp_path: Path, says: bytes
) -> None:
    limits = Limits(handshake_s=1.0)
    async with open_network_gateway(tmp_path, limits) as gateway:
        began = asyncio.get_running_loop().time()
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.network_port)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(limits.handshake_s * 0.7):
                await reader.read()
        context = ssl.create_default_context(cadata=gateway.pem)
        await writer.start_tls(context, server_hostname="localhost")
        writer.write(says)
        await is_shut(reader)
        assert asyncio.get_running_loop().time() - began < limits.handshake_s * 1.5
        writer.transport.abort()


async def test_the_token_that_was_shown_is_not_kept_while_a_client_is_connected(
    tmp_path: Path,
) -> None:
    async with open_network_gateway(tmp_path, Limits()) as gateway:
        _, token = gateway.devices.add("phone", OWNER, ["talk"])
        async with gateway.device(token) as device:
            mine = device.request.headers if device.request else None
            kept = [one for one in gc.get_objects() if type(one) is Headers and one is not mine]
            assert not [one for one in kept if token in str(one)]
