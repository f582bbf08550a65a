"""Which conversation a device takes part in, and what a person types with a slash."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """The person wants something of Sayso itself, not of the model: `/undo`, `/cost`, `/resume`."""

    name: str
    """Without the slash."""
    text: str = ""
    """What follows it on the line."""


@dataclass(frozen=True, slots=True)
class CommandDone:
    """What came of a command; sent to the device that gave it."""

    name: str
    ok: bool = True
    """False: it was not done, and `text` says why."""
    text: str = ""
    """For the screen, in Markdown."""
    file: str | None = None
    """The id of a file that it made, to be fetched over HTTP."""
    file_name: str = ""
    """What to call that file."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The device takes part in this conversation from here on; turns and streams begin anew."""

    id: str
    name: str = ""
    """What the person calls it."""
