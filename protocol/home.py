"""Locates Sayso's files on this machine, and the token that its programs share."""

import os
import re
import secrets
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from sayso.protocol.errors import HomeError

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8765
DEFAULT_NETWORK_PORT = 8766
"""For devices that come in over TLS."""
DEFAULT_TRUST_PORT = 8767
"""For browsers that do not trust the server yet, while pairing is open."""
WEBSOCKET_PATH = "/ws"

TOKEN_BYTES = 32
"""256 bits: beyond guessing."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
"""32 bytes in URL-safe base64."""

_MAX_TOKEN_FILE_BYTES = 1_024
"""A token takes 44 bytes; whatever is longer is some other file."""


@dataclass(frozen=True, slots=True)
class Home:
    """The folders that Sayso keeps. They need not exist yet."""

    config: Path
    """What a person writes and wants to keep: settings, profiles."""
    data: Path
    """What was fetched or made: models, the kernels' environment, workspaces."""
    state: Path
    """What this machine remembers: the event log, the token."""

    @classmethod
    def find(cls) -> "Home":
        """`SAYSO_HOME` holds everything if it is set; else the platform's own places do."""
        if chosen := os.environ.get("SAYSO_HOME"):
            folder = Path(chosen).expanduser().absolute()
            return cls(folder, folder, folder)
        if sys.platform == "darwin":
            folder = Path.home() / "Library" / "Application Support" / "Sayso"
            return cls(folder, folder, folder)
        return cls(
            _xdg("XDG_CONFIG_HOME", ".config"),
            _xdg("XDG_DATA_HOME", ".local/share"),
            _xdg("XDG_STATE_HOME", ".local/state"),
        )

    @property
    def token_file(self) -> Path:
        """Holds the secret that a client on this machine shows to the server."""
        return self.state / "token"


def _xdg(variable: str, otherwise: str) -> Path:
    """The XDG rules: a path that is not absolute counts as not given."""
    given = Path(os.environ.get(variable, ""))
    return (given if given.is_absolute() else Path.home() / otherwise) / "sayso"


def read_token(home: Home) -> str | None:
    """Return this machine's token, or None if no server has made one yet.

    A file that others can read, or that holds something else, is a `HomeError`.
    """
    path = home.token_file
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(_MAX_TOKEN_FILE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HomeError(f"The token file {path} cannot be read: {error.strerror}.") from None
    if stat.S_IMODE(status.st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
        raise HomeError(f"Others can reach the token file {path}: run `chmod 600 '{path}'`.")
    token = content.decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(token):
        raise HomeError(f"The file {path} holds no token: delete it and start the server again.")
    return token


def make_token(home: Home) -> str:
    """Return this machine's token, making it first if there is none.

    The file appears whole or not at all, readable by its owner alone. When several processes make
    it at once, one wins and all return its token.
    """
    token = read_token(home)
    if token is not None:
        return token
    path = home.token_file
    draft = path.with_name(f".token-{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_private(draft, secrets.token_urlsafe(TOKEN_BYTES) + "\n")
        try:
            # Unlike a rename, a link never replaces what another process put there first.
            path.hardlink_to(draft)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    except OSError as error:
        raise HomeError(
            f"The token file {path} cannot be written: {error.strerror}. "
            "Mend that, or set SAYSO_HOME to a folder of yours."
        ) from None
    token = read_token(home)
    if token is None:
        raise HomeError(f"The token file {path} vanished while it was made: start again.")
    return token


def _write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner can read, down to the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
