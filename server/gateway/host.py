"""The seam between the gateway and the server behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

from sayso.protocol.frames import PictureFrame
from sayso.protocol.messages import ActResult, FilePut, FromServer, Snapshot
from sayso.server.trust.principal import OWNER, THIS_MACHINE, Principal
from sayso.server.turn.effects import Send
from sayso.server.turn.events import Event, Joined, Ticket


class Outlet(Protocol):
    """The way to a device. Never waits: what can't be sent in time ends the connection."""

    def tell(self, message: FromServer, ticket: Ticket) -> None: ...

    def send(self, speech: Send) -> None: ...


class Conversation(Protocol):
    """What devices talk in."""

    @property
    def id(self) -> str: ...

    def join(self, device: Joined, outlet: Outlet) -> None: ...

    def away(self, device: str) -> None:
        """The device's connection broke. Its outlet goes on taking what is told."""
        ...

    def back(self, device: Joined) -> None:
        """A device that was away is here again, under the same outlet."""
        ...

    def leave(self, device: str) -> None:
        """The device is gone for good, whether it was away or not."""
        ...

    def snapshot(self) -> Snapshot:
        """The conversation as it stands, for a client that missed too much."""
        ...

    def happened(self, event: Event) -> None: ...

    def acted(self, device: str, result: ActResult) -> None:
        """A device says what came of what it was asked to do."""
        ...

    def pictured(self, device: str, piece: PictureFrame) -> None:
        """A piece of the pictures of such an answer came."""
        ...

    def cancel_job(self, device: str, job: str) -> None:
        """The person wants this job stopped."""
        ...

    def put(self, device: str, piece: FilePut) -> None:
        """A piece of a file for the workspace; the answer comes through the outlet."""
        ...

    def command(self, device: str, name: str, text: str) -> None:
        """The person wants something of Sayso itself; the answer comes through the outlet."""
        ...


@dataclass(frozen=True, slots=True)
class Greeting:
    """What the server says about itself to clients that connect."""

    server: str
    models: Mapping[str, str]
    features: tuple[str, ...]
    commands: Mapping[str, str] = field(default_factory=dict)
    """What `command` may name, and a line about each."""


class Host(Protocol):
    """The server behind the gateway."""

    def greeting(self, person: str = OWNER) -> Greeting:
        """What it says about itself to clients of this person."""
        ...

    async def conversation(self, wanted: str = "", who: Principal = THIS_MACHINE) -> Conversation:
        """What this device joins, as soon as it can be talked in.

        `wanted`: the id or name of a conversation; where there is none, it is the device's own.
        """
        ...

    def health(self) -> Mapping[str, Any]:
        """The body of /health."""
        ...

    def metrics(self) -> bytes:
        """The body of /metrics, in Prometheus' text format; no secret, and nothing said."""
        ...

    def file(self, name: str, person: str) -> tuple[str, bytes] | None:
        """The type and content of what was announced under this id, while it is kept."""
        ...

    async def look(self, path: str, person: str) -> Mapping[str, Any] | None:
        """What a person may choose from: `/conversations`, one of these with its past, `/choices`.

        None if there is nothing under this path.
        """
        ...

    async def workspace_file(self, conversation: str, path: str, person: str) -> BinaryIO | None:
        """A file in the workspace of a conversation that this person may see.

        The caller reads it, and closes it.
        """
        ...
