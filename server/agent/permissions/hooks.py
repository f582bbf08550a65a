"""The seam to the person's hooks: programs of their own that are asked before something runs or is
committed, and told of what was changed and answered. They can only make things stricter.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from sayso.server.policy.judge import Judgement
from sayso.server.store.changes import NO_CHANGES, Changes

SENT_BACK_MOST: Final = 3
"""Times in one request that an answer is sent back to the model: a hook that is never satisfied
must not keep it at work."""


@dataclass(frozen=True, slots=True)
class HookEvent:
    """What happens, as a hook is told it."""

    where: str
    """The folder in which code runs."""
    label: str = ""
    """The language of what is to run, or the tool's name."""
    text: str = ""
    """The code, or the tool's arguments as they are shown."""
    changes: Changes = NO_CHANGES
    asked: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class HookWords:
    """What a hook has to say."""

    hook: str
    text: str
    sends_back: bool = False
    """The model is to go on with it."""


class Hooks(Protocol):
    """Of one conversation."""

    async def before_run(self, event: HookEvent) -> Judgement:
        """What they have against it. One that fails in any way is against it."""
        ...

    async def after_change(self, event: HookEvent) -> str:
        """What they say of what was changed, in sentences; empty if nothing."""
        ...

    async def at_end(self, event: HookEvent) -> tuple[HookWords, ...]:
        """What they say of an answer."""
        ...


class NoHooks:
    """There are none."""

    async def before_run(self, event: HookEvent) -> Judgement:
        return Judgement()

    async def after_change(self, event: HookEvent) -> str:
        return ""

    async def at_end(self, event: HookEvent) -> tuple[HookWords, ...]:
        return ()
