"""The synthesis process: `python -m sayso.server.speech.engines.piper.worker CHANNEL PARENT`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.server.speech.errors import PackageMissing
from sayso.server.speech.workers.wire import Note
from sayso.server.speech.workers.worker import Task, main

if TYPE_CHECKING:
    from sayso.server.speech.engines.piper.engine import PiperEngine

FIRST_WORDS = "Hello, I am ready."
"""Spoken once, to nobody, so that the first answer does not wait for what is done only once."""


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
        voice = Path(order.text("voice"))
        engine = PiperEngine(voice, threads=order.whole("threads"), seed=order.whole("seed"))
        engine.speak(FIRST_WORDS)
        self._engine = engine
        return Note(
            "loaded",
            {"what": f"piper with {voice.stem}", "rate": engine.rate, "language": engine.language},
        )

    def answer(self, task: Task) -> Note:
        """Speak."""
        if self._engine is None:
            raise RuntimeError("asked before a voice was loaded")
        sound = self._engine.speak(task.note.text("text"), speed=task.note.number("speed"))
        return Note(
            "sound",
            {
                "rate": sound.rate,
                "words": [[word.text, word.start, word.end] for word in sound.words],
            },
            sound.pcm,
        )


if __name__ == "__main__":
    main(Speaking(), sys.argv[1:])
