"""Files on their way into the workspace, piece by piece."""

from dataclasses import dataclass

from sayso.protocol.messages.bounds import Count


@dataclass(frozen=True, slots=True)
class FilePut:
    """A piece of a file that the person sends along. The next one follows on `file.got`."""

    id: str
    """The client's name for this upload."""
    name: str
    """What the file is called; the server makes a harmless name of it."""
    size: Count
    """Bytes of the whole file."""
    offset: Count = 0
    """Where this piece begins."""
    data: str = ""
    """Its bytes in base64."""


@dataclass(frozen=True, slots=True)
class FileGot:
    """How much of the file is here."""

    id: str
    received: Count = 0
    """Bytes."""
    name: str = ""
    """What it is called in the workspace, once it is whole."""
    problem: str = ""
    """Why it is not taken, in a sentence; the upload is over."""
