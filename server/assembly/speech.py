"""Ears and voice, built from the settings before all else.

Their processes load for longest, and to import the rest of a server is work for one core alone: so
they begin beside that. One that can't be had is replaced by one that says why.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Literal, Self

from sayso.protocol.health import Finding
from sayso.protocol.home import Home
from sayso.server.assembly.model_selection import for_speech, voice, voices
from sayso.server.assembly.unavailable import UnavailableRecognizer, UnavailableSynthesizer
from sayso.server.models import InstalledModels
from sayso.server.models import ModelError as ModelFileError
from sayso.server.observability.metrics import Part
from sayso.server.process import end
from sayso.server.settings import Settings
from sayso.server.speech.engines.piper.synthesizer import PiperSynthesizer
from sayso.server.speech.engines.whisper.options import WhisperOptions
from sayso.server.speech.engines.whisper.recognizer import WhisperRecognizer
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.recognition.recognizer import Recognizer
from sayso.server.speech.synthesis.voice_pool import VoicePool
from sayso.server.speech.synthesis.voices import OneVoice, Voices

MOST_HEARING_THREADS = 4
"""More make a short utterance no faster."""


class SpeechParts:
    """Use it as an async context manager: both begin to load with it, and end with it."""

    def __init__(
        self, home: Home, settings: Settings, watch: Callable[[str, Callable[[], Part]], None]
    ) -> None:
        self._settings = settings
        self._watch = watch
        """Takes a part's name, and how to find out how it is."""
        self._installed = InstalledModels(home)
        self._stack = AsyncExitStack()
        self._hearing: asyncio.Task[Recognizer]
        self._speaking: asyncio.Task[Voices]
        self.findings: dict[str, Finding] = {}
        """How each is, by its name."""

    async def __aenter__(self) -> Self:
        self._hearing = asyncio.create_task(self._hear(), name="getting ears")
        self._speaking = asyncio.create_task(self._speak(), name="getting a voice")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in (self._hearing, self._speaking):
            await end(task)
        await self._stack.aclose()

    async def hearing(self) -> Recognizer:
        """Whisper, in its process, warm."""
        return await self._hearing

    async def speaking(self) -> Voices:
        """The voices: the usual one warm, in its process, the others when they are wanted."""
        return await self._speaking

    async def _hear(self) -> Recognizer:
        wanted = self._settings.ears
        try:
            chosen = await asyncio.to_thread(for_speech, self._installed, "ears", wanted.model)
            language = "" if wanted.language == "auto" else wanted.language
            options = WhisperOptions(threads=wanted.threads or most_threads(), language=language)
            whisper = WhisperRecognizer(chosen.model.path, options=options)
            self._stack.push_async_callback(whisper.close)
            self._watch("ears", lambda: Part(whisper.trouble, whisper.restarts))
            await whisper.start()
        except (ModelFileError, SpeechError) as error:
            self._missing("ears", error)
            return UnavailableRecognizer(str(error))
        self._found("ears", f"Whisper {chosen.model.name}.", chosen.complaint)
        return whisper

    async def _speak(self) -> Voices:
        wanted = self._settings.voice
        try:
            chosen = await asyncio.to_thread(for_speech, self._installed, "voice", wanted.model)
            voice_pool = VoicePool(
                lambda: voices(self._installed),
                voice(chosen.model),
                make=PiperSynthesizer,
                most=wanted.loaded,
            )
            self._stack.push_async_callback(voice_pool.close)
            self._watch("voice", lambda: Part(voice_pool.trouble, voice_pool.restarts))
            await voice_pool.start()
        except (ModelFileError, SpeechError) as error:
            self._missing("voice", error)
            return OneVoice(UnavailableSynthesizer(str(error)))
        self._found("voice", f"{chosen.model.name}.", chosen.complaint)
        return voice_pool

    def _found(self, part: str, detail: str, complaint: str) -> None:
        state: Literal["good", "poor"] = "poor" if complaint else "good"
        self.findings[part] = Finding(part, state, complaint or detail)

    def _missing(self, part: str, error: Exception) -> None:
        self.findings[part] = Finding(part, "bad", str(error))


def most_threads() -> int:
    """The cores of this machine, up to what is useful for hearing."""
    return min(os.cpu_count() or 1, MOST_HEARING_THREADS)
