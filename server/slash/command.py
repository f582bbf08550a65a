"""What one command is, what it may look at, and what comes of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from sayso.server.conversations.open_conversation import OpenConversation
from sayso.server.conversations.registry import ConversationRegistry
from sayso.server.store.records import Conversation


@dataclass(frozen=True, slots=True)
class Situation:
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
class Outcome:
    """What to tell the person."""

    text: str
    """For a screen, in Markdown."""
    ok: bool = True
    """False: it was not done, and the text says why."""
    file: str | None = None
    """The id on the shelf of a file that was made."""
    file_name: str = ""


Needs = Literal["talk", "approve"]
"""What a device must be allowed. `approve`: it changes what runs, what was done or what is kept."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a person can type with a slash."""

    name: str
    about: str
    """One line for the list, without a full stop."""
    run: Callable[[Situation], Awaitable[Outcome]]
    """Raises StoreError and NoSuchConversation, whose texts are for the person."""
    needs: Needs
    to_look: Needs | None = None
    """What it needs where nothing stands behind its name, if that only tells how things are."""

    def is_allowed(self, situation: Situation) -> bool:
        """Whether the device in this situation may give it."""
        looks = self.to_look is not None and not situation.text.strip()
        needs = self.to_look if looks else self.needs
        return needs == "talk" or situation.may_approve
