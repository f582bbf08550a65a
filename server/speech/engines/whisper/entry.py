"""The engine `whisper`, as the registry finds it."""

import asyncio
import os
from typing import Final

from sayso.protocol.health import Finding
from sayso.server.models import InstalledModels, ModelError
from sayso.server.speech.engines.engine import Engaged, EngineContext, RecognizerPart, SpeechEngine
from sayso.server.speech.engines.installed import examine_model, for_speech
from sayso.server.speech.engines.whisper.options import WhisperOptions
from sayso.server.speech.engines.whisper.recognizer import WhisperRecognizer
from sayso.server.speech.errors import ModelMissing

MOST_THREADS: Final = 4
"""More make a short utterance no faster."""


class WhisperMaker:
    """Makes recognisers of the Whisper model that `ears.model` names."""

    async def engage(self, context: EngineContext) -> Engaged[RecognizerPart]:
        """See the seam."""
        ears = context.settings.ears
        installed = InstalledModels(context.home)
        try:
            chosen = await asyncio.to_thread(for_speech, installed, "ears", ears.model)
        except ModelError as error:
            raise ModelMissing(str(error)) from error
        language = "" if ears.language == "auto" else ears.language
        options = WhisperOptions(threads=ears.threads or most_threads(), language=language)
        part = WhisperRecognizer(chosen.model.path, options=options)
        return Engaged(part, f"Whisper {chosen.model.name}.", chosen.complaint)

    async def examine(self, context: EngineContext) -> Finding:
        """See the seam."""
        installed = InstalledModels(context.home)
        return await asyncio.to_thread(
            examine_model, installed, "ears", context.settings.ears.model
        )


def most_threads() -> int:
    """The cores of this machine, up to what is useful for hearing."""
    return min(os.cpu_count() or 1, MOST_THREADS)


ENGINE: Final = SpeechEngine(recognizer=WhisperMaker())
