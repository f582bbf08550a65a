"""Passes interrupts on to a kernel that knows them as signals: a script in the sandbox.

It runs as `python -I -S interrupter.py LINK COMMAND…`, where LINK is the number of a socket: each
byte on it is an interrupt, and is sent back when that has been given. It ends as the command ends.
"""

import contextlib
import os
import signal
import socket
import sys
import threading
from pathlib import Path

INTERRUPTER = Path(__file__).resolve()

_BY_SIGNAL = 128
"""What a shell, too, adds to the number of the signal that ended a command."""


def main() -> None:
    link = socket.socket(fileno=int(sys.argv[1]))
    link.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = os.posix_spawn(
        sys.argv[2], sys.argv[2:], os.environ, setpgroup=0, setsigdef=[signal.SIGINT]
    )
    threading.Thread(target=_pass_on, args=(link, child), daemon=True).start()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else _BY_SIGNAL - code)


def _pass_on(link: socket.socket, child: int) -> None:
    while link.recv(1):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGINT)
        with contextlib.suppress(OSError):
            link.send(b"!")


if __name__ == "__main__":
    main()
