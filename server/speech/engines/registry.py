"""Finds engines by name: those that come with Sayso, then those of installed packages.

A package brings an engine by an entry point in the group `sayso.engines` that leads to a
`SpeechEngine`. It is loaded when the settings name it, and not before; it cannot take the place of
one that comes with Sayso.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Final

from sayso.server.speech.engines.engine import Maker, RecognizerPart, SpeechEngine, VoicesPart
from sayso.server.speech.errors import EngineMissing

GROUP: Final = "sayso.engines"

SHIPPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "whisper": "sayso.server.speech.engines.whisper.entry",
        "piper": "sayso.server.speech.engines.piper.entry",
        "remote": "sayso.server.speech.engines.remote.entry",
    }
)
"""By name, the module whose `ENGINE` it is. Imported when it is asked for."""

USUAL_RECOGNIZER: Final = "whisper"
USUAL_VOICES: Final = "piper"
"""What is used where the named one can't be had: they need no network and no account."""


def recognizer(name: str) -> Maker[RecognizerPart]:
    """What makes recognisers under this name. Raises EngineMissing."""
    if (maker := _engine("ears.engine", name).recognizer) is None:
        raise EngineMissing(
            f"The engine {name} only speaks; choose another one for ears.engine, for example "
            f"{USUAL_RECOGNIZER}."
        )
    return maker


def voices(name: str) -> Maker[VoicesPart]:
    """What makes voices under this name. Raises EngineMissing."""
    if (maker := _engine("voice.engine", name).voices) is None:
        raise EngineMissing(
            f"The engine {name} only hears; choose another one for voice.engine, for example "
            f"{USUAL_VOICES}."
        )
    return maker


def _engine(setting: str, name: str) -> SpeechEngine:
    if module := SHIPPED.get(name):
        engine = import_module(module).ENGINE
    else:
        engine = _installed(setting, name)
    if not isinstance(engine, SpeechEngine):
        raise EngineMissing(f"{name} is no engine for speech; choose another one for {setting}.")
    return engine


def _installed(setting: str, name: str) -> object:
    """What an installed package brings under a name."""
    for point in entry_points(group=GROUP, name=name):
        try:
            return point.load()
        except Exception as problem:  # another package's module may raise anything
            raise EngineMissing(
                f"The engine {name} cannot be loaded ({type(problem).__name__}: {problem}); mend "
                f"its package, or choose another one for {setting}."
            ) from problem
    others = {point.name for point in entry_points(group=GROUP)} - SHIPPED.keys()
    there = ", ".join([*SHIPPED, *sorted(others)])
    raise EngineMissing(f"There is no engine named {name}; set {setting} to one of {there}.")
