"""The principal behind a connection, and what it may do."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

Scope = Literal["talk", "approve", "admin"]
"""`talk`: take part. `approve`: decide what runs. `admin`: let devices in, and turn them out."""

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

OWNER: Final = ""
"""The person whose machine the server is; others have a name."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A client that has proved who it is."""

    device: str
    """Names it for good, whatever it is called."""
    person: str
    """Whose it is: this person's conversations are its own, and no others are there for it."""
    scopes: frozenset[Scope]
    name: str = ""
    """What it was called when it was paired; empty lets it say."""

    def may(self, scope: Scope) -> bool:
        """Whether it has this right."""
        return scope in self.scopes


THIS_MACHINE: Final = Principal("this machine", OWNER, frozenset(SCOPES))
"""A program of the owner's on this machine: it can read the token file, as all of their files."""
