"""The seam for engines: what stands behind a name in the settings `ears.engine` and `voice.engine`.

An engine makes a recogniser, or voices, or both. It is found by its name in the registry, so that
nothing else names one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sayso.protocol.health import Finding
from sayso.protocol.home import Home
from sayso.server.settings import Settings
from sayso.server.speech.recognition.recognizer import Recognizer
from sayso.server.speech.recognition.scheduler import Capacity
from sayso.server.speech.synthesis.voices import Voices


@dataclass(frozen=True, slots=True)
class EngineContext:
    """What an engine may look at while it is built or examined."""

    home: Home
    settings: Settings
    environment: Mapping[str, str]


class EnginePart(Protocol):
    """What a server starts, watches and closes."""

    @property
    def trouble(self) -> str:
        """What keeps it from being asked, for a person; empty if nothing does."""
        ...

    @property
    def restarts(self) -> int:
        """How often it had to be started again."""
        ...

    async def start(self) -> object:
        """Make it ready; raises SpeechError if that can't be."""
        ...

    async def close(self) -> None:
        """End all that it began."""
        ...


class RecognizerPart(Recognizer, EnginePart, Protocol):
    """A recogniser with its life."""


class VoicesPart(Voices, EnginePart, Protocol):
    """Voices with their life."""


Built_co = TypeVar("Built_co", bound=EnginePart, covariant=True)


@dataclass(frozen=True, slots=True)
class Engaged(Generic[Built_co]):
    """A part that an engine made. It is not started yet."""

    part: Built_co
    detail: str
    """For screens, in a short sentence: which model this is and where it runs."""
    complaint: str = ""
    """Why it is not what the settings name; empty if it is."""
    leaves_home: str = ""
    """A sentence that says what is sent to another service, and to which; empty if nothing is."""
    capacity: Capacity | None = None
    """Passes that a recogniser makes at the same time; None: one."""
    only_language: str = ""
    """A recogniser's, if it hears no other; empty: many."""


class Maker(Protocol[Built_co]):
    """Makes one kind of part."""

    async def engage(self, context: EngineContext) -> Engaged[Built_co]:
        """The part that the settings describe. Raises SpeechError if they describe none."""
        ...

    async def examine(self, context: EngineContext) -> Finding:
        """How it would be, for `sayso doctor`: nothing is changed, and nothing that was said is
        sent anywhere."""
        ...


@dataclass(frozen=True, slots=True)
class SpeechEngine:
    """What stands behind a name. An engine need not offer both."""

    recognizer: Maker[RecognizerPart] | None = None
    voices: Maker[VoicesPart] | None = None
