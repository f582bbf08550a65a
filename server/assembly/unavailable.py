"""Stand-ins for parts that are unavailable: each says why, and the rest of the server works."""

from collections.abc import AsyncIterator, Sequence

from sayso.server.agent.llm.model import ChatMessage, Delta, ModelError, TextDelta, ToolDefinition
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.recognition.recognizer import Transcript
from sayso.server.speech.synthesis.synthesizer import Sound


class UnavailableRecognizer:
    """A Recognizer that explains why it can't hear."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        raise SpeechError(self._reason)


class UnavailableSynthesizer:
    """A Synthesizer that explains why it can't speak."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
        raise SpeechError(self._reason)


class UnavailableModel:
    """A ChatModel that explains why there is none."""

    name = "none"
    calls_tools = False
    sees = False

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """Nothing is asked of nobody."""
        return None

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        for _ in messages:
            raise ModelError(self._reason)
        yield TextDelta("")
