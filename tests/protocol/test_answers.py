"""SPEC.md's answers to wrong input that no other room's tests prove, put to the real server."""

import asyncio
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection

from sayso.protocol import messages as m
from sayso.protocol.frames import AudioFrame
from sayso.server.agent.events import ApprovalDone, ApprovalRequest
from sayso.server.agent.permissions.approvals import Approvals, Proposal
from sayso.server.agent.record.journal import Journal
from sayso.server.gateway.socket.translate import event_of, heard
from sayso.server.store.event_log import EventLog
from sayso.server.turn.effects import Effect, Feed
from sayso.server.turn.events import Joined
from sayso.server.turn.machine import TurnMachine
from tests.gateway.running_gateway import close_code, hear, open_gateway, say

DESK = "desk"


class Server:
    """A turn machine, and the way from the wire to it."""

    def __init__(self) -> None:
        self._machine = TurnMachine()
        self._machine.handle(Joined(DESK), 0.0)

    def take(self, said: m.FromClient | AudioFrame) -> list[Effect]:
        """What a message or a frame makes the server do."""
        event = heard(DESK, said) if isinstance(said, AudioFrame) else event_of(DESK, said)
        return [] if event is None else self._machine.handle(event, 0.0)

    def fed(self, frame: AudioFrame) -> bytes:
        """What a frame adds to the utterance."""
        return b"".join(e.pcm for e in self.take(frame) if isinstance(e, Feed))


async def goes_on(socket: ClientConnection) -> bool:
    """Whether the connection is alive, and nothing was said before."""
    await say(socket, m.Ping(99))
    return await hear(socket) == m.Pong(99)


async def test_text_that_is_not_utf_8_closes_the_connection() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await socket.send(b'{"t":"text","text":"\xff"}', text=True)
        assert await close_code(socket) == 1007


async def test_a_message_in_fragments_is_one_message() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await socket.send(['{"t":"pi', 'ng","id', '":5}'])
        assert await hear(socket) == m.Pong(5)


async def test_a_pong_that_nobody_asked_for_is_ignored() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await say(socket, m.Pong(3))
        assert await goes_on(socket)


async def test_settings_that_were_not_announced_are_ignored() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await say(socket, m.Settings({"voice": "joe"}))
        assert await goes_on(socket)
        assert gateway.events.empty()


async def test_an_error_from_a_client_is_ignored() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        await say(socket, m.Error("internal", "The loudspeaker is gone."))
        assert await goes_on(socket)


def test_half_a_sample_is_dropped() -> None:
    server = Server()
    server.take(m.ListenStart("ptt", 1))
    assert server.fed(AudioFrame(1, 0, 0, b"\1\2\3\4\5")) == b"\1\2\3\4"
    assert server.fed(AudioFrame(1, 1, 2, b"\6\7")) == b"\6\7"


def test_an_empty_frame_adds_nothing() -> None:
    server = Server()
    server.take(m.ListenStart("ptt", 1))
    assert server.fed(AudioFrame(1, 0, 0, b"")) == b""
    assert server.fed(AudioFrame(1, 1, 0, b"\1\2")) == b"\1\2"


def test_sound_that_belongs_to_no_utterance_is_ignored() -> None:
    server = Server()
    frame = AudioFrame(1, 0, 0, bytes(640))
    assert server.take(frame) == []
    server.take(m.ListenStart("ptt", 1))
    server.take(m.ListenCancel(1))
    assert server.take(frame) == []


def test_what_comes_too_late_is_ignored() -> None:
    server = Server()
    assert server.take(m.ListenStop(1, 3_200)) == []
    assert server.take(m.ListenCancel(1)) == []
    assert server.take(m.PlayState(1, 3_200)) == []
    assert server.take(m.PlayState(1, 3_200, done=True)) == []
    assert server.take(m.Interrupt(1, 3_200)) == []


@pytest.mark.virtual_time
async def test_an_approval_counts_once_in_time_and_for_what_was_asked(tmp_path: Path) -> None:
    log = await EventLog.open(tmp_path / "log.db")
    desk = Approvals(await Journal.open(log, "main"), expires_s=60.0)
    told: asyncio.Queue[ApprovalRequest | ApprovalDone] = asyncio.Queue()
    request = Proposal("r1", "python", "print(1)", "/work", ("no network",))
    try:
        async with asyncio.TaskGroup() as tasks:
            ruling = tasks.create_task(desk.ask(request, told.put))
            first = await told.get()
            assert isinstance(first, ApprovalRequest)
            assert not desk.answer(first.id, "another nonce", "yes", None, DESK)
            assert not desk.answer("another request", first.nonce, "yes", None, DESK)
            assert desk.answer(first.id, first.nonce, "no", None, DESK)
            assert not desk.answer(first.id, first.nonce, "yes", None, DESK)
        assert ruling.result().decision == "no"
        assert await told.get() == ApprovalDone(first.id, "no", DESK)
        async with asyncio.TaskGroup() as tasks:
            ruling = tasks.create_task(desk.ask(request, told.put))
            second = await told.get()
            assert isinstance(second, ApprovalRequest)
            assert not desk.answer(second.id, first.nonce, "yes", None, DESK)
        assert ruling.result().decision == "expired"
        assert not desk.answer(second.id, second.nonce, "yes", None, DESK)
    finally:
        await log.close()
