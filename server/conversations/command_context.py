"""The context in which a person gave a command, and the command's result."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from sayso.server.conversations.open_conversation import OpenConversation
from sayso.server.conversations.registry import ConversationRegistry
from sayso.server.store.records import Conversation


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Where a command was given."""

    conversations: ConversationRegistry
    here: OpenConversation
    """The conversation that the device takes part in."""
    move: Callable[[Conversation], Awaitable[None]]
    """Take the device to another conversation."""
    device: str
    person: str
    text: str
    """What stands behind the command's name."""
    may_approve: bool = True
    """Whether the device may decide what runs."""
    may_admin: bool = True
    """Whether the device may manage devices."""
    at_console: bool = False
    """It comes from this machine itself, from a program of the server's own user."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What to tell the person."""

    text: str
    """For a screen, in Markdown."""
    ok: bool = True
    """False: it was not done, and the text says why."""
    file: str | None = None
    """The artifact id of a file that was made."""
    file_name: str = ""
    asks: str = ""
    """What the person asks with it, as if they had typed that; nothing else is told then."""


class Commands(Protocol):
    """What a person can type with a slash."""

    async def run(self, name: str, context: CommandContext) -> CommandResult:
        """Do as a command says. Raises StoreError and NoSuchConversation."""
        ...
