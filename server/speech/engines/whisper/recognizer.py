"""The recognizer: Whisper in a process of its own."""

import asyncio
from pathlib import Path

from sayso.server.speech.engines.whisper.options import WhisperOptions
from sayso.server.speech.recognition.recognizer import HEARING_RATE, RecognizerLost, Transcript
from sayso.server.speech.workers.supervisor import Ready, Supervisor, WorkerLost
from sayso.server.speech.workers.wire import Note

BASE_LIMIT = 20.0
"""Seconds that any pass may take before the worker counts as hung, on a slow and busy machine …"""

LIMIT_PER_SECOND = 4.0
"""… and as much more for each second of audio: the slowest useful machine is that far behind."""


class WhisperRecognizer:
    """A `Recognizer` on faster-whisper, supervised."""

    def __init__(
        self, model: Path, *, threads: int | None = None, options: WhisperOptions | None = None
    ) -> None:
        options = options or WhisperOptions()
        if threads is not None:
            options = options.with_threads(threads)
        self._lock = asyncio.Lock()
        self._worker = Supervisor(
            "sayso.server.speech.engines.whisper.worker",
            Note("load", {"model": str(model), **options.as_fields()}),
            name="speech recogniser",
            threads=options.threads,
        )

    @property
    def trouble(self) -> str:
        """What keeps it from being asked, for a person; empty if nothing does."""
        return self._worker.trouble

    @property
    def restarts(self) -> int:
        """How often it had to be started again."""
        return self._worker.restarts

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is one."""
        return self._worker.pid

    async def start(self) -> Ready:
        """Load the model and warm it up; raises SpeechError if that can't be."""
        return await self._worker.start()

    async def ready(self) -> Ready:
        """Wait until it can be asked, also after a restart."""
        return await self._worker.ready()

    async def close(self) -> None:
        """End the worker."""
        await self._worker.close()

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        """Transcribe one utterance; see the seam."""
        seconds = len(pcm) / 2 / HEARING_RATE
        async with self._lock:
            try:
                answer = await self._worker.ask(
                    "transcribe",
                    Note(
                        "transcribe", {"draft": draft, "prompt": prompt, "language": language}, pcm
                    ),
                    limit=BASE_LIMIT + LIMIT_PER_SECOND * seconds,
                )
            except WorkerLost:
                raise RecognizerLost from None
        return Transcript(
            answer.text("text"),
            answer.text("language"),
            answer.number("confidence"),
            answer.number("language_sure"),
        )
