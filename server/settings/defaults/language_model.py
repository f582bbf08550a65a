"""The settings of `[language_model]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Annotated, Literal

from sayso.server.settings.value_types import Between, Threads


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """Which language model answers."""

    model: str = "auto"
    """`auto`: a local model server that answers, else a cloud key that you allowed, else the pocket
    model. Otherwise a litellm name (`anthropic/claude-sonnet-5-5`, `ollama_chat/qwen3:8b`), a GGUF
    model from `sayso models` or a path to one, or `none`. Naming a cloud model here is your yes to
    sending it what you say."""
    api_base: str = ""
    """URL of a server that speaks the OpenAI wire, up to and including `/v1`; with it, `model` is
    that server's name for the model. Empty means the provider's own."""
    api_key_variable: str = ""
    """Name of the environment variable that holds the API key. Empty means the provider's usual
    one. Keys themselves are never written to settings."""
    calls_tools: Literal["auto", "yes", "no"] = "auto"
    """Whether the model is given tools; otherwise it writes fenced code. `auto` asks the model's
    server, or knows the provider; a server at `api_base` is asked once at each start whether it
    calls a tool, with nothing of yours."""
    cloud_allowed: tuple[str, ...] = ()
    """Companies that may be sent what you say when their key is in the environment, for example
    `anthropic, openai`. Speech leaves the house only with this yes."""
    cloud_refused: tuple[str, ...] = ()
    """Companies whose keys are never used, and about which Sayso does not ask again."""
    look_for_local: bool = True
    """Whether to look for Ollama, LM Studio, llamafile and Jan on this machine at start."""
    stays_home: bool = False
    """Never to send what you say to a company, whatever else is set: only models on this machine
    or in your own network, for hearing and speaking too."""
    temperature: Annotated[float, Between(-1, 2)] = -1.0
    """How freely the model chooses its words, from 0; -1 leaves it to the model's profile or
    provider."""
    sees: Literal["auto", "yes", "no"] = "auto"
    """Whether the model can look at pictures, those that code draws and those that you name or send
    along; `auto` knows the well-known ones."""
    context_tokens: Annotated[int, Between(1_024, 262_144)] = 8_192
    """Length of the embedded model's memory, in tokens: what the starter was trained with, which
    takes 190 MB. Twice as long costs twice the memory; a model that was trained with less is given
    only that."""
    threads: Threads = 0
    """Processor threads of the embedded model; 0 takes all cores but one, so that hearing and
    speaking keep one."""
