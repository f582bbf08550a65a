"""The engine `remote`, as the registry finds it: a server that speaks the OpenAI wire."""

from http import HTTPStatus
from typing import Final

from sayso.protocol.health import Finding, split_remedy
from sayso.server.speech.engines.engine import (
    Engaged,
    EngineContext,
    RecognizerPart,
    SpeechEngine,
    VoicesPart,
)
from sayso.server.speech.engines.remote.address import Address, Kind
from sayso.server.speech.engines.remote.recognizer import RemoteRecognizer
from sayso.server.speech.engines.remote.server import Access, SpeechServer
from sayso.server.speech.engines.remote.voices import RemoteVoices
from sayso.server.speech.errors import EngineMissing, SpeechError
from sayso.server.speech.recognition.scheduler import FixedCapacity

AT_ONCE: Final = 4
"""Passes of a recogniser at the same time: of several people who talk at once, and few enough that
a server at home is not buried."""

REACH_S: Final = 4.0
"""For an answer to the doctor; a person waits for it."""


class RemoteRecognizerMaker:
    """Makes a recogniser of what `ears.api_…` name."""

    async def engage(self, context: EngineContext) -> Engaged[RecognizerPart]:
        """See the seam."""
        ears = context.settings.ears
        access = _access("ears", context)
        language = "" if ears.language == "auto" else ears.language
        name = access.address.name
        return Engaged(
            RemoteRecognizer(
                SpeechServer(access), ears.api_model, language=language, drafts=ears.api_drafts
            ),
            f"{ears.api_model} at {name}.",
            leaves_home=f"All that you say is sent as sound to {name}, which understands it."
            if access.address.leaves_home
            else "",
            capacity=FixedCapacity(AT_ONCE),
        )

    async def examine(self, context: EngineContext) -> Finding:
        """See the seam."""
        return await _examine("ears", context, context.settings.ears.api_model)


class RemoteVoicesMaker:
    """Makes a voice of what `voice.api_…` name."""

    async def engage(self, context: EngineContext) -> Engaged[VoicesPart]:
        """See the seam."""
        wanted = context.settings.voice
        access = _access("voice", context)
        name = access.address.name
        return Engaged(
            RemoteVoices(
                SpeechServer(access), wanted.api_model, wanted.api_voice, wanted.api_languages
            ),
            f"{wanted.api_voice} ({wanted.api_model}) at {name}.",
            leaves_home=f"All that Sayso says is sent as text to {name}, which speaks it."
            if access.address.leaves_home
            else "",
        )

    async def examine(self, context: EngineContext) -> Finding:
        """See the seam."""
        wanted = context.settings.voice
        return await _examine("voice", context, f"{wanted.api_voice} ({wanted.api_model})")


def _access(kind: Kind, context: EngineContext) -> Access:
    """The server that the settings name. Raises EngineMissing if it may not be asked."""
    settings = context.settings
    wanted = settings.ears if kind == "ears" else settings.voice
    address = Address.parse(kind, wanted.api_base)
    if address.leaves_home and settings.language_model.stays_home:
        raise EngineMissing(
            f"{address.name} lies beyond your home, and language_model.stays_home forbids sending "
            f"anything there; set {kind}.api_base to a server of your own, or unset that."
        )
    return Access.of(address, wanted.api_key_variable, context.environment)


async def _examine(kind: Kind, context: EngineContext, what: str) -> Finding:
    """Whether the server answers and takes the key: its list of models is asked for, which a server
    need not have."""
    try:
        access = _access(kind, context)
        server = SpeechServer(access)
        try:
            async with server.ask(
                "GET", "/models", silence_s=REACH_S, also_good=(HTTPStatus.NOT_FOUND,)
            ):
                pass
        finally:
            await server.close()
    except SpeechError as error:
        return Finding(kind, "bad", *split_remedy(str(error)))
    name = access.address.name
    sent = f" What is {'said' if kind == 'ears' else 'answered'} is sent there."
    return Finding(
        kind, "good", f"{what}: {name} answers.{sent if access.address.leaves_home else ''}"
    )


ENGINE: Final = SpeechEngine(recognizer=RemoteRecognizerMaker(), voices=RemoteVoicesMaker())
