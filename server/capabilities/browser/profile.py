"""A person's folder for their browser: its profile, and files on their way. One browser has it at a
time, whether it is driven or has a window."""

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.capabilities.browser.errors import RefusedError
from sayso.server.capabilities.browser.transfers import FILES, own_folder
from sayso.server.runtimes.protection import paths_beneath

PROFILE: Final = "profile"
"""In a person's folder: what the browser keeps."""

_LOCKS: Final = ("SingletonLock", "SingletonCookie", "SingletonSocket")
"""What a browser that was killed leaves in its profile: links to a process that is no more."""

_DEFAULT: Final = "Default"
_PREFERENCES: Final = "Preferences"
_PREFERENCES_MOST_BYTES: Final = 4 * 1024**2
_GO_ON: Final = 1
"""In a profile's preferences: to go on where it was."""

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def take(folder: Path) -> int:
    """Have a person's profile for ourselves, until the descriptor that is returned is closed.
    Raises RefusedError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(folder / "lock", flags, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise RefusedError(
            "This browser is in use: its window is open (`sayso browser`), or a conversation works"
            " in it. Close the window, or say “close the browser”, and try again."
        ) from None
    return handle


def prepare(folder: Path) -> Path:
    """Make what is missing, and remove what an earlier browser left for the next; return the
    profile. To be called by who has taken it. A browser may write to all of it, and what it left
    there may be anything: no link is followed. Raises OSError."""
    holder = os.open(folder, _FOLDER)
    try:
        os.close(own_folder(holder, FILES))
        top = own_folder(holder, PROFILE)
        try:
            for name in _LOCKS:
                with suppress(OSError):
                    os.unlink(name, dir_fd=top)
            _forget_what_was_open(top)
            with suppress(OSError):
                _keep_sign_ins(top)
        finally:
            os.close(top)
    finally:
        os.close(holder)
    return folder / PROFILE


def _forget_what_was_open(top: int) -> None:
    with (
        suppress(OSError),
        paths_beneath.folder_of(top, f"{_DEFAULT}/Sessions/any") as (sessions, _),
    ):
        for name in os.listdir(sessions):  # noqa: PTH208 (a descriptor, no path)
            with suppress(OSError):
                os.unlink(name, dir_fd=sessions)


def _keep_sign_ins(top: int) -> None:
    """See to it that what sites want forgotten with the window is kept: that is what Chromium does
    if it shall go on where it was."""
    with suppress(FileExistsError):
        os.mkdir(_DEFAULT, 0o700, dir_fd=top)
    folder = os.open(_DEFAULT, _FOLDER, dir_fd=top)
    try:
        _give(folder, top)
        try:
            text = paths_beneath.text(folder, _PREFERENCES, _PREFERENCES_MOST_BYTES) or b"{}"
            preferences = read_json(text, most_bytes=_PREFERENCES_MOST_BYTES)
        except (OSError, UntrustedJsonError):
            preferences = {}
        preferences = preferences if isinstance(preferences, dict) else {}
        session = preferences.get("session")
        session = session if isinstance(session, dict) else {}
        if session.get("restore_on_startup") == _GO_ON:
            return
        preferences["session"] = {**session, "restore_on_startup": _GO_ON}
        with suppress(FileNotFoundError):
            os.unlink(_PREFERENCES, dir_fd=folder)
        with os.fdopen(os.open(_PREFERENCES, _NEW, 0o600, dir_fd=folder), "w") as file:
            json.dump(preferences, file)
            _give(file.fileno(), top)
    finally:
        os.close(folder)


def _give(handle: int, like: int) -> None:
    """Have the same owner."""
    owner = os.fstat(like)
    if os.geteuid() == 0 and os.fstat(handle).st_uid != owner.st_uid:
        os.fchown(handle, owner.st_uid, owner.st_gid)
