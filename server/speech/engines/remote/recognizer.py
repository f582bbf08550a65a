"""The recogniser: `POST /audio/transcriptions` of another server."""

import asyncio
import math
from collections.abc import Mapping
from typing import Any, Final

from sayso.audio.wav import header
from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.speech.engines.remote.server import (
    MOST_ANSWER_BYTES,
    ShapeRefused,
    SpeechServer,
    patient,
)
from sayso.server.speech.engines.remote.transcription import understood
from sayso.server.speech.errors import ServerFailed
from sayso.server.speech.recognition.loudness import from_pcm, is_silence
from sayso.server.speech.recognition.recognizer import HEARING_RATE, DraftNotMade, Transcript

TRIES: Final = 2
"""How often a pass that somebody waits for is asked for."""

BASE_LIMIT_S: Final = 20.0
"""For any pass, all tries together, …"""

LIMIT_PER_SECOND: Final = 4.0
"""… and as much more for each second of audio: what a slow server without a GPU takes."""

DRAFT_LIMIT_S: Final = 2.0
"""What a draft shows is too old after that."""

QUICK_S: Final = 1.0
"""A server that took longer for its last answer is spared drafts: they would only hold up what
somebody waits for."""

SHORTEST_S: Final = 0.1
"""Nobody says a word in less."""

LONGEST_PROMPT: Final = 600
"""Characters of what was said before: Whisper takes 224 tokens of it at most."""


class RemoteRecognizer:
    """A `Recognizer` in another server.

    One draft is in flight at most, and none while the server is slow: a server that does one thing
    at a time goes on with what was given up.
    """

    restarts = 0
    """It is nothing that Sayso starts."""

    def __init__(
        self, server: SpeechServer, model: str, *, language: str = "", drafts: bool = True
    ) -> None:
        self._server = server
        self._model = model
        self._language = language
        """The only one that is spoken; empty: any."""
        self._drafts = drafts
        """Whether any are made."""
        self._shape = "verbose_json"
        """With how sure it is; servers that don't know it are asked for the plain one."""
        self._took = 0.0
        """Seconds of the last answer; endless after a failure."""
        self._drafting = False

    @property
    def trouble(self) -> str:
        """What keeps it from being asked, for a person; empty if nothing does."""
        return self._server.trouble

    async def start(self) -> None:
        """Be ready to ask; nothing is sent."""
        await self._server.start()

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        """Transcribe one utterance; see the seam. Silence is sent nowhere."""
        seconds = len(pcm) / 2 / HEARING_RATE
        language = self._language or language
        if seconds < SHORTEST_S or is_silence(from_pcm(pcm)):
            return Transcript("", language or "en", 0.0, 0.0)
        if draft:
            return await self._draft(pcm, prompt, language)
        limit = BASE_LIMIT_S + LIMIT_PER_SECOND * seconds
        try:
            async with asyncio.timeout(limit):
                return await self._tried(pcm, prompt, language)
        except TimeoutError:
            self._took = math.inf
            raise ServerFailed(
                f"The speech server at {self._server.name} took too long to understand this; say "
                "it again in a moment."
            ) from None

    async def _draft(self, pcm: bytes, prompt: str, language: str) -> Transcript:
        if not self._drafts or self._drafting or self._took > QUICK_S:
            raise DraftNotMade
        self._drafting = True
        try:
            async with asyncio.timeout(DRAFT_LIMIT_S):
                return await self._asked(pcm, prompt, language)
        except (TimeoutError, ServerFailed):
            # It is asked for drafts again when a pass that somebody waits for went well.
            self._took = math.inf
            raise DraftNotMade from None
        finally:
            self._drafting = False

    async def _tried(self, pcm: bytes, prompt: str, language: str) -> Transcript:
        for tries_left in reversed(range(TRIES)):
            try:
                return await self._asked(pcm, prompt, language)
            except ServerFailed as problem:
                self._took = math.inf
                await patient(problem, tries_left)
        raise self._server.nonsense()

    async def _asked(self, pcm: bytes, prompt: str, language: str) -> Transcript:
        if self._shape == "json":
            return await self._asked_for("json", pcm, prompt, language)
        try:
            return await self._asked_for(self._shape, pcm, prompt, language)
        except ShapeRefused:
            heard = await self._asked_for("json", pcm, prompt, language)
            self._shape = "json"
            return heard

    async def _asked_for(self, shape: str, pcm: bytes, prompt: str, language: str) -> Transcript:
        loop = asyncio.get_running_loop()
        began = loop.time()
        fields = {
            "model": self._model,
            "response_format": shape,
            "temperature": "0",
            "prompt": prompt[-LONGEST_PROMPT:],
            "language": language,
        }
        sound = header(HEARING_RATE, len(pcm)) + pcm
        async with self._server.ask(
            "POST",
            "/audio/transcriptions",
            data={name: value for name, value in fields.items() if value},
            files={"file": ("speech.wav", sound, "audio/wav")},
        ) as answer:
            content = self._read(await self._server.whole(answer))
        heard = understood(content, from_pcm(pcm), language)
        self._took = loop.time() - began
        return heard

    def _read(self, body: bytes) -> Mapping[str, Any]:
        try:
            content = read_json(body, most_bytes=MOST_ANSWER_BYTES)
        except UntrustedJsonError:
            raise self._server.nonsense() from None
        if not isinstance(content, dict) or not isinstance(content.get("text"), str):
            raise self._server.nonsense()
        return content
