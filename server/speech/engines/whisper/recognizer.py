"""The recognizer: Whisper in a process of its own."""

import asyncio
from pathlib import Path

from sayso.server.speech.engines.whisper.options import WhisperOptions
from sayso.server.speech.recognition.recognizer import HEARING_RATE, RecognizerLost, Transcript
from sayso.server.speech.workers.supervised_engine import SupervisedEngine
from sayso.server.speech.workers.supervisor import Supervisor, WorkerLost
from sayso.server.speech.workers.wire import Note

BASE_LIMIT = 20.0
"""Seconds that any pass may take before the worker counts as hung, on a slow and busy machine …"""

LIMIT_PER_SECOND = 4.0
"""… and as much more for each second of audio: the slowest useful machine is that far behind."""


class WhisperRecognizer(SupervisedEngine):
    """A `Recognizer` on faster-whisper, supervised."""

    def __init__(
        self, model: Path, *, threads: int | None = None, options: WhisperOptions | None = None
    ) -> None:
        options = options or WhisperOptions()
        if threads is not None:
            options = options.with_threads(threads)
        worker = Supervisor(
            "sayso.server.speech.engines.whisper.worker",
            Note("load", {"model": str(model), **options.as_fields()}),
            name="speech recogniser",
            threads=options.threads,
        )
        super().__init__(worker)
        self._lock = asyncio.Lock()

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
