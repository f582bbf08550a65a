"""The engine `piper`, as the registry finds it."""

import asyncio
from functools import partial
from typing import Final

from sayso.protocol.health import Finding
from sayso.server.models import InstalledModels, ModelError
from sayso.server.speech.engines.engine import Engaged, EngineContext, SpeechEngine, VoicesPart
from sayso.server.speech.engines.installed import examine_model, for_speech, voice, voices
from sayso.server.speech.engines.piper.synthesizer import PiperSynthesizer
from sayso.server.speech.engines.piper.voice_processes import VoiceProcesses
from sayso.server.speech.errors import ModelMissing
from sayso.server.speech.synthesis.voice_pool import VoicePool
from sayso.server.speech.workers.worker_count import usual_workers


class PiperMaker:
    """Makes voices of the models on this machine; `voice.model` names the usual one."""

    async def engage(self, context: EngineContext) -> Engaged[VoicesPart]:
        """See the seam."""
        wanted = context.settings.voice
        installed = InstalledModels(context.home)
        try:
            chosen = await asyncio.to_thread(for_speech, installed, "voice", wanted.model)
        except ModelError as error:
            raise ModelMissing(str(error)) from error
        part = VoicePool(
            lambda: voices(installed),
            voice(chosen.model),
            make=partial(
                VoiceProcesses,
                make=partial(PiperSynthesizer, parts=context.home.data / "voice-parts"),
                most=wanted.workers or usual_workers(),
            ),
            most=wanted.loaded,
        )
        return Engaged(part, f"{chosen.model.name}.", chosen.complaint)

    async def examine(self, context: EngineContext) -> Finding:
        """See the seam."""
        installed = InstalledModels(context.home)
        return await asyncio.to_thread(
            examine_model, installed, "voice", context.settings.voice.model
        )


ENGINE: Final = SpeechEngine(voices=PiperMaker())
