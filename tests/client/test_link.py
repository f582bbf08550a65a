"""The line to the server: kept up, taken up again, refused in one sentence."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
from websockets.asyncio.server import ServerConnection, serve

from sayso.audio.pcm import FRAME_BYTES, FRAME_SAMPLES
from sayso.client.link import Link, LinkChange, LinkEvent, LinkState
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import (
    AudioAck,
    Bye,
    Error,
    Hello,
    ListenStart,
    ListenStop,
    Ping,
    PlayState,
    Pong,
    ReplyDelta,
    SttFinal,
    Text,
    Welcome,
)
from sayso.protocol.version import SPOKEN
from tests.client.server_double import TOKEN, ServerDouble, Wire, stay

HELLO = Hello(SPOKEN, "test 1", "desk", ("resume",))
SOON = 5.0
"""Seconds within which everything here must happen; it takes milliseconds."""


@dataclass
class Life:
    """A link, its task, and what came out of it."""

    link: Link
    events: list[LinkEvent] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(SOON):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    async def state(self, state: LinkState) -> LinkChange:
        """Waits for a change to this state that nobody has waited for yet."""
        await self.until(lambda: any(change.state is state for change in self.changes))
        at = next(n for n, e in enumerate(self.events) if e in self.changes and e.state is state)  # type: ignore[union-attr]
        change = self.events[at]
        del self.events[: at + 1]
        assert isinstance(change, LinkChange)
        return change

    @property
    def changes(self) -> list[LinkChange]:
        return [event for event in self.events if isinstance(event, LinkChange)]

    @property
    def messages(self) -> list[object]:
        return [event.message for event in self.events if isinstance(event, Envelope)]


@asynccontextmanager
async def living(url: str, token: str | None = TOKEN) -> AsyncIterator[Life]:
    life = Life(Link(url, HELLO, lambda: token))

    async def follow() -> None:
        async for event in life.link.events():
            life.events.append(event)
            life.changed.set()

    tasks = [asyncio.create_task(life.link.run()), asyncio.create_task(follow())]
    try:
        yield life
    finally:
        await life.link.close()
        async with asyncio.timeout(SOON):
            await asyncio.gather(*tasks)


def steps(*steps: Callable[[Wire], Awaitable[None]]) -> Callable[[Wire], Awaitable[None]]:
    """A server that does something else in each connection; the last one again and again."""
    left = list(steps)

    async def script(wire: Wire) -> None:
        step = left.pop(0) if len(left) > 1 else left[0]
        await step(wire)

    return script


async def break_off(wire: Wire) -> None:
    wire.socket.transport.abort()


async def test_it_shows_the_token_and_greets() -> None:
    async with ServerDouble(stay) as server, living(server.url) as life:
        up = await life.state(LinkState.UP)
        assert up.session == "first"
        assert up.welcome is not None
        assert up.welcome.server == "double 1"
        assert server.headers[0]["Authorization"] == f"Bearer {TOKEN}"
        assert server.hellos == [HELLO]


async def test_what_the_server_says_comes_in_order() -> None:
    async def script(wire: Wire) -> None:
        await wire.say(ReplyDelta("a"), ReplyDelta("b"))
        await wire.socket.send(AudioFrame(1, 0, 0, b"\1\0").pack())
        await stay(wire)

    async with ServerDouble(script) as server, living(server.url) as life:
        await life.until(lambda: len(life.events) == 6)
        assert life.events[3:] == [
            Envelope(ReplyDelta("a"), 1, 0, 0),
            Envelope(ReplyDelta("b"), 2, 0, 0),
            AudioFrame(1, 0, 0, b"\1\0"),
        ]


async def test_what_a_newer_server_says_is_ignored() -> None:
    async def script(wire: Wire) -> None:
        await wire.socket.send('{"t":"dream.start","seq":1,"of":"sheep"}')
        await wire.socket.send('{"t":"reply.delta","seq":2,"text":7}')
        await wire.socket.send(b"\x09" + bytes(11))
        await wire.socket.send('{"t":"reply.delta","seq":3,"text":"a","colour":"red"}')
        await stay(wire)

    async with ServerDouble(script) as server, living(server.url) as life:
        await life.until(lambda: life.messages)
        assert life.messages == [ReplyDelta("a")]
        assert life.link.state is LinkState.UP


async def test_a_ping_is_answered_and_not_shown() -> None:
    answered = asyncio.Event()

    async def script(wire: Wire) -> None:
        await wire.socket.send(encode(Envelope(Ping(77))))
        assert await wire.hear() == Pong(77)
        answered.set()
        await stay(wire)

    async with ServerDouble(script) as server, living(server.url) as life:
        async with asyncio.timeout(SOON):
            await answered.wait()
        assert life.messages == []


async def test_after_a_cut_the_session_is_taken_up_where_it_was() -> None:
    async def answers(wire: Wire) -> None:
        await wire.say(ReplyDelta("a"), ReplyDelta("b"))
        assert await wire.hear() == Text("seen")
        await break_off(wire)

    async def replays(wire: Wire) -> None:
        await wire.say(ReplyDelta("a"), ReplyDelta("b"), ReplyDelta("c"))
        await stay(wire)

    async with ServerDouble(steps(answers, replays)) as server:
        server.welcome = lambda hello: Welcome(
            1, "double", "s1", "ok" if hello.session == "s1" else "new", last_seq=0
        )
        async with living(server.url) as life:
            await life.state(LinkState.UP)
            life.link.send(Text("seen"))
            up = await life.state(LinkState.UP)
            assert up.session == "resumed"
            await life.until(lambda: ReplyDelta("c") in life.messages)
            assert life.messages == [ReplyDelta("c")]
            assert (server.hellos[1].session, server.hellos[1].last_seq) == ("s1", 2)


async def test_speech_that_was_cut_off_is_sent_again_without_a_gap() -> None:
    heard: list[AudioFrame] = []

    async def half(wire: Wire) -> None:
        assert await wire.hear() == ListenStart("ptt", 1)
        for _ in range(5):
            await wire.hear()
        await wire.say(AudioAck(1, 3 * FRAME_SAMPLES))
        assert await wire.hear() == Text("acknowledged")
        await break_off(wire)

    async def rest(wire: Wire) -> None:
        wire.seq = 10
        while not isinstance(message := await wire.hear(), ListenStop):
            assert isinstance(message, AudioFrame)
            heard.append(message)
        while len(heard) < 8:
            message = await wire.hear()
            assert isinstance(message, AudioFrame)
            heard.append(message)
        await wire.say(SttFinal("whole"))
        await stay(wire)

    async with ServerDouble(steps(half, rest)) as server:
        server.welcome = lambda hello: Welcome(
            1, "double", "s1", "ok" if hello.session else "new", last_seq=2 if hello.session else 0
        )
        async with living(server.url) as life:
            life.link.send(ListenStart("ptt", 1))
            life.link.send_audio(1, bytes(5 * FRAME_BYTES))
            await life.until(lambda: any(isinstance(m, AudioAck) for m in life.messages))
            life.link.send(Text("acknowledged"))
            await life.state(LinkState.WAITING)
            life.link.send_audio(1, bytes(6 * FRAME_BYTES))
            life.link.send(ListenStop(1, 11 * FRAME_SAMPLES))
            await life.until(lambda: SttFinal("whole") in life.messages)
    assert [frame.seq for frame in heard] == list(range(3, 11))


async def test_a_server_that_began_anew_hears_the_whole_utterance_again() -> None:
    counts: list[int] = []
    twice = asyncio.Event()

    async def hears(wire: Wire) -> None:
        frames = 0
        while not isinstance(await wire.hear(), ListenStart):
            pass
        while frames < 4:
            frames += isinstance(await wire.hear(), AudioFrame)
        counts.append(frames)
        if len(counts) == 1:
            await wire.say(AudioAck(1, 4 * FRAME_SAMPLES))
            assert await wire.hear() == Text("acted upon")
            await break_off(wire)
        else:
            twice.set()
        await stay(wire)

    async with ServerDouble(hears) as server, living(server.url) as life:
        life.link.send(ListenStart("ptt", 1))
        life.link.send_audio(1, bytes(4 * FRAME_BYTES))
        await life.until(lambda: any(isinstance(m, AudioAck) for m in life.messages))
        life.link.send(Text("acted upon"))
        await life.state(LinkState.WAITING)
        up = await life.state(LinkState.UP)
        assert up.session == "anew"
        assert up.lost == (Text("acted upon"),)
        async with asyncio.timeout(SOON):
            await twice.wait()
    assert counts == [4, 4]


async def test_a_server_that_comes_back_is_found_within_a_second() -> None:
    async with ServerDouble(stay) as server, living(server.url) as life:
        await life.state(LinkState.UP)
        await server.stop()
        await life.until(lambda: len(life.changes) > 6)
        life.events.clear()
        await server.start_again()
        async with asyncio.timeout(1.0):
            await life.until(lambda: life.link.state is LinkState.UP)


async def test_when_nobody_answers_it_says_how_to_start_a_server() -> None:
    async with ServerDouble(stay) as server:
        url = server.url
    async with living(url) as life:
        waiting = await life.state(LinkState.WAITING)
        assert waiting.reason == f"No Sayso server answers at {url}: start it with `sayso serve`."
        assert waiting.retry_s is not None


async def test_what_is_said_while_the_server_is_away_is_sent_when_it_is_there() -> None:
    heard: asyncio.Queue[object] = asyncio.Queue()

    async def script(wire: Wire) -> None:
        while True:
            heard.put_nowait(await wire.hear())

    server = ServerDouble(script)
    async with server:
        pass
    async with living(server.url) as life:
        await life.state(LinkState.WAITING)
        life.link.send(Text("are you there?"))
        async with server:
            async with asyncio.timeout(SOON):
                assert await heard.get() == Text("are you there?")


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
                if isinstance(event, LinkChange) and event.state is LinkState.UP:
                    break
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


async def test_something_that_is_no_websocket_is_no_sayso_server() -> None:
    async def chat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(chat, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with living(f"ws://127.0.0.1:{port}/ws") as life:
            waiting = await life.state(LinkState.WAITING)
            assert "is not a Sayso server (HTTP 404)" in waiting.reason


async def test_an_address_that_is_none_is_told() -> None:
    async with living("http://127.0.0.1:1/ws") as life:
        refused = await life.state(LinkState.REFUSED)
        assert "is not an address" in refused.reason


async def test_leaving_sends_what_waits_and_says_goodbye() -> None:
    heard: list[object] = []
    left = asyncio.Event()

    async def script(wire: Wire) -> None:
        while not isinstance(message := await wire.hear(), Bye):
            heard.append(message)
        left.set()

    async with ServerDouble(script) as server:
        async with living(server.url) as life:
            await life.state(LinkState.UP)
            life.link.send(Text("last words"))
            life.link.send(PlayState(1, 5, done=True))
        assert life.changes[-1].state is LinkState.CLOSED
        async with asyncio.timeout(SOON):
            await left.wait()
    assert heard == [Text("last words"), PlayState(1, 5, done=True)]
