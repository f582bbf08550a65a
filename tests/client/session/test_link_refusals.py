"""A server that refuses, is busy or is not Sayso is reported in one sentence."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection, serve

from sayso.client.session.link import Link
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.protocol.messages import Error, Welcome
from sayso.server.trust.certificates import identity
from tests.client.link_life import HELLO, SOON, living, steps
from tests.client.server_double import TOKEN, ServerDouble, Wire, stay


async def test_a_token_that_is_not_accepted_ends_it_in_one_sentence() -> None:
    async with ServerDouble(stay) as server, living(server.url, "wrong" * 9) as life:
        refused = await life.state(LinkState.REFUSED)
        assert "does not accept our token" in refused.reason
        assert "wrong" not in refused.reason


async def test_a_token_that_was_made_meanwhile_is_tried() -> None:
    tokens = iter(["old", "new", TOKEN])
    async with ServerDouble(stay) as server:
        link = Link(server.url, HELLO, lambda: next(tokens, TOKEN))
        running = asyncio.create_task(link.run())
        async with asyncio.timeout(SOON):
            async for event in link.events():
                if isinstance(event, LinkChange) and event.state in {
                    LinkState.UP,
                    LinkState.REFUSED,
                }:
                    break
            assert isinstance(event, LinkChange)
            assert event.state is LinkState.UP
            await link.close()
            await running


@pytest.mark.parametrize("code", ["version_mismatch", "unauthorized", "replaced"])
async def test_a_refusal_for_good_is_not_asked_twice(code: str) -> None:
    async def script(wire: Wire) -> None:
        await wire.say(Error(code, "Update the client.", fatal=True))

    async with ServerDouble(script) as server, living(server.url) as life:
        refused = await life.state(LinkState.REFUSED)
        assert refused.reason == "Update the client."
        assert len(server.hellos) == 1


async def test_a_version_that_we_do_not_speak_is_one_sentence() -> None:
    async with ServerDouble(stay) as server:
        server.welcome = lambda _: Welcome(2, "sayso 9", "s1")
        async with living(server.url) as life:
            refused = await life.state(LinkState.REFUSED)
            assert refused.reason == (
                "The server speaks version 2 of the protocol, this client 1 to 1: "
                "update the older one."
            )


async def test_a_busy_server_says_itself_when_to_come_again() -> None:
    async def busy(wire: Wire) -> None:
        await wire.say(Error("too_many", "Too many are here.", fatal=True, retry_ms=20))

    async with ServerDouble(steps(busy, stay)) as server, living(server.url) as life:
        waiting = await life.state(LinkState.WAITING)
        assert (waiting.reason, waiting.retry_s) == ("Too many are here.", 0.02)
        await life.state(LinkState.UP)


@pytest.mark.parametrize(
    "said",
    ["no json", "[1]", '{"t":"bye"}', "x" * 70_000, b"\0", '{"t":"welcome"}'],
    ids=["text", "list", "bye", "oversized", "binary", "half a welcome"],
)
async def test_garbage_instead_of_a_welcome_is_told_and_not_believed(said: str | bytes) -> None:
    async def garbage(socket: ServerConnection) -> None:
        await socket.recv()
        with suppress(Exception):
            await socket.send(said)
            await socket.wait_closed()

    async with serve(garbage, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with living(f"ws://127.0.0.1:{port}/ws") as life:
            waiting = await life.state(LinkState.WAITING)
            assert waiting.reason
            assert "\n" not in waiting.reason
            assert waiting.retry_s is not None
            assert waiting.retry_s >= 0.5


@pytest.mark.parametrize("said", ["no json", "x" * 70_000, b"\1", '{"t":"a"' + "[" * 99])
async def test_garbage_in_the_middle_ends_the_connection_and_it_is_taken_up_again(
    said: str | bytes,
) -> None:
    async def garbage(wire: Wire) -> None:
        with suppress(Exception):
            await wire.socket.send(said)
            await stay(wire)

    async with ServerDouble(garbage) as server, living(server.url) as life:
        await life.state(LinkState.UP)
        waiting = await life.state(LinkState.WAITING)
        assert waiting.reason


@asynccontextmanager
async def greeted_by(said: bytes) -> AsyncIterator[str]:
    """Where somebody answers whoever comes with these bytes, and hangs up."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/ws"


async def test_something_that_is_no_websocket_is_no_sayso_server() -> None:
    refusal = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    async with greeted_by(refusal) as url, living(url) as life:
        waiting = await life.state(LinkState.WAITING)
        assert "is not a Sayso server (HTTP 404)" in waiting.reason


@pytest.mark.parametrize("said", [b"", b"HT", b"HTTP/1.1 101 Switching Protocols\r\nUpgr"])
async def test_a_line_that_breaks_in_the_greeting_is_only_cut(said: bytes) -> None:
    async with greeted_by(said) as url, living(url) as life:
        waiting = await life.state(LinkState.WAITING)
        assert "cut" in waiting.reason
        assert waiting.retry_s is not None
        assert waiting.retry_s < 1.0


async def test_an_address_that_is_none_is_told() -> None:
    async with living("http://127.0.0.1:1/ws") as life:
        refused = await life.state(LinkState.REFUSED)
        assert "is not an address" in refused.reason


async def test_a_clock_that_is_wrong_is_called_that_and_no_foreign_server(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    authority = identity(tmp_path, (), now).authority
    late = identity(tmp_path, (), now - timedelta(days=400)).context
    trusted = ssl.create_default_context(cadata=authority)
    async with serve(lambda socket: socket.close(), "127.0.0.1", 0, ssl=late) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        url = f"wss://127.0.0.1:{port}/ws"
        link = Link(url, HELLO, lambda: TOKEN, lambda: trusted)
        running = asyncio.create_task(link.run())
        async with asyncio.timeout(SOON):
            async for event in link.events():
                if isinstance(event, LinkChange) and event.reason:
                    break
        assert isinstance(event, LinkChange)
        assert "set the clock that is wrong" in event.reason
        await link.close()
        await running
