"""Keeps what survives a reboot: a few strings in flash memory, here in a file."""

import json
import os
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

LARGEST_BYTES = 4_096
"""A flash page; what is longer was not written by us."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a device was told when it was set up. Empty: factory-fresh."""

    name: str = ""
    network: str = ""
    password: str = ""
    server: str = ""
    """Address of the server's socket, `ws://…/ws` or `wss://…/ws`."""
    authority: str = ""
    """The one certificate that may vouch for the server: DER in base64; only with `wss://`."""
    token: str = ""
    conversation: str = ""
    """In which conversation it talks; empty: where the server puts it, in one of its own."""

    @property
    def is_set_up(self) -> bool:
        return bool(self.server and self.token)


class Nvs:
    """A file that is written whole or not at all, and that its owner alone can read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> Stored:
        """What is stored; a damaged page counts as an empty one, as on the device."""
        try:
            with self._path.open("rb") as file:
                found = json.loads(file.read(LARGEST_BYTES))
        except (OSError, ValueError):
            return Stored()
        if not isinstance(found, dict):
            return Stored()
        known = {field.name for field in fields(Stored)}
        texts = {k: v for k, v in found.items() if k in known and isinstance(v, str)}
        return replace(Stored(), **texts)

    def save(self, stored: Stored) -> None:
        draft = self._path.with_name(f"{self._path.name}.draft")
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(stored), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)

    def erase(self) -> None:
        """Factory-fresh again."""
        self._path.unlink(missing_ok=True)
