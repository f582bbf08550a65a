"""A home whose server logs, for the tests of what it writes."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from sayso.protocol.home import Home
from sayso.server import discreet


@contextmanager
def logging_home(file_bytes: int = discreet.FILE_BYTES, level: str = "info") -> Iterator[Home]:
    """Into files of so many bytes; the test's own logging is as before afterwards."""
    root, ours = logging.getLogger(), logging.getLogger("sayso")
    before, levels = root.handlers[:], (root.level, ours.level)
    root.handlers.clear()
    found = Home.find()
    discreet.write_log(level, found)
    for handler in root.handlers:
        if isinstance(handler, discreet.PrivateFile):
            handler.maxBytes = file_bytes
    try:
        yield found
    finally:
        for handler in root.handlers:
            handler.close()
        root.handlers[:] = before
        root.setLevel(levels[0])
        ours.setLevel(levels[1])
