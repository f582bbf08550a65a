"""The settings of `[ears]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Annotated

from sayso.server.settings.value_types import Between, ByProject, Threads


@dataclass(frozen=True, slots=True)
class Ears:
    """How speech becomes text."""

    engine: str = "whisper"
    """Who turns speech into text: `whisper` on this machine, `remote` for a server that speaks the
    OpenAI wire, or an engine that an installed package brings under this name."""
    model: Annotated[str, ByProject()] = "tiny.en"
    """Whisper model: a name from `sayso models`, or a folder in CTranslate2 format. The default
    comes with Sayso; `base.en` errs less and takes twice as long."""
    language: Annotated[str, ByProject()] = "auto"
    """Language code such as `en` or `de`, or `auto` to find out from the first words. English-only
    models (`*.en`) always hear English."""
    threads: Threads = 0
    """Processor threads for one transcription; 0 takes as many as there are cores for each process
    of `ears.workers`, at most 4: more make a short utterance no faster."""
    workers: Annotated[int, Between(0, 64)] = 0
    """Processes of Whisper at most, about 120 MB each with the default model. There is one until
    several people speak at once; then one more each time that somebody has to wait. 0: one for
    every four cores."""
    api_base: str = ""
    """For the engine `remote`: URL of a server that has `/audio/transcriptions`, up to and
    including `/v1`. It is sent all that you say, as sound. Beyond your home it must be `https`;
    naming it here is your yes."""
    api_model: str = "whisper-1"
    """For `remote`: that server's name for the model."""
    api_drafts: bool = True
    """For `remote`: whether what is understood is shown while you speak, if the server is quick
    enough. Each draft is one more request with all that you said so far, for which a company may
    charge."""
    api_key_variable: str = ""
    """For `remote`: name of the environment variable that holds the API key. Empty: no key is
    sent."""
