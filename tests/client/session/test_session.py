"""One conversation at this end: line, talker, player and screen together."""

import asyncio
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from sayso.audio.devices.microphone import FileMicrophone
from sayso.audio.devices.speaker import FileSpeaker, Speaker
from sayso.audio.errors import BadSound
from sayso.audio.pcm import RATE as SPEECH_RATE
from sayso.audio.wav import write
from sayso.client.session.link import Link
from sayso.client.session.outbox import MOST_UTTERANCES
from sayso.client.session.session import TOO_MUCH_WAITS, Session
from sayso.client.terminal.events import (
    AudioDone,
    FirstAudioPlayed,
    FirstAudioReceived,
    Notice,
    Seen,
)
from sayso.protocol.codec import Envelope
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import (
    ApprovalRequest,
    Error,
    Hello,
    Interrupt,
    ListenStart,
    PlayState,
    ReplyDelta,
    Snapshot,
    SpeechStart,
    SpeechStop,
    SttFinal,
    TurnState,
    Welcome,
)
from sayso.protocol.version import SPOKEN
from tests.client.server_double import RATE, TOKEN, Script, ServerDouble, Wire, stay, tone

SOON = 20.0
"""Seconds for what takes milliseconds, on a busy machine."""


class Notes:
    """A screen that remembers."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self._changed = asyncio.Event()

    def show(self, seen: Seen) -> None:
        self.seen.append(seen)
        self._changed.set()

    @property
    def messages(self) -> list[object]:
        return [seen.message for seen in self.seen if isinstance(seen, Envelope)]

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(SOON):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def sees(self, kind: type[Seen]) -> None:
        await self.until(lambda: any(isinstance(seen, kind) for seen in self.seen))


@asynccontextmanager
async def talking(
    script: Script, speaker: Speaker | None = None, welcome: Welcome | None = None
) -> AsyncIterator[tuple[Session, Notes]]:
    notes = Notes()
    async with ServerDouble(script) as server:
        if welcome is not None:
            server.welcome = lambda _: welcome
        link = Link(server.url, Hello(SPOKEN, "test"), lambda: TOKEN)
        session = Session(link, speaker or FileSpeaker(None), notes, earcons="on")
        running = asyncio.create_task(session.run())
        try:
            yield session, notes
        finally:
            await session.leave()
            async with asyncio.timeout(SOON):
                await running


async def speak(wire: Wire, seconds: float) -> None:
    """Sends so much sound at once."""
    await wire.say(SpeechStart(1, RATE, "words"))
    pcm = tone(seconds)
    for first in range(0, len(pcm) // 2, 441):
        payload = pcm[2 * first : 2 * (first + 441)]
        await wire.socket.send(AudioFrame(1, first // 441, first, payload).pack())


async def test_a_press_silences_tells_what_was_heard_and_then_listens() -> None:
    heard: list[object] = []
    pressed = asyncio.Event()

    async def script(wire: Wire) -> None:
        await speak(wire, 0.7)
        while not isinstance(message := await wire.hear(), ListenStart):
            heard.append(message)
        heard.append(message)
        pressed.set()
        await stay(wire)

    async with talking(script) as (session, notes):
        await notes.sees(FirstAudioReceived)
        await notes.sees(FirstAudioPlayed)
        session.press()
        assert session.silent
        await notes.until(lambda: any(isinstance(s, AudioDone) for s in notes.seen))
        async with asyncio.timeout(SOON):
            await pressed.wait()
        last, start = heard[-2:]
        assert isinstance(last, PlayState)
        assert not last.done
        assert 0 < last.samples < 0.7 * RATE
        assert start == ListenStart("ptt", 1, question="")
        session.cancel()


async def test_the_stop_key_says_exactly_what_was_heard() -> None:
    heard: asyncio.Queue[object] = asyncio.Queue()

    async def script(wire: Wire) -> None:
        await speak(wire, 0.7)
        while not isinstance(message := await wire.hear(), Interrupt):
            pass
        heard.put_nowait(message)
        await stay(wire)

    async with talking(script) as (session, notes):
        await notes.sees(FirstAudioPlayed)
        assert session.interrupt()
        async with asyncio.timeout(SOON):
            interrupt = await heard.get()
        assert isinstance(interrupt, Interrupt)
        (done,) = (seen for seen in notes.seen if isinstance(seen, AudioDone))
        assert (interrupt.stream, interrupt.heard_samples) == (1, done.samples)


async def test_what_is_stale_is_not_shown() -> None:
    async def script(wire: Wire) -> None:
        wire.turn = 2
        await wire.say(TurnState("idle", "thinking", "silent"))
        wire.turn = 1
        await wire.say(ReplyDelta("old"))
        wire.turn = 2
        await wire.say(ReplyDelta("new"))
        await stay(wire)

    async with talking(script) as (_, notes):
        await notes.until(lambda: ReplyDelta("new") in notes.messages)
        assert ReplyDelta("old") not in notes.messages


async def test_a_loudspeaker_that_breaks_costs_the_sound_and_not_the_conversation() -> None:
    class Broken(FileSpeaker):
        def write(self, pcm: bytes) -> None:
            raise BadSound("a.wav cannot be written: no space left on device; make room.")

    async def script(wire: Wire) -> None:
        await speak(wire, 0.3)
        await wire.say(SpeechStop(1, "done", int(0.3 * RATE)), ReplyDelta("Four."))
        await stay(wire)

    async with talking(script, Broken(None)) as (_, notes):
        await notes.until(lambda: ReplyDelta("Four.") in notes.messages)
        await notes.sees(AudioDone)
        told = [seen.text for seen in notes.seen if isinstance(seen, Notice)]
        assert set(told) == {"a.wav cannot be written: no space left on device; make room."}
        assert len(told) == 1


async def test_emptiness_and_trouble_are_heard_as_well() -> None:
    speaker = FileSpeaker(None, "max")

    async def script(wire: Wire) -> None:
        await wire.say(SttFinal(""))
        await wire.hear()
        await wire.say(Error("model_failed", "The model does not answer."))
        await stay(wire)

    async with talking(script, speaker) as (session, notes):
        await notes.until(lambda: SttFinal("") in notes.messages)
        once = speaker.played()
        assert once > 0
        session.say("again")
        await notes.until(lambda: any(isinstance(m, Error) for m in notes.messages))
        assert speaker.played() > once


async def test_after_a_long_absence_the_last_turn_and_open_questions_are_shown() -> None:
    request = {"id": "a", "nonce": "n", "language": "python", "code": "1", "where": "/"}
    turns = ({"turn": 1, "said": "old"}, {"turn": 2, "said": "two?", "reply": "Four."})
    snapshot = Snapshot(turns, (request, {"id": "half"}))
    welcome = Welcome(1, "double", "s1", "snapshot", snapshot=snapshot)
    async with talking(stay, welcome=welcome) as (_, notes):
        await notes.until(lambda: len(notes.messages) == 3)
        assert notes.messages == [
            SttFinal("two?"),
            ReplyDelta("Four.\n\n"),
            ApprovalRequest("a", "n", "python", "1", "/"),
        ]


async def test_when_nothing_more_can_be_kept_the_person_is_told(tmp_path: Path) -> None:
    question = tmp_path / "q.wav"
    write(question, array("h", [500] * (SPEECH_RATE // 5)).tobytes(), SPEECH_RATE)
    notes = Notes()
    away = Link("ws://127.0.0.1:1/ws", Hello(SPOKEN, "test"), lambda: TOKEN)
    session = Session(away, FileSpeaker(None), notes)
    for _ in range(MOST_UTTERANCES):
        await session.speak(FileMicrophone(question, pace="max"))
    assert not any(isinstance(seen, Notice) for seen in notes.seen)
    session.press()
    assert [seen.text for seen in notes.seen if isinstance(seen, Notice)] == [TOO_MUCH_WAITS]
    assert not session.client_turn.listening
