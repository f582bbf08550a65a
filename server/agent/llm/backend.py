"""A language model with how it is talked to, as one thing that can be chosen and exchanged."""

from dataclasses import dataclass

from sayso.server.agent.llm.model import ChatModel
from sayso.server.agent.prompt.profiles import ModelProfile


@dataclass(frozen=True, slots=True)
class Backend:
    """A language model, and how to talk to it."""

    model: ChatModel
    profile: ModelProfile
    sentence: str = ""
    """What answers, for a screen."""
    missing: str = ""
    """Why there is none; empty if there is one."""
    introduction: str | None = None
    """What a person must know before they trust it, to be told once."""
