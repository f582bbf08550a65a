"""One slash command: its name, what it does and who may give it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from sayso.server.conversations.command_context import CommandContext, CommandResult

Needs = Literal["talk", "approve"]
"""What a device must be allowed. `approve`: it changes what runs, what was done or what is kept."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a person can type with a slash."""

    name: str
    about: str
    """One line for the list, without a full stop."""
    run: Callable[[CommandContext], Awaitable[CommandResult]]
    """Raises StoreError and NoSuchConversation, whose texts are for the person."""
    needs: Needs
    to_look: Needs | None = None
    """What it needs where nothing stands behind its name, if that only tells how things are."""

    def is_allowed(self, context: CommandContext) -> bool:
        """Whether the device in this context may give it."""
        looks = self.to_look is not None and not context.text.strip()
        needs = self.to_look if looks else self.needs
        return needs == "talk" or context.may_approve
