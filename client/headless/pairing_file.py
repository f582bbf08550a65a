"""Pairing by a file: `sayso pair --file` on the server writes it, a person puts it on the card that
the device starts from, and the device reads it once.

The file holds the device's token, so it does not stay: it is removed, or at least emptied, as soon
as the token is kept where only its owner can read it.
"""

from contextlib import suppress
from pathlib import Path

from sayso.client.errors import ClientError
from sayso.client.identity.known_server import LARGEST_BYTES, KnownServer, parse, write
from sayso.protocol.home import Home

NAME = "sayso.json"
BOOT_FOLDERS = (Path("/boot/firmware"), Path("/boot"))
"""Where Raspberry Pi OS has the part of its card that every computer can write to: now, and before
version 12."""
HANDED_OVER = Path("/run/sayso-headless")
"""Whom the service runs as may not remove files there, so systemd moves the file here for it."""
PLACES = tuple(folder / NAME for folder in (HANDED_OVER, *BOOT_FOLDERS))


class NotArrived(ClientError):
    """There is a file to be paired by, and it is no good. The sentence says what to do."""


def arrive(home: Home, places: tuple[Path, ...] = PLACES) -> KnownServer | None:
    """Takes the first file that is there, and keeps what is in it. None: there is none."""
    for path in places:
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST_BYTES)
        except OSError:
            continue
        if not content:
            continue  # It was read before, and could only be emptied.
        known = parse(content)
        if known is None:
            raise NotArrived(
                f"{path} is damaged: write it again with `sayso pair --file` on the server."
            )
        write(home, known)
        _remove(path)
        return known
    return None


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        with suppress(OSError):
            path.write_bytes(b"")
            return
        raise NotArrived(
            f"This device is paired now, but {path} still holds its token: delete that file."
        ) from None
