"""Builds the recogniser and the synthesiser from the settings first, in parallel with the rest.

They take longest to load, while importing the rest of the server keeps only one core busy. The
registry finds their engines by the names in the settings. An engine that is unavailable is replaced
by this machine's usual one, or else by a part that says why.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Literal, Self, TypeVar

from sayso.protocol.health import Finding
from sayso.protocol.home import Home
from sayso.server.assembly.unavailable import UnavailableRecognizer, UnavailableSynthesizer
from sayso.server.observability.metrics import Part
from sayso.server.process import end
from sayso.server.settings import Settings
from sayso.server.speech.engines import registry
from sayso.server.speech.engines.engine import (
    Engaged,
    EngineContext,
    EnginePart,
    Maker,
    RecognizerPart,
    VoicesPart,
)
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.recognition.recognizer import Recognizer
from sayso.server.speech.recognition.scheduler import Capacity, FixedCapacity
from sayso.server.speech.synthesis.voices import OneVoice, Voices

log = logging.getLogger(__name__)

Built = TypeVar("Built", bound=EnginePart)

Find = Callable[[str], Maker[Built]]
"""Finds what makes a part by an engine's name."""


class SpeechParts:
    """Use it as an async context manager: both begin to load with it, and end with it."""

    def __init__(
        self, home: Home, settings: Settings, watch: Callable[[str, Callable[[], Part]], None]
    ) -> None:
        self._settings = settings
        self._watch = watch
        """Takes a part's name, and how to find out how it is."""
        self._context = EngineContext(home, settings, os.environ)
        self._stack = AsyncExitStack()
        self._recognizer: asyncio.Task[Recognizer]
        self._voices: asyncio.Task[Voices]
        self.findings: dict[str, Finding] = {}
        """How each is, by its name."""
        self.capacity: Capacity = FixedCapacity(1)
        """How many passes the recogniser makes at the same time."""
        self.only_language = ""
        """The language that the recogniser hears; empty: many."""
        self.leaves_home: list[str] = []
        """Sentences that say what is sent to other services, and to which."""

    async def __aenter__(self) -> Self:
        self._recognizer = asyncio.create_task(
            self._make_recognizer(), name="starting the recogniser"
        )
        self._voices = asyncio.create_task(self._make_voices(), name="starting the voice")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in (self._recognizer, self._voices):
            await end(task)
        await self._stack.aclose()

    async def recognizer(self) -> Recognizer:
        """The recogniser, ready."""
        return await self._recognizer

    async def voices(self) -> Voices:
        """The voices: the usual one ready, the others when they are wanted."""
        return await self._voices

    async def _make_recognizer(self) -> Recognizer:
        name, usual = self._settings.ears.engine, registry.USUAL_RECOGNIZER
        find: Find[RecognizerPart] = registry.recognizer
        try:
            engaged = await self._engage("ears", find, name, usual)
        except SpeechError as error:
            self.findings["ears"] = Finding("ears", "bad", str(error))
            return UnavailableRecognizer(str(error))
        self.capacity = engaged.capacity or FixedCapacity(1)
        self.only_language = engaged.only_language
        return engaged.part

    async def _make_voices(self) -> Voices:
        name, usual = self._settings.voice.engine, registry.USUAL_VOICES
        find: Find[VoicesPart] = registry.voices
        try:
            return (await self._engage("voice", find, name, usual)).part
        except SpeechError as error:
            self.findings["voice"] = Finding("voice", "bad", str(error))
            return OneVoice(UnavailableSynthesizer(str(error)))

    async def _engage(
        self, kind: Literal["ears", "voice"], find: Find[Built], name: str, usual: str
    ) -> Engaged[Built]:
        """The part of the engine that the settings name, else of the usual one, started."""
        try:
            return await self._start(kind, find(name))
        except SpeechError as error:
            if name == usual:
                raise
            log.warning("the engine %s is not used: %s", name, error)
            return await self._start(kind, find(usual), f"{error} Until then, {usual} is used.")

    async def _start(
        self, kind: Literal["ears", "voice"], maker: Maker[Built], complaint: str = ""
    ) -> Engaged[Built]:
        engaged = await maker.engage(self._context)
        part = engaged.part
        self._stack.push_async_callback(part.close)
        self._watch(kind, lambda: Part(part.trouble, part.restarts))
        await part.start()
        complaint = complaint or engaged.complaint
        state: Literal["good", "poor"] = "poor" if complaint else "good"
        detail = complaint or " ".join(filter(None, (engaged.detail, engaged.leaves_home)))
        self.findings[kind] = Finding(kind, state, detail)
        if engaged.leaves_home:
            self.leaves_home.append(engaged.leaves_home)
        return engaged
