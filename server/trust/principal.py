"""The principal behind a connection, and what it may do."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

Scope = Literal["talk", "approve", "admin", "open"]
"""`talk`: take part. `approve`: decide what runs. `admin`: let devices in, and turn them out.
`open`: let code reach more for once by a spoken yes, after it was read out."""

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

THIS_DEVICE: Final = "this machine"

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

    @property
    def may_open_by_word(self) -> bool:
        """A device that was given just this right; this machine has its screen for that."""
        return self.device != THIS_DEVICE and self.may("open") and self.may("approve")

    def may(self, scope: Scope) -> bool:
        """Whether it has this right."""
        return scope in self.scopes


THIS_MACHINE: Final = Principal(THIS_DEVICE, OWNER, frozenset(SCOPES))
"""A program of the owner's on this machine: it can read the token file, as all of their files."""
