"""Locks a microphone for one hands-free client: two would both answer to the wake word, and speak
at once. Push-to-talk clients may share it."""

import fcntl
import os
import re
from contextlib import suppress

from sayso.client.errors import ClientError
from sayso.protocol.home import Home


class MicrophoneTaken(ClientError):
    """Another client listens there."""


def claim(home: Home, microphone: str) -> None:
    """Be the one, until this process ends. Raises EarTaken.

    Where no lock can be had (a card that went read-only, a network's file system without locks) it
    listens all the same: two that answer are a nuisance, and none is worse.
    """
    name = re.sub(r"[^a-z0-9]+", "-", microphone.casefold()).strip("-")[:60] or "default"
    with suppress(OSError):
        home.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Never closed: the system lets go of it when the process is gone, however that ends.
        handle = os.open(home.state / f"hands-free-{name}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise MicrophoneTaken(
                "Sayso listens hands-free at this microphone already, in another window or in the "
                "background: end that one (`sayso service uninstall`), or choose another with "
                "--mic; to hold a key, start without --hands-free."
            ) from None
