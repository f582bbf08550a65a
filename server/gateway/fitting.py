"""Makes messages fit the frames that a client can take."""

import logging
from collections.abc import Iterator
from dataclasses import replace

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode

log = logging.getLogger(__name__)

ENVELOPE_BYTES = 64
"""Room for `seq`, `turn` and `gen`, which are given later."""


def fitted(message: m.FromServer, limit_bytes: int) -> Iterator[m.FromServer]:
    """The message in pieces that each fit. What can't be cut is left out: a device that can't show
    all of a piece of code must not be asked to approve it."""
    if len(encode(Envelope(message)).encode()) + ENVELOPE_BYTES <= limit_bytes:
        yield message
    elif isinstance(message, (m.ReplyDelta, m.CodeOut)) and len(message.text) > 1:
        middle = len(message.text) // 2
        yield from fitted(replace(message, text=message.text[:middle]), limit_bytes)
        yield from fitted(replace(message, text=message.text[middle:]), limit_bytes)
    else:
        log.warning("%s is too long for a client's frames", m.NAMES[type(message)])
