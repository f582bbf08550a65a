"""Records of connections, disconnections, refusals, pairings and revocations. They belong to no
conversation, and hold no token and nothing that anybody said.
"""

from dataclasses import dataclass
from typing import Final

NO_CONVERSATION: Final = ""
"""Under this the log keeps them; no conversation has it for an id."""

MOST_KEPT: Final = 50_000
"""Of these records, the newest: years of a household, some 15 MB."""

_REASONS: Final = {
    "wrong_token": "its token is not valid",
    "no_token": "it showed no token",
    "wrong_code": "the pairing code was wrong",
    "pairing_closed": "no pairing was open, or its time was over",
    "wrong_host": "it asked for the server by a name that is not its own",
    "wrong_origin": "a page of another site sent it",
    "strangers": "too many of its address had not shown whose they are",
    "too_many": "too many were connected",
    "hello_timeout": "it said nothing in time",
    "version_mismatch": "it speaks another version of the protocol",
    "left": "it said goodbye",
    "lost": "the connection broke",
    "no_answer": "it gave no sign of life",
    "slow": "it did not take what it was sent",
    "replaced": "it went on in another connection",
    "revoked": "it was revoked",
    "stopped": "the server stopped",
    "too_fast": "it sent too much without a pause",
}
"""In words; another reason is a code of the protocol, and stands as it is."""


@dataclass(frozen=True, slots=True)
class DeviceConnected:
    """A paired device connected."""

    device: str
    """As it is called."""
    device_id: str = ""
    """As it is known for good."""
    person: str = ""
    address: str = ""
    """From where, as the system names it."""
    returned: bool = False
    """It took its session up again."""
    times: int = 1
    """So often; more than once where it happened too often to be told each time."""


@dataclass(frozen=True, slots=True)
class DeviceDisconnected:
    """Its connection ended."""

    device: str
    device_id: str = ""
    why: str = ""
    seconds: float = 0.0
    """For how long it was connected; of several, the last."""
    times: int = 1


@dataclass(frozen=True, slots=True)
class AccessRefused:
    """A client was refused."""

    reason: str
    address: str = ""
    """Empty: of several addresses, too many to be told apart."""
    device: str = ""
    """Which device, where it is one that belongs here."""
    device_id: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class DevicePaired:
    """A new device was paired."""

    device: str
    device_id: str = ""
    person: str = ""
    """Whose it is; empty: the owner's."""
    scopes: tuple[str, ...] = ()
    by: str = ""
    """The device that opened the pairing."""
    address: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class DeviceRevoked:
    """A device was revoked."""

    device: str
    device_id: str = ""
    person: str = ""
    scopes: tuple[str, ...] = ()
    """What it was allowed."""
    by: str = ""
    """The device on which that was done."""
    times: int = 1


AccessRecord = DeviceConnected | DeviceDisconnected | AccessRefused | DevicePaired | DeviceRevoked


def in_words(record: AccessRecord) -> str:
    """A sentence for people, the log's and the audit's."""
    match record:
        case DeviceConnected():
            sentence = f"{record.device} {'is back' if record.returned else 'connected'}"
            sentence += _from(record.address)
        case DeviceDisconnected():
            sentence = f"{record.device} disconnected after {record.seconds:.0f} s: "
            sentence += _REASONS.get(record.why, record.why)
        case AccessRefused():
            sentence = f"{record.device or 'Somebody'}{_from(record.address)} was refused: "
            sentence += _REASONS.get(record.reason, record.reason)
        case DevicePaired():
            sentence = f"{record.device} was paired{_whose(record.person)}, and may "
            sentence += f"{', '.join(record.scopes)}; let in by {record.by or 'somebody'}"
        case DeviceRevoked():
            sentence = f"{record.device}{_whose(record.person)} was revoked"
            sentence += f" by {record.by or 'somebody'}"
    return f"{sentence} ({record.times} times)." if record.times > 1 else f"{sentence}."


def _from(address: str) -> str:
    return f" from {address}" if address else ""


def _whose(person: str) -> str:
    return f" for {person}" if person else ""
