"""A home whose server logs, for the tests of what it writes."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from sayso.protocol.home import Home
from sayso.server.observability import server_log


@contextmanager
def logging_home(file_bytes: int = server_log.FILE_BYTES, level: str = "info") -> Iterator[Home]:
    """Into files of so many bytes; the test's own logging is as before afterwards."""
    root, ours = logging.getLogger(), logging.getLogger("sayso")
    before, levels = root.handlers[:], (root.level, ours.level)
    root.handlers.clear()
    found = Home.find()
    server_log.write_log(level, found)
    for handler in root.handlers:
        if isinstance(handler, server_log.PrivateFile):
            handler.maxBytes = file_bytes
    try:
        yield found
    finally:
        for handler in root.handlers:
            handler.close()
        root.handlers[:] = before
        root.setLevel(levels[0])
        ours.setLevel(levels[1])
