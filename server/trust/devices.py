"""Stores the paired devices, which may connect, in one small file.

Only the hash of a token is kept; 256 random bits need no salt and no slow hash. The file is
replaced as a whole, so it is never half written.
"""

import dataclasses
import hashlib
import hmac
import json
import os
import secrets
import time
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from sayso.protocol.home import TOKEN_BYTES
from sayso.server.trust.principal import SCOPES, Principal, Scope

MOST_DEVICES = 64
"""Of a household, many times over; a page of a list."""
LONGEST_NAME = 40
"""Characters: a line of a list."""


class DevicesError(Exception):
    """The file of paired devices can't be used. One sentence for the person."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device that may connect."""

    id: str
    name: str
    """As a person calls it; no two are called alike."""
    person: str
    scopes: tuple[Scope, ...]
    token_hash: str
    """SHA-256 of the token, in hexadecimal digits."""
    paired_at: float
    """Unix seconds."""

    @property
    def who(self) -> Principal:
        return Principal(self.id, self.person, frozenset(self.scopes), self.name)


class Devices:
    """All that were paired and not revoked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._devices = _read(path)
        self._watchers: list[Callable[[Device], None]] = []
        self._turned_out: set[str] = set()
        """Revoked, whether that could be written or not."""

    @property
    def all(self) -> tuple[Device, ...]:
        """Oldest first."""
        return self._devices

    def on_revoked(self, watcher: Callable[[Device], None]) -> None:
        """Call this for every device that is revoked, at once."""
        self._watchers.append(watcher)

    def with_token(self, token: str) -> Principal | None:
        """Who shows this token. Takes as long for a wrong one as for a right one."""
        shown = _hash(token)
        found = None
        for device in self._devices:
            if hmac.compare_digest(device.token_hash, shown):
                found = device.who
        return found if found and found.device not in self._turned_out else None

    def still(self, who: Principal) -> bool:
        """Whether the device was not revoked meanwhile."""
        there = any(device.id == who.device for device in self._devices)
        return there and who.device not in self._turned_out

    def add(self, name: str, person: str, scopes: Iterable[Scope]) -> tuple[Device, str]:
        """A new device and its token, which is nowhere else. Raises DevicesError."""
        if len(self._devices) >= MOST_DEVICES:
            raise DevicesError(
                f"{MOST_DEVICES} devices are paired; revoke one with `sayso pair revoke NAME`."
            )
        token = secrets.token_urlsafe(TOKEN_BYTES)
        given = tuple(scope for scope in SCOPES if scope in set(scopes))
        unique = self._unique(plain_name(name) or "device")
        whose = self._person(plain_name(person))
        device = Device(secrets.token_hex(8), unique, whose, given, _hash(token), time.time())
        self._write((*self._devices, device))
        return device, token

    def revoke(self, name: str, among: Callable[[Device], bool] = lambda _device: True) -> Device:
        """Revokes a device at once. Raises DevicesError, also where it is not `among` those.

        That holds even if it can't be written: a person who lost a device must not wait for a disk.
        """
        wanted = plain_name(name).casefold()
        for device in self._devices:
            if wanted in (device.name.casefold(), device.id) and among(device):
                self._turned_out.add(device.id)
                try:
                    self._write(tuple(one for one in self._devices if one is not device))
                except DevicesError as problem:
                    raise DevicesError(
                        f"{device.name} is turned out until the server starts again; for good it "
                        f"was not: {problem}"
                    ) from problem
                finally:
                    for watcher in self._watchers:
                        watcher(device)
                return device
        raise DevicesError(f"No device is called {name}; `sayso pair list` shows which there are.")

    def _unique(self, name: str) -> str:
        taken = {device.name.casefold() for device in self._devices}
        unique, number = name, 2
        while unique.casefold() in taken:
            unique, number = f"{name} {number}", number + 1
        return unique

    def _person(self, name: str) -> str:
        """As somebody is written already, whatever the case: nobody is two persons by a slip."""
        known = (device.person for device in self._devices)
        return next((one for one in known if one.casefold() == name.casefold()), name)

    def _write(self, devices: tuple[Device, ...]) -> None:
        content = json.dumps([dataclasses.asdict(device) for device in devices], indent=1)
        draft = self._path.with_name(f".{self._path.name}-{secrets.token_hex(8)}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink()
            raise DevicesError(
                f"The paired devices could not be written to {self._path} ({error.strerror}); "
                "there nothing has changed. Mend that and try again."
            ) from error
        self._devices = devices


def plain_name(name: str, longest: int = LONGEST_NAME) -> str:
    """A name as it may stand in a list and a log: printable, on one line, and the same however its
    accents were typed."""
    composed = unicodedata.normalize("NFC", name)
    shown = "".join(character if character.isprintable() else " " for character in composed)
    return " ".join(shown.split())[:longest].strip()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path) -> tuple[Device, ...]:
    try:
        content = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError):
        raise DevicesError(
            f"The paired devices in {path} can't be read; make the file readable, or delete it "
            "and pair them again."
        ) from None
    try:
        return tuple(_device(fields) for fields in json.loads(content))
    except (ValueError, TypeError, KeyError):
        raise DevicesError(
            f"{path} holds no list of paired devices; delete it and pair them again."
        ) from None


def _device(fields: dict[str, object]) -> Device:
    scopes = cast("list[Scope]", fields["scopes"])
    texts = {name: fields[name] for name in ("id", "name", "person", "token_hash")}
    if not all(isinstance(text, str) for text in texts.values()) or not set(scopes) <= set(SCOPES):
        raise ValueError
    return Device(
        scopes=tuple(scopes),
        paired_at=float(cast(float, fields["paired_at"])),
        **cast("dict[str, str]", texts),
    )
