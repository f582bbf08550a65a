"""Chooses the voice that speaks, by the device's wish and the language of the words.

The seam is `Voices`. `VoicePool` implements it with piper; `OneVoice` makes one out of any single
synthesizer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sayso.server.speech.errors import SpeechError
from sayso.server.speech.synthesis.synthesizer import Synthesizer


class NoSuchVoice(SpeechError):
    """A voice was asked for by a name that none has."""


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice that is installed. It need not be loaded."""

    name: str
    language: str
    """Code of the language that it speaks, such as `de`."""
    path: Path


class Voices(Protocol):
    """The voices that are installed, one of them the usual one."""

    @property
    def usual(self) -> str:
        """The name of the voice that speaks if nobody wishes for another."""
        ...

    @property
    def language(self) -> str:
        """Of the usual voice."""
        ...

    async def language_of(self, name: str) -> str | None:
        """What the voice of this name speaks; None if there is none of this name."""
        ...

    async def pick(self, wish: str, language: str) -> str | None:
        """The name of a voice that speaks this language, the wished one if it can; or none."""
        ...

    async def next_to(self, name: str, language: str) -> str | None:
        """The name of the voice that comes, in a round, after the one that speaks this language for
        whoever wishes for this name (empty: the usual one); None if there is no other."""
        ...

    async def of(self, name: str) -> Synthesizer:
        """The voice of this name, loaded. Raises SpeechError if that can't be."""
        ...


class OneVoice:
    """`Voices` with only one voice."""

    def __init__(self, synthesizer: Synthesizer, language: str = "en") -> None:
        self._synthesizer = synthesizer
        self._language = language

    @property
    def usual(self) -> str:
        return ""

    @property
    def language(self) -> str:
        return self._language

    async def language_of(self, name: str) -> str | None:
        return None

    async def pick(self, wish: str, language: str) -> str | None:
        return self.usual if language == self.language else None

    async def next_to(self, name: str, language: str) -> str | None:
        return None

    async def of(self, name: str) -> Synthesizer:
        return self._synthesizer


def best(voices: Iterable[Voice], wishes: Iterable[str], language: str) -> Voice | None:
    """The first wish that speaks the language, else any voice that does."""
    able = {voice.name: voice for voice in voices if voice.language == language}
    return next((able[wish] for wish in wishes if wish in able), next(iter(able.values()), None))


def wished(voices: Iterable[Voice], name: str) -> Voice | None:
    """The voice of this name, or the one whose name has it as a part: `joe` is en_US-joe-medium."""
    listed = list(voices)
    for voice in listed:
        if voice.name == name:
            return voice
    parts = (voice for voice in listed if name and name in voice.name.split("-"))
    return next(parts, None)


def following(voices: Iterable[Voice], name: str, language: str) -> Voice | None:
    """The voice after the one of this name, by name and in a round; None if there is no other."""
    able = sorted((voice for voice in voices if voice.language == language), key=lambda v: v.name)
    others = [voice for voice in able if voice.name != name]
    return next((voice for voice in others if voice.name > name), next(iter(others), None))
