"""The synthesis process: `python -m sayso.server.speech.engines.piper.worker CHANNEL PARENT`."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.server.speech.errors import PackageMissing
from sayso.server.speech.workers.wire import Note, Value
from sayso.server.speech.workers.worker import Answer, Task, main

if TYPE_CHECKING:
    from sayso.server.speech.engines.piper.engine import PiperEngine

FIRST_WORDS = "Hello, I am ready, and so is everything else that is here to be used by you."
"""Spoken once, to nobody, so that the first answer does not wait for what is done only once; long
enough for windows of every size."""


class Speaking:
    """Piper's trade."""

    def __init__(self) -> None:
        self._engine: PiperEngine | None = None

    def load(self, order: Note) -> Note:
        """Load the voice that the order names."""
        try:  # inside, so that its absence can be told over the channel
            from sayso.server.speech.engines.piper.engine import PiperEngine
        except ImportError as problem:
            raise PackageMissing(
                f"piper-tts is not installed ({problem}). Run `pip install 'sayso[server]'`."
            ) from problem
        voice, parts = Path(order.text("voice")), order.text("parts")
        engine = PiperEngine(
            voice,
            threads=order.whole("threads"),
            seed=order.whole("seed"),
            parts=Path(parts) if parts else None,
        )
        engine.speak(FIRST_WORDS)
        self._engine = engine
        return Note(
            "loaded",
            {"what": f"piper with {voice.stem}", "rate": engine.rate, "language": engine.language},
        )

    def answer(self, task: Task) -> Answer:
        """Speak, a window in each step: the next is needed when the ones before it were heard."""
        if self._engine is None:
            raise RuntimeError("asked before a voice was loaded")
        text, speed = task.note.text("text"), task.note.number("speed")
        for sound in self._engine.stream(text, speed=speed):
            words: list[Value] = [[word.text, word.start, word.end] for word in sound.words]
            seconds = len(sound.pcm) / 2 / sound.rate
            task.due = max(task.due, time.monotonic()) + seconds
            yield Note("sound", {"rate": sound.rate, "words": words}, sound.pcm)
        return Note("spoken")


if __name__ == "__main__":
    main(Speaking(), sys.argv[1:])
