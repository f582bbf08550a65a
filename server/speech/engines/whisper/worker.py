"""Recognition process: `python -m sayso.server.speech.engines.whisper.worker CHANNEL PARENT`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.server.speech.engines.whisper.options import WhisperOptions
from sayso.server.speech.errors import PackageMissing
from sayso.server.speech.recognition.loudness import from_pcm
from sayso.server.speech.workers.wire import Note
from sayso.server.speech.workers.worker import Answer, Task, main

if TYPE_CHECKING:
    from sayso.server.speech.engines.whisper.engine import WhisperEngine


class Hearing:
    """Whisper's trade."""

    def __init__(self) -> None:
        self._engine: WhisperEngine | None = None

    def load(self, order: Note) -> Note:
        """Load the model that the order names."""
        try:  # inside, so that its absence can be told over the channel
            from sayso.server.speech.engines.whisper.engine import WhisperEngine
        except ImportError as problem:
            raise PackageMissing(
                f"faster-whisper is not installed ({problem}). Run `pip install 'sayso[server]'`."
            ) from problem
        directory = Path(order.text("model"))
        options = WhisperOptions.from_note(order)
        engine = WhisperEngine(directory, options)
        engine.warm_up()
        self._engine = engine
        return Note("loaded", {"what": f"Whisper from {directory}"})

    def answer(self, task: Task) -> Answer:
        """Transcribe, in one step."""
        yield from ()
        if self._engine is None:
            raise RuntimeError("asked before a model was loaded")
        heard = self._engine.transcribe(
            from_pcm(task.note.load),
            draft=task.note.truth("draft"),
            prompt=task.note.text("prompt"),
            language=task.note.text("language"),
            wanted=task.wanted,
        )
        return Note(
            "transcript",
            {
                "text": heard.text,
                "language": heard.language,
                "confidence": heard.confidence,
                "language_sure": heard.language_sure,
            },
        )


if __name__ == "__main__":
    main(Hearing(), sys.argv[1:])
