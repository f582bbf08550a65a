"""The one voice of another server, as the `Voices` that there are."""

from sayso.server.speech.engines.remote.server import SpeechServer
from sayso.server.speech.engines.remote.synthesizer import RemoteSynthesizer
from sayso.server.speech.synthesis.synthesizer import Synthesizer

UNTOLD = "en"
"""What is spoken to those who did not say what they speak, by a voice that speaks everything."""


class RemoteVoices:
    """`Voices` with only one voice."""

    restarts = 0
    """It is nothing that Sayso starts."""

    def __init__(
        self, server: SpeechServer, model: str, voice: str, languages: tuple[str, ...]
    ) -> None:
        self._server = server
        self._synthesizer = RemoteSynthesizer(server, model, voice)
        self._name = voice
        self._languages = tuple(code.partition("-")[0].lower() for code in languages)
        """Empty: every one."""

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

    @property
    def usual(self) -> str:
        return self._name

    @property
    def language(self) -> str:
        return self._languages[0] if self._languages else UNTOLD

    async def language_of(self, name: str) -> str | None:
        return self.language if name == self._name else None

    async def pick(self, wish: str, language: str) -> str | None:
        speaks = not self._languages or language in self._languages
        return self._name if speaks else None

    async def next_to(self, name: str, language: str) -> str | None:
        return None

    async def of(self, name: str) -> Synthesizer:
        return self._synthesizer
