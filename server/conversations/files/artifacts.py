"""Keeps pictures and files that are too large for a message; clients fetch them by id."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

ARTIFACTS_BYTES = 64 * 2**20
"""All that is kept, oldest out first: some hundred plots, little beside the models in memory."""

ARTIFACTS_MOST = 10_000
"""Ids of what lies on the disk cost a hundred bytes each."""

ID_BYTES = 16
"""Of chance in an id: it can't be guessed."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """Something to fetch."""

    mime: str
    data: bytes = b""
    path: Path | None = None
    """Where the data lies instead, in a file of the server's own."""
    person: str = ""
    """Whose it is: nobody else can fetch it, whatever ids they know."""
    conversation: str = ""
    """In which it was made."""

    @property
    def content(self) -> bytes | None:
        """The data; None if its file is gone."""
        if self.path is None:
            return self.data
        try:
            return self.path.read_bytes()
        except OSError:
            return None


class Artifacts:
    """Keeps the latest things, up to a bound."""

    def __init__(self, limit_bytes: int = ARTIFACTS_BYTES) -> None:
        self._limit = limit_bytes
        self._items: OrderedDict[str, Artifact] = OrderedDict()
        self._bytes = 0

    def put(self, item: Artifact) -> str:
        """Keep it; returns its id."""
        name = secrets.token_urlsafe(ID_BYTES)
        self._items[name] = item
        self._bytes += len(item.data)
        while self._bytes > self._limit or len(self._items) > ARTIFACTS_MOST:
            _, oldest = self._items.popitem(last=False)
            self._bytes -= len(oldest.data)
        return name

    def get(self, name: str, person: str) -> Artifact | None:
        """What lies here under this id for this person."""
        item = self._items.get(name)
        return item if item and item.person == person else None

    def forget(self, conversation: str) -> None:
        """Let go of all that was made in a conversation."""
        for name, item in list(self._items.items()):
            if item.conversation == conversation:
                del self._items[name]
                self._bytes -= len(item.data)

    def of(self, person: str, conversation: str) -> "ConversationArtifacts":
        """Where what is made for a person in a conversation is put."""
        return ConversationArtifacts(self, person, conversation)


class ConversationArtifacts:
    """The artifacts of one conversation."""

    def __init__(self, artifacts: Artifacts, person: str, conversation: str) -> None:
        self._artifacts = artifacts
        self._person = person
        self._conversation = conversation

    def put(self, mime: str, data: bytes) -> str:
        """Keep it; returns its id."""
        return self._artifacts.put(
            Artifact(mime, data, person=self._person, conversation=self._conversation)
        )

    def put_file(self, mime: str, path: Path) -> str:
        """Keep what lies in a file of the server's own, for as long as that is there; returns its
        id."""
        return self._artifacts.put(
            Artifact(mime, path=path, person=self._person, conversation=self._conversation)
        )
