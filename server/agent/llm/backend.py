"""A language model and its prompt profile, chosen and replaced together."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

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
    leaves_home: bool = False
    """What it is sent goes beyond this home."""
    introduction: str | None = None
    """What a person must know before they trust it, to be told once."""


class Backends:
    """The language model of the settings, and others by name."""

    def __init__(
        self, usual: Backend, other: Callable[[str, bool], Awaitable[Backend]] | None = None
    ) -> None:
        """`other` gives another one, by its name, and whether one may be named that lies
        elsewhere."""
        self.usual = usual
        """The one of the settings."""
        self._other = other

    async def named(self, name: str, *, anywhere: bool) -> Backend:
        """A language model by its name; without one, that of the settings. `anywhere`: it need not
        be one that was fetched to this machine."""
        if not name:
            return self.usual
        if self._other is None:
            return replace(self.usual, missing="There is no other language model here.")
        return await self._other(name, anywhere)
