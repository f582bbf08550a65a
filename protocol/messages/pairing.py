"""Letting devices in: the owner opens, a device shows its code, and is known from then on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Pair:
    """In place of `hello`: a device that is not known yet shows what the owner gave it."""

    code: str
    """The code from the QR, or the digits that a person typed."""
    name: str = ""
    """What the device would like to be called, such as `kitchen`."""


@dataclass(frozen=True, slots=True)
class Paired:
    """The device is known from now on. The connection ends here."""

    token: str
    """To be shown at every greeting. Nobody else has it, and the server keeps only its hash."""
    device: str
    """What it is called."""
    person: str = ""
    """Whose it is; empty: the owner's."""
    scopes: tuple[str, ...] = ()
    """What it may do: `talk`, `approve`, `admin`."""


@dataclass(frozen=True, slots=True)
class PairingOpen:
    """Let one device in, within two minutes. Closing the connection takes it back."""

    name: str = ""
    """What it will be called; empty: as it calls itself."""
    person: str = ""
    """Whose it will be; empty: the owner's."""
    scopes: tuple[Literal["talk", "approve", "admin", "open"], ...] = ("talk", "approve")


@dataclass(frozen=True, slots=True)
class PairingClose:
    """Nobody is to come in any more: shuts the window that this client opened, if it still is."""


@dataclass(frozen=True, slots=True)
class PairingOpened:
    """What the device needs. To be shown to the person, and kept nowhere."""

    url: str
    """For a QR code: address, code and fingerprint."""
    digits: str
    """To be typed where there is no camera."""
    words: str
    """The fingerprint, to be compared before the digits are typed; empty where only this machine's
    own browser can come in, and the URL has no fingerprint either."""
    expires_s: float
    trust: str = ""
    """Where a browser that does not trust the server yet gets its authority, over plain HTTP.
    Empty: nowhere."""


@dataclass(frozen=True, slots=True)
class PairingDone:
    """The window is shut."""

    outcome: Literal["paired", "expired", "failed", "closed"]
    """`failed`: the code was wrong too often, or the device could not be kept. `closed`: by
    `pairing.close`, or because another window was opened."""
    device: str = ""
    """With `paired`: what the device is called."""


@dataclass(frozen=True, slots=True)
class DevicesList:
    """Which devices are paired?"""


@dataclass(frozen=True, slots=True)
class DevicesRevoke:
    """Turn this device out: its connections end at once, and its token is worth nothing."""

    device: str
    """Its name."""


@dataclass(frozen=True, slots=True)
class Devices:
    """All paired devices; the answer to `devices.list` and `devices.revoke`."""

    devices: tuple[Mapping[str, Any], ...] = ()
    """Oldest first, each `{"name", "person", "scopes", "paired_at", "connected"}`."""
