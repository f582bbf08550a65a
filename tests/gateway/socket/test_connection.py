"""What a welcomed client may send, what it is answered, and what it is sent."""

import asyncio

import pytest

from sayso.protocol import messages as m
from sayso.protocol.codec import decode
from sayso.protocol.frames import AudioFrame, unpack
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.limits import Limits
from sayso.server.turn import events
from sayso.server.turn.effects import Send
from sayso.server.turn.events import Ticket
from tests.gateway.running_gateway import (
    TOKEN,
    WAIT_S,
    close_code,
    hear,
    hear_envelope,
    open_gateway,
    say,
)

TICKET = Ticket(3, 1)


async def test_a_client_joins_and_leaves_under_its_own_name() -> None:
    async with open_gateway() as gateway:
        async with gateway.client(device="kitchen"):
            assert gateway.joined == [events.Joined("kitchen", True, 0.8, 8_192, at_console=True)]
        async with gateway.client(device="kitchen"):
            assert gateway.left == ["kitchen"]


async def test_who_waited_in_vain_for_the_server_to_be_ready_is_not_there_when_it_is() -> None:
    async with open_gateway() as gateway:
        async with gateway.getting_ready, gateway.stranger(token=TOKEN) as socket:
            await say(socket, m.Hello(SPOKEN, "test 1", device="early"))
        async with gateway.client(device="late"):
            assert [device.device for device in gateway.joined] == ["late"]


async def test_two_clients_of_one_name_are_told_apart() -> None:
    async with (
        open_gateway() as gateway,
        gateway.client(device="kitchen"),
        gateway.client(device="kitchen"),
    ):
        assert [j.device for j in gateway.joined] == ["kitchen", "kitchen 2"]


async def test_messages_and_audio_become_events() -> None:
    async with open_gateway() as gateway, gateway.client(device="desk") as socket:
        await say(socket, m.ListenStart("ptt", 1))
        await socket.send(AudioFrame(1, 0, 0, b"\1\0" * 320).pack())
        await say(socket, m.ListenStop(1, 320))
        await say(socket, m.Text("  hello "))
        await say(socket, m.Approve("a", "n", "edit", "print(1)"))
        got = [await gateway.next_event() for _ in range(5)]
        assert got == [
            events.ListenStarted("desk", 1),
            events.AudioHeard("desk", 1, 0, b"\1\0" * 320),
            events.ListenStopped("desk", 1, 320),
            events.Typed("desk", "hello"),
            events.ApprovalAnswered("desk", "a", "n", "edit", "print(1)"),
        ]


async def test_a_ping_is_answered() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await say(socket, m.Ping(7))
        assert await hear(socket) == m.Pong(7)


async def test_unknown_messages_are_ignored() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await socket.send('{"t":"dance","step":1}')
        await say(socket, m.Ping(1))
        assert await hear(socket) == m.Pong(1)


async def test_a_wrong_field_is_complained_about_and_the_connection_goes_on() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await socket.send('{"t":"text","text":5}')
        complaint = await hear(socket)
        assert isinstance(complaint, m.Error)
        assert (complaint.code, complaint.fatal) == ("invalid", False)
        await say(socket, m.Ping(1))
        assert await hear(socket) == m.Pong(1)


async def test_endless_wrong_messages_end_the_connection() -> None:
    async with open_gateway(Limits(complaints=3)) as gateway, gateway.client() as socket:
        for _ in range(4):
            await socket.send('{"t":"text","text":5}')
        assert await close_code(socket) == 1008


@pytest.mark.parametrize(
    ("garbage", "code"),
    [
        ("not json", 1007),
        ("[1,2]", 1007),
        ('{"t":"text","text":"' + "x" * 70_000 + '"}', 1009),
        (b"\x01", 1007),
        (b"\x01" + bytes(9_000), 1009),
    ],
)
async def test_garbage_closes_the_connection_with_its_code(garbage: str | bytes, code: int) -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await socket.send(garbage)
        assert await close_code(socket) == code
        assert (await gateway.get("/ping"))[1] == "pong"


@pytest.mark.parametrize("early", ['{"t":"text","text":"hi"}', b"\x01\x00" + bytes(10)])
async def test_nothing_may_come_before_the_hello(early: str | bytes) -> None:
    async with open_gateway() as gateway, gateway.stranger() as socket:
        await socket.send(early)
        assert await close_code(socket) == 1002
        assert not gateway.joined


async def test_a_second_hello_is_out_of_order() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await socket.send('{"t":"hello","protocol":{"min":1,"max":1},"client":"x"}')
        complaint = await hear(socket)
        assert isinstance(complaint, m.Error)
        assert complaint.code == "out_of_order"


async def test_what_is_for_servers_to_send_is_out_of_order() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await say(socket, m.ReplyDelta("I am the server"))
        complaint = await hear(socket)
        assert isinstance(complaint, m.Error)
        assert complaint.code == "out_of_order"


