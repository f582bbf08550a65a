"""One connection of Home Assistant's: it mostly asks one thing, and closes."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from sayso.audio.resample import Resampler, resampler
from sayso.server.adapters.spoken_text import SpokenText
from sayso.server.adapters.wyoming.description import VOICE, description
from sayso.server.adapters.wyoming.events import BadEventError, WyomingEvent, read_event, written
from sayso.server.adapters.wyoming.satellites import Satellites
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.recognition.recognizer import HEARING_RATE
from sayso.server.speech.recognition.session import UtteranceRecognition
from sayso.server.speech.speech import Speech
from sayso.server.speech.synthesis.session import SpeakingStyle

IDLE_S: Final = 60.0
"""Seconds that may pass between two events: Home Assistant sends sound without a pause, and asks
on a new connection each time."""
SEND_S: Final = 20.0
"""Seconds for which the other end may take nothing of what it is sent."""
WAITING: Final = 8
"""Events that are read ahead of what is done about them."""
SPEECH_RATE: Final = 22_050
"""Samples a second of what is spoken: what most voices have anyway."""
PIECE_BYTES: Final = 8_192
"""Longest piece of sound in an event: a fifth of a second."""
RATES: Final = range(8_000, 192_001)

Event = WyomingEvent


class WyomingConnection:
    """Takes events in order; what lasts ends with the connection."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        speech: Speech,
        satellites: Satellites,
        version: str,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._speech = speech
        self._satellites = satellites
        self._version = version
        self._peer = str((writer.get_extra_info("peername") or ("",))[0])
        self._came: asyncio.Queue[Event | None] = asyncio.Queue(WAITING)
        self._language = ""
        self._hearing: UtteranceRecognition | None = None
        self._resampler: Resampler | None = None
        self._spoken: SpokenText | None = None
        self._speaking: asyncio.Task[None] | None = None

    async def talk(self) -> None:
        """Answer until the other end closes, or is silent for too long. Raises BadEventError."""
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(self._read())
            try:
                while (event := await self._next()) is not None:
                    await self._take(event, reading)
            finally:
                reading.cancel()
                if self._speaking:
                    self._speaking.cancel()
                    await asyncio.gather(self._speaking, return_exceptions=True)
                if self._hearing:
                    self._hearing.drop()

    async def _next(self) -> Event | None:
        try:
            async with asyncio.timeout(IDLE_S):
                return await self._came.get()
        except TimeoutError:
            return None

    async def _read(self) -> None:
        try:
            while (event := await read_event(self._reader)) is not None:
                await self._came.put(event)
        except ConnectionError:
            pass  # as if it had closed
        finally:
            # Whatever waits before it: nobody is there to be answered.
            if self._came.full():
                self._came.get_nowait()
            self._came.put_nowait(None)

    async def _take(self, event: Event, reading: "asyncio.Task[None]") -> None:
        match event.kind:
            case "describe":
                await self._send("info", await description(self._speech, self._version))
            case "ping":
                await self._send("pong", {"text": event.text("text", 100)})
            case "transcribe":
                self._language = event.text("language", 35)
            case "audio-start":
                self._begin_to_hear(event)
            case "audio-chunk":
                self._hear(event)
            case "audio-stop":
                await self._transcribe()
            case _:
                await self._take_text(event, reading)

    async def _take_text(self, event: Event, reading: "asyncio.Task[None]") -> None:
        match event.kind:
            case "transcript":
                await self._while_there(self._converse(event), reading)
            case "synthesize" if self._spoken is None:
                await self._while_there(self._speak(event), reading)
            case "synthesize-start":
                self._begin_to_speak(event)
            case "synthesize-chunk" if self._spoken:
                self._spoken.say(event.text("text"))
            case "synthesize-stop" if self._spoken and self._speaking:
                self._spoken.finish()
                speaking, self._spoken = self._speaking, None
                await self._while_there(_awaited(speaking), reading)
                await self._send("synthesize-stopped")
            case _:
                pass  # what newer versions say besides

    async def _while_there(
        self, work: Coroutine[Any, Any, None], reading: "asyncio.Task[None]"
    ) -> None:
        """Do this unless the other end leaves meanwhile."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task, reading}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not task.done():
                task.cancel()
        await asyncio.gather(task, return_exceptions=reading.done())

    # ── Speech becomes text ──────────────────────────────────────────────────────────────────────

    def _begin_to_hear(self, event: Event) -> None:
        rate = _sound_of(event)
        if self._hearing:
            self._hearing.drop()
        self._resampler = resampler(rate, HEARING_RATE)
        self._hearing = self._speech.recognition.listen(
            lambda _: None, device=f"Wyoming at {self._peer}", language=self._language
        )

    def _hear(self, event: Event) -> None:
        _sound_of(event)
        if self._hearing and self._resampler:
            whole = len(event.payload) // 2 * 2
            self._hearing.feed(self._resampler.feed(event.payload[:whole]))

    async def _transcribe(self) -> None:
        if self._hearing is None or self._resampler is None:
            return
        hearing, self._hearing = self._hearing, None
        try:
            hearing.feed(self._resampler.finish())
            heard = await hearing.finish()
        except SpeechError as error:
            await self._send("error", {"text": str(error), "code": "speech-to-text"})
        else:
            await self._send("transcript", {"text": heard.text, "language": heard.language})
        finally:
            hearing.drop()

    # ── Text becomes speech ──────────────────────────────────────────────────────────────────────

    async def _speak(self, event: Event) -> None:
        spoken = await self._spoken_as(event)
        spoken.say(event.text("text"))
        spoken.finish()
        await self._send_sound(spoken)

    def _begin_to_speak(self, event: Event) -> None:
        if self._speaking:
            self._speaking.cancel()
        self._spoken = SpokenText(self._speech.synthesis, SpeakingStyle(), SPEECH_RATE)
        self._speaking = asyncio.create_task(self._send_sound(self._spoken))

    async def _spoken_as(self, event: Event) -> SpokenText:
        """In the voice that is wanted, if there is one of this name."""
        wanted = event.data.get("voice")
        name = wanted.get("name") if isinstance(wanted, dict) else None
        style = SpeakingStyle()
        if isinstance(name, str) and name != VOICE:
            there = await self._speech.synthesis.has_voice(name)
            style = SpeakingStyle(name) if there else style
        return SpokenText(self._speech.synthesis, style, SPEECH_RATE)

    async def _send_sound(self, spoken: SpokenText) -> None:
        form = {"rate": SPEECH_RATE, "width": 2, "channels": 1}
        sent = 0
        await self._send("audio-start", form | {"timestamp": 0})
        async for sound in spoken.sound():
            for start in range(0, len(sound), PIECE_BYTES):
                piece = sound[start : start + PIECE_BYTES]
                at = {"timestamp": sent * 1000 // SPEECH_RATE}
                await self._send("audio-chunk", form | at, piece)
                sent += len(piece) // 2
        if spoken.failed:
            await self._send("error", {"text": spoken.failed, "code": "text-to-speech"})
        await self._send("audio-stop", {"timestamp": sent * 1000 // SPEECH_RATE})

    # ── Conversation ─────────────────────────────────────────────────────────────────────────────

    async def _converse(self, event: Event) -> None:
        context = event.data.get("context")
        context = context if isinstance(context, dict) else {}
        named = (context.get(name) for name in ("satellite_id", "device_id"))
        satellite = next((name for name in named if isinstance(name, str) and name), "")
        answer = await self._satellites.answer(event.text("text"), satellite)
        kind = "handled" if answer.handled else "not-handled"
        await self._send(kind, {"text": answer.text, "context": context})

    async def _send(
        self, kind: str, data: dict[str, Any] | None = None, payload: bytes = b""
    ) -> None:
        self._writer.write(written(Event(kind, data or {}, payload)))
        async with asyncio.timeout(SEND_S):
            await self._writer.drain()


async def _awaited(task: "asyncio.Task[None]") -> None:
    await task


def _sound_of(event: Event) -> int:
    """The rate of sound that can be heard. Raises BadEventError."""
    rate, width, channels = (event.data.get(name) for name in ("rate", "width", "channels"))
    if (width, channels) != (2, 1) or not isinstance(rate, int) or rate not in RATES:
        raise BadEventError("its sound is not 16 bits a sample and one channel")
    return rate
