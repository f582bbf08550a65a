"""Talking without a key, from the microphone to the line."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest

from sayso.audio.devices.microphone import DeviceChange
from sayso.audio.devices.speaker import DUCKED, FileSpeaker
from sayso.audio.pcm import FRAME_SAMPLES, RATE, silence
from sayso.audio.playback_reference import Heard
from sayso.audio.wav import read_speech
from sayso.client.errors import TurnFailed
from sayso.client.listening.hands_free import TOO_OLD, HandsFree
from sayso.client.listening.wake_gate import WakeGate
from sayso.client.session.outbox import Outbox
from sayso.client.session.session import Session
from sayso.client.session.turn_state import ClientTurn, Drop, Duck, Send, SendAudio
from sayso.client.terminal.events import HandsFree as Told
from sayso.client.terminal.events import Notice
from sayso.protocol.codec import Envelope
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import (
    ListenCancel,
    ListenEnd,
    ListenStart,
    Message,
    SpeechStart,
    SpeechStop,
    SttFinal,
    TurnState,
    Welcome,
)
from tests.client.listening.test_wake_gate import QUIET, VOICE, WORD, ToldGate, ToldSpotter
from tests.client.server_double import Script, Wire, stay
from tests.client.session.test_session import SOON, Notes, talking

READY = Welcome(1, "double", "s" * 16, features=("hands_free",))
OLD = Welcome(1, "double", "s" * 16, features=("ptt",))


class Bench:
    """A microphone that gives what is put on it, and knows whether it is open."""

    name = "bench"

    def __init__(self) -> None:
        self.queue: asyncio.Queue[bytes | DeviceChange | None] = asyncio.Queue()
        self.opened = 0
        self.open = False
        self.closed = asyncio.Event()

    async def frames(self) -> AsyncGenerator[bytes | DeviceChange, None]:
        self.opened += 1
        self.open = True
        try:
            while (frame := await self.queue.get()) is not None:
                yield frame
        finally:
            self.open = False
            self.closed.set()

    def hears(self, *frames: bytes) -> None:
        for frame in frames:
            self.queue.put_nowait(frame)


@contextlib.asynccontextmanager
async def listening(
    script: Script, welcome: Welcome = READY
) -> AsyncIterator[tuple[HandsFree, Session, Bench, Notes]]:
    async with talking(script, welcome=welcome) as (session, notes):
        ear = WakeGate(ToldGate(), ToldSpotter(), lambda frame: Heard(frame, frame), "cancelled")
        hands_free, bench = HandsFree(session, ear), Bench()
        await notes.until(lambda: session.features)
        task = asyncio.create_task(hands_free.listen(bench))
        try:
            yield hands_free, session, bench, notes
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def states(notes: Notes) -> list[str]:
    return [seen.state for seen in notes.seen if isinstance(seen, Told)]


async def test_only_what_follows_the_wake_word_leaves_until_the_server_has_enough() -> None:
    heard: list[Message | AudioFrame] = []

    async def script(wire: Wire) -> None:
        heard.extend([await wire.hear() for _ in range(4)])
        await wire.say(ListenEnd(1, 960, "ended"), SttFinal("what is it"))
        await stay(wire)

    async with listening(script) as (_, session, bench, notes):
        bench.hears(*[VOICE] * 100, WORD, VOICE, QUIET)
        await notes.until(lambda: SttFinal("what is it") in notes.messages)
        assert not session.client_turn.listening
        bench.hears(*[VOICE] * 20)
        await notes.until(lambda: states(notes)[-1] == "waiting")
    start, *sound = heard
    assert start == ListenStart(
        "hands_free", 1, pre_roll=FRAME_SAMPLES, question="", addressed=True
    )
    assert [frame.payload for frame in sound if isinstance(frame, AudioFrame)][1:] == [VOICE, QUIET]
    assert states(notes)[:2] == ["waiting", "listening"]


async def test_while_a_question_waits_its_open_stream_is_no_speech() -> None:
    async def script(wire: Wire) -> None:
        await wire.say(
            SpeechStart(1, RATE, "May I run this?"),
            TurnState("idle", "awaiting_approval", "speaking"),
        )
        await wire.socket.send(AudioFrame(1, 0, 0, silence(RATE // 10), last=False).pack())
        await wire.say(TurnState("idle", "awaiting_approval", "silent"))
        await stay(wire)

    async with listening(script) as (_, session, bench, notes):
        await notes.until(lambda: session.client_turn.asks)
        bench.hears(QUIET)
        await notes.until(lambda: "speaking" in states(notes))
        async with asyncio.timeout(SOON):
            while states(notes)[-1] != "inviting":
                bench.hears(QUIET)
                await asyncio.sleep(0.01)
        assert not session.silent, "more of the answer comes later"


@pytest.mark.slow
async def test_over_work_a_voice_counts_as_not_addressed() -> None:
    heard: list[ListenStart] = []

    async def script(wire: Wire) -> None:
        await wire.say(TurnState("idle", "acting", "silent"))
        heard.append(await wire.hear())  # type: ignore[arg-type]
        await stay(wire)

    async with talking(script, welcome=READY) as (session, notes):
        ear = WakeGate(ToldGate(), None, lambda frame: Heard(frame, frame), "cancelled")
        await notes.until(lambda: session.client_turn.turn.work == "acting")
        bench = Bench()
        bench.hears(*[VOICE] * 50)
        task = asyncio.create_task(HandsFree(session, ear).listen(bench))
        await notes.until(lambda: heard)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert heard[0].addressed is False


async def test_muting_closes_the_microphone_and_takes_back_what_was_being_said() -> None:
    cancelled = asyncio.Event()

    async def script(wire: Wire) -> None:
        while await wire.hear() != ListenCancel(1):
            pass
        cancelled.set()
        await stay(wire)

    async with listening(script) as (hands_free, session, bench, notes):
        bench.hears(WORD)
        await notes.until(lambda: session.client_turn.listening)
        assert bench.open
        hands_free.mute(on=True)
        await notes.until(lambda: states(notes)[-1] == "muted")
        async with asyncio.timeout(SOON):
            await bench.closed.wait()
            await cancelled.wait()
        assert hands_free.muted
        hands_free.mute(on=False)
        bench.hears(QUIET)
        await notes.until(lambda: states(notes)[-1] == "waiting")
        assert bench.open
        assert bench.opened == 2


async def test_a_server_that_cannot_is_told_of_once_it_matters() -> None:
    async with listening(stay, OLD) as (_, session, bench, notes):
        bench.hears(WORD)
        await notes.until(lambda: Notice(TOO_OLD) in notes.seen)
        assert not session.client_turn.listening


async def test_a_recording_without_the_wake_word_is_no_question() -> None:
    async with talking(stay, welcome=READY) as (session, notes):
        ear = WakeGate(ToldGate(), ToldSpotter(), lambda frame: Heard(frame, frame), "headphones")
        await notes.until(lambda: session.features)
        bench = Bench()
        bench.hears(VOICE, VOICE)
        bench.queue.put_nowait(None)
        with pytest.raises(TurnFailed, match="wake word was not heard"):
            await HandsFree(session, ear).once(bench)


async def test_after_a_recording_silence_goes_on_until_the_server_has_found_the_end() -> None:
    async def script(wire: Wire) -> None:
        while not isinstance(frame := await wire.hear(), AudioFrame) or frame.seq < 5:
            pass
        await wire.say(ListenEnd(1, 1_000, "ended"))
        await stay(wire)

    async with talking(script, welcome=READY) as (session, notes):
        ear = WakeGate(ToldGate(), ToldSpotter(), lambda frame: Heard(frame, frame), "headphones")
        await notes.until(lambda: session.features)
        bench = Bench()
        bench.hears(WORD, VOICE)
        bench.queue.put_nowait(None)
        async with asyncio.timeout(10):
            await HandsFree(session, ear).once(bench)
        assert not session.client_turn.listening


@pytest.mark.slow
async def test_after_a_recording_what_was_said_is_answered_before_it_leaves() -> None:
    answered = asyncio.Event()

    async def script(wire: Wire) -> None:
        while not isinstance(frame := await wire.hear(), AudioFrame) or frame.seq < 5:
            pass
        await wire.say(ListenEnd(1, 1_000, "ended"))
        await wire.say(TurnState("committed", "idle", "silent"))
        await asyncio.sleep(1.0)
        await wire.say(TurnState("idle", "thinking", "silent"))
        await asyncio.sleep(1.0)
        answered.set()
        await wire.say(TurnState("idle", "idle", "silent"))
        await stay(wire)

    async with talking(script, welcome=READY) as (session, notes):
        ear = WakeGate(ToldGate(), ToldSpotter(), lambda frame: Heard(frame, frame), "headphones")
        await notes.until(lambda: session.features)
        bench = Bench()
        bench.hears(WORD, VOICE)
        bench.queue.put_nowait(None)
        hands_free = HandsFree(session, ear)
        async with asyncio.timeout(10):
            await hands_free.listen(bench)
            await hands_free.rest()
        assert answered.is_set()


# The talker and the outbox, which are pure.

PRE_ROLL = VOICE * 25


def turn(mouth: str, ears: str = "idle") -> Envelope:
    return Envelope(TurnState(ears, "idle", mouth), 1, 1, 0)  # type: ignore[arg-type]


def speaking() -> ClientTurn:
    client_turn = ClientTurn()
    client_turn.hear(Envelope(SpeechStart(7, 22_050, "words"), 1, 1, 0))
    return client_turn


def test_opening_sends_the_pre_roll_and_says_how_long_it_is() -> None:
    effects = ClientTurn().open(1.0, PRE_ROLL, 5_000)
    assert effects == (
        Send(ListenStart("hands_free", 1, len(PRE_ROLL) // 2, 5_000, "")),
        SendAudio(1, PRE_ROLL),
    )


def test_opening_over_an_answer_makes_it_quieter_until_it_is_clear_what_was_meant() -> None:
    client_turn = speaking()
    assert client_turn.open(1.0, b"", 6_000)[0] == Duck(on=True)
    assert client_turn.speaking
    assert client_turn.hear(turn("speaking", "listening")) == ()
    assert client_turn.hear(turn("ducked", "listening")) == ()
    assert client_turn.hear(Envelope(ListenEnd(1, 100, "ended"), 2, 1, 0)) == ()
    assert client_turn.hear(turn("speaking")) == (Duck(on=False),)


def test_words_over_an_answer_end_it() -> None:
    client_turn = speaking()
    client_turn.open(1.0, b"", 6_000)
    client_turn.hear(turn("ducked", "listening"))
    stop = Envelope(SpeechStop(7, "interrupted"), 2, 1, 0)
    assert client_turn.hear(stop) == (Drop(7), Duck(on=False))
    assert not client_turn.speaking


def test_when_nobody_spoke_the_answer_is_loud_again() -> None:
    client_turn = speaking()
    client_turn.open(1.0, b"", 6_000)
    assert client_turn.hear(Envelope(ListenEnd(1, 100, "timeout"), 2, 1, 0)) == (Duck(on=False),)
    assert not client_turn.listening


def test_the_end_of_another_utterance_ends_nothing() -> None:
    client_turn = ClientTurn()
    client_turn.open(1.0, b"", 6_000)
    client_turn.hear(Envelope(ListenEnd(9, 100, "ended"), 2, 1, 0))
    assert client_turn.listening


def test_an_answer_may_begin_while_a_microphone_without_a_key_is_open() -> None:
    client_turn = ClientTurn()
    client_turn.open(1.0, b"", 6_000)
    assert client_turn.hear(Envelope(SpeechStart(7, 22_050, "words"), 1, 1, 0))
    assert client_turn.speaking


def frames_of(outbox: Outbox) -> int:
    count = 0
    while outbox.take() is not None:
        count += 1
    return count


def opened() -> Outbox:
    outbox = Outbox()
    outbox.put(ListenStart("hands_free", 1))
    outbox.put_audio(1, VOICE * 10)
    assert frames_of(outbox) == 11
    return outbox


def test_what_the_server_has_ended_is_not_sent_further() -> None:
    for reason in ("ended", "timeout"):
        outbox = opened()
        outbox.put_audio(1, VOICE * 5)
        outbox.ended(ListenEnd(1, 5 * FRAME_SAMPLES, reason))
        outbox.put_audio(1, VOICE)
        assert outbox.take() is None


def test_what_was_ended_is_said_whole_to_a_server_that_began_anew() -> None:
    outbox = opened()
    outbox.ended(ListenEnd(1, 5 * FRAME_SAMPLES, "ended"))
    outbox.begin_anew()
    said = [outbox.take() for _ in range(7)]
    assert f'"samples":{5 * FRAME_SAMPLES}' in str(said[1])
    assert '"listen.stop"' in str(said[1])
    assert all(isinstance(frame, bytes) for frame in said[2:])
    assert outbox.take() is None


def test_what_was_ended_and_understood_is_forgotten() -> None:
    outbox = opened()
    outbox.ended(ListenEnd(1, 5 * FRAME_SAMPLES, "ended"))
    outbox.understood()
    outbox.begin_anew()
    assert outbox.take() is None


async def test_a_ducked_loudspeaker_plays_at_a_quarter(tmp_path: Path) -> None:
    """A file holds what a loudspeaker would have played."""
    heard = tmp_path / "heard.wav"
    speaker = FileSpeaker(heard, "max")
    speaker.start(16_000)
    loud = (4_000).to_bytes(2, "little") * 10
    for ducked in (False, True, False):
        speaker.duck(on=ducked)
        speaker.write(loud)
    await speaker.close()
    quiet = int(4_000 * DUCKED).to_bytes(2, "little") * 10
    assert read_speech(heard) == loud + quiet + loud
