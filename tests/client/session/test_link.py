"""The link to the server is kept up, resumed after a cut, and closed in order."""

import asyncio

import pytest

from sayso.audio.pcm import FRAME_BYTES, FRAME_SAMPLES
from sayso.client.session.link_events import LinkState
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import (
    Announce,
    ApprovalDone,
    AudioAck,
    Bye,
    FromServer,
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
from tests.client.link_life import HELLO, SOON, break_off, living, steps
from tests.client.server_double import TOKEN, ServerDouble, Wire, stay


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


@pytest.mark.parametrize(
    ("told", "lost"),
    [
        (Announce("It is ten.", answers=True), 0),
        (Announce("The tea is ready."), 1),
        (ApprovalDone("q", "yes", "desk"), 1),
    ],
)
async def test_only_what_was_answered_counts_as_arrived(told: FromServer, lost: int) -> None:
    heard: list[object] = []

    async def hears(wire: Wire) -> None:
        if not heard:
            heard.append(await wire.hear())
            await wire.say(told)
            await break_off(wire)
        await stay(wire)

    async with ServerDouble(hears) as server, living(server.url) as life:
        life.link.send(Text("what time is it"))
        await life.state(LinkState.WAITING)
        up = await life.state(LinkState.UP)
        assert (up.session, len(up.lost)) == ("anew", lost)


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
        waits = [change.retry_s for change in life.changes if change.state is LinkState.WAITING]
        assert 0 < max(wait for wait in waits if wait is not None) < 1
        life.events.clear()
        await server.start_again()
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


async def test_a_server_that_hangs_up_at_our_goodbye_is_not_called_again() -> None:
    async def script(wire: Wire) -> None:
        while not isinstance(await wire.hear(), Bye):
            pass
        wire.socket.transport.abort()

    async with ServerDouble(script) as server:
        async with living(server.url) as life:
            await life.state(LinkState.UP)
            # The goodbye overtakes all this speech, so the server hangs up while we still send.
            life.link.send(ListenStart("ptt", 1))
            life.link.send_audio(1, bytes(20_000 * FRAME_BYTES))
        assert [change.state for change in life.changes] == [LinkState.CLOSED]
        assert len(server.hellos) == 1


async def test_other_wishes_are_told_in_a_new_greeting_and_the_session_goes_on() -> None:
    async with ServerDouble(stay) as server, living(server.url) as life:
        life.link.want(())
        await life.state(LinkState.UP)
        life.link.want(("speech.start",))
        up = await life.state(LinkState.UP)
        assert up.session != "first"
        assert [hello.wants for hello in server.hellos] == [(), ("speech.start",)]
        assert server.hellos[1].session == "s1"
        assert LinkState.WAITING not in [change.state for change in life.changes]


@pytest.mark.slow
async def test_wishes_that_come_with_the_goodbye_do_not_call_the_server_again() -> None:
    left = asyncio.Event()

    async def script(wire: Wire) -> None:
        while not isinstance(await wire.hear(), Bye):
            pass
        left.set()

    async with ServerDouble(script) as server:
        async with living(server.url) as life:
            await life.state(LinkState.UP)
            # The goodbye overtakes all this speech, so there is still something to send after it.
            life.link.send(ListenStart("ptt", 1))
            life.link.send_audio(1, bytes(20_000 * FRAME_BYTES))
            leaving = asyncio.create_task(life.link.close())
            await asyncio.sleep(0)
            life.link.want(("speech.start",))
            await leaving
            async with asyncio.timeout(SOON):
                await left.wait()
        assert [change.state for change in life.changes] == [LinkState.CLOSED]
        assert len(server.hellos) == 1
