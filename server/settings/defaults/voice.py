"""The settings of `[voice]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Annotated

from sayso.server.settings.value_types import Between, ByProject


@dataclass(frozen=True, slots=True)
class Voice:
    """Who speaks."""

    engine: str = "piper"
    """Who turns text into speech: `piper` on this machine, `remote` for a server that speaks the
    OpenAI wire, or an engine that an installed package brings under this name."""
    model: Annotated[str, ByProject()] = "en_US-joe-medium"
    """Piper voice: a name from `sayso models`, or the path of an `.onnx` file. The default comes
    with Sayso."""
    speed: Annotated[float, Between(0.5, 2.0), ByProject()] = 1.0
    """How fast it speaks: 2.0 is twice as fast. Beyond these bounds piper's speech is hard to
    understand."""
    fillers: Annotated[bool, ByProject()] = True
    """Whether "One moment." or the like is said, once, when an answer to spoken words takes more
    than 1.2 s to begin."""
    loaded: Annotated[int, Between(1, 16)] = 2
    """Voices in memory at once, about 150 MB each: yours, and one for answers in another language.
    A further one is loaded when it is wanted, in place of the one that was silent longest."""
    workers: Annotated[int, Between(0, 64)] = 0
    """Processes of each voice at most, about 150 MB each. There is one until several answers are
    spoken at once; each speaks to some seven people. 0: one for every four cores."""
    api_base: str = ""
    """For the engine `remote`: URL of a server that has `/audio/speech`, up to and including `/v1`.
    It is sent all that Sayso says. Beyond your home it must be `https`; naming it here is your
    yes."""
    api_model: str = "tts-1"
    """For `remote`: that server's name for the model."""
    api_voice: str = "alloy"
    """For `remote`: that server's name for the voice."""
    api_languages: tuple[str, ...] = ()
    """For `remote`: codes of the languages that this voice speaks, its own first, for example `de`.
    Empty: every language, and English unless something else is asked for."""
    api_key_variable: str = ""
    """For `remote`: name of the environment variable that holds the API key. Empty: no key is
    sent."""
