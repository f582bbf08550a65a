"""The engine `whisper`, as the registry finds it."""

import asyncio
import os
from functools import partial
from typing import Final

from sayso.protocol.health import Finding, split_remedy
from sayso.server.models import InstalledModels, Model, ModelError
from sayso.server.speech.engines.engine import Engaged, EngineContext, RecognizerPart, SpeechEngine
from sayso.server.speech.engines.installed import examine_model, for_speech
from sayso.server.speech.engines.recognizer_pool import RecognizerPool
from sayso.server.speech.engines.whisper.options import WhisperOptions
from sayso.server.speech.engines.whisper.recognizer import WhisperRecognizer
from sayso.server.speech.errors import ModelMissing
from sayso.server.speech.workers.worker_count import usual_workers

MOST_THREADS: Final = 4
"""More make a short utterance no faster."""

ENGLISH: Final = "en"
MANY: Final = "base"
"""The smallest model that hears many languages well enough to be asked for."""


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
        if refusal := _cannot_hear(ears.language, chosen.model):
            raise ModelMissing(refusal)
        language = "" if ears.language == "auto" else ears.language
        workers = ears.workers or usual_workers()
        options = WhisperOptions(threads=ears.threads or most_threads(workers), language=language)
        part = RecognizerPool(
            partial(WhisperRecognizer, chosen.model.path, options=options), workers
        )
        only = ENGLISH if chosen.model.language == ENGLISH else ""
        detail = f"Whisper {chosen.model.name}."
        return Engaged(part, detail, chosen.complaint, capacity=part, only_language=only)

    async def examine(self, context: EngineContext) -> Finding:
        """See the seam."""
        installed, ears = InstalledModels(context.home), context.settings.ears
        finding = await asyncio.to_thread(examine_model, installed, "ears", ears.model)
        if finding.state == "bad":
            return finding
        chosen = await asyncio.to_thread(for_speech, installed, "ears", ears.model)
        if refusal := _cannot_hear(ears.language, chosen.model):
            return Finding("ears", "bad", *split_remedy(refusal))
        return finding


def _cannot_hear(language: str, model: Model) -> str:
    """Why a language cannot be heard with this model, and what can; empty where it can."""
    if model.language != ENGLISH or language.partition("-")[0].lower() in ("auto", ENGLISH):
        return ""
    own = model.name.removesuffix(".en")
    many = own if own in ("small", "medium") else MANY
    return (
        f"{model.name} hears English only, and `ears.language` is {language}; get a model that "
        f"hears it with `sayso models get {many}` and set `ears.model` to {many}, or set "
        "`ears.language` to en."
    )


def most_threads(workers: int) -> int:
    """For each of so many processes: their part of the cores, up to what is useful for hearing."""
    return max(1, min((os.cpu_count() or 1) // workers, MOST_THREADS))


ENGINE: Final = SpeechEngine(recognizer=WhisperMaker())