async def test_a_goodbye_ends_the_connection() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await say(socket, m.Bye())
        assert await close_code(socket) == 1000


async def test_messages_are_numbered_in_the_order_of_sending() -> None:
    async with open_gateway() as gateway, gateway.client(device="desk") as socket:
        outlet = gateway.outlets["desk"]
        outlet.tell(m.ReplyDelta("a"), TICKET)
        outlet.tell(m.SttFinal("b"), TICKET)
        first, second = await hear_envelope(socket), await hear_envelope(socket)
        assert (first.message, first.seq) == (m.SttFinal("b"), 1)
        assert (second.message, second.seq) == (m.ReplyDelta("a"), 2)
        assert (first.turn, first.gen) == (3, 1)


async def test_an_interruption_drops_the_speech_that_waits() -> None:
    async with open_gateway() as gateway, gateway.client(device="desk") as socket:
        outlet = gateway.outlets["desk"]
        for first in range(0, 4_000, 400):
            outlet.send(Send("desk", 1, first, bytes(800), False))
        outlet.tell(m.SpeechStop(1, "interrupted"), TICKET)
        assert await hear(socket) == m.SpeechStop(1, "interrupted")
        outlet.tell(m.ReplyDelta("next"), TICKET)
        assert await hear(socket) == m.ReplyDelta("next")


async def test_speech_leaves_in_numbered_frames() -> None:
    async with open_gateway() as gateway, gateway.client(device="desk") as socket:
        outlet = gateway.outlets["desk"]
        outlet.send(Send("desk", 1, 0, bytes(800), False))
        outlet.send(Send("desk", 1, 400, bytes(800), True))
        async with asyncio.timeout(WAIT_S):
            frames = [unpack(await socket.recv()) for _ in range(2)]  # type: ignore[arg-type]
        assert [(f.seq, f.first_sample, f.last) for f in frames] == [(0, 0, False), (1, 400, True)]


async def test_a_client_is_sent_only_what_it_wants() -> None:
    async with (
        open_gateway() as gateway,
        gateway.client(device="led", wants=("turn.state",)) as socket,
    ):
        assert not gateway.joined[0].speaks
        outlet = gateway.outlets["led"]
        outlet.tell(m.ReplyDelta("text"), TICKET)
        outlet.tell(m.TurnState("idle", "idle", "silent"), TICKET)
        assert await hear(socket) == m.TurnState("idle", "idle", "silent")


async def test_long_output_is_cut_to_fit_a_small_device() -> None:
    small = m.Limits(max_text_bytes=4_096)
    async with open_gateway() as gateway, gateway.client(device="badge", limits=small) as socket:
        text = "é\n" * 10_000
        gateway.outlets["badge"].tell(m.CodeOut("1", "stdout", text=text), TICKET)
        got = ""
        while len(got) < len(text):
            async with asyncio.timeout(WAIT_S):
                frame = await socket.recv()
            assert len(str(frame).encode()) <= 4_096
            piece = decode(frame).message
            assert isinstance(piece, m.CodeOut)
            got += piece.text
        assert got == text


async def test_code_that_a_device_cannot_show_whole_is_not_put_to_it() -> None:
    small = m.Limits(max_text_bytes=4_096)
    async with open_gateway() as gateway, gateway.client(device="badge", limits=small) as socket:
        outlet = gateway.outlets["badge"]
        outlet.tell(m.ApprovalRequest("1", "n", "python", "x" * 5_000, "/work"), TICKET)
        outlet.tell(m.ReplyDelta("next"), TICKET)
        assert await hear(socket) == m.ReplyDelta("next")


async def test_a_client_that_never_reads_is_dropped_and_its_memory_freed() -> None:
    limits = Limits(outgoing_bytes=500_000, send_s=0.5)
    async with open_gateway(limits) as gateway, gateway.client(device="wall") as socket:
        socket.transport.pause_reading()
        outlet = gateway.outlets["wall"]
        for _ in range(400):
            outlet.tell(m.ReplyDelta("x" * 30_000), TICKET)
        async with asyncio.timeout(WAIT_S):
            await gateway.somebody_left.wait()
        socket.transport.abort()
        assert (await gateway.get("/ping"))[1] == "pong"


async def test_a_text_that_is_too_long_is_refused_and_the_connection_goes_on() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await say(socket, m.Text("x" * 20_000))
        complaint = await hear(socket)
        assert isinstance(complaint, m.Error)
        assert (complaint.code, complaint.fatal) == ("invalid", False)
        await say(socket, m.Text("  "))
        await say(socket, m.Ping(1))
        assert await hear(socket) == m.Pong(1)
        assert gateway.events.empty()


async def test_listening_in_a_way_that_was_not_announced_is_out_of_order() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await say(socket, m.ListenStart("hands_free", 1))
        complaint = await hear(socket)
        assert isinstance(complaint, m.Error)
        assert (complaint.code, complaint.fatal) == ("out_of_order", False)
