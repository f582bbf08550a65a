"""Makes messages fit the frames that a client can take."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode

log = logging.getLogger(__name__)

ENVELOPE_BYTES = 64
"""Room for `seq`, `turn` and `gen`, which are given later."""


def fitted(message: m.FromServer, limit_bytes: int) -> Iterator[m.FromServer]:
    """The message in pieces that each fit. What can't be cut is left out: a device that can't show
    all of a piece of code must not be asked to approve it."""
    if _fits(message, limit_bytes):
        yield message
    elif isinstance(message, (m.ReplyDelta, m.CodeOut)) and len(message.text) > 1:
        middle = len(message.text) // 2
        yield from fitted(replace(message, text=message.text[:middle]), limit_bytes)
        yield from fitted(replace(message, text=message.text[middle:]), limit_bytes)
    elif isinstance(message, m.CodeEnd) and message.changes != m.Changes():
        changes = message.changes
        listed = len(changes.added) + len(changes.changed) + len(changes.deleted)
        shorter = m.Changes(more=changes.more + listed)
        yield from fitted(replace(message, changes=shorter), limit_bytes)
    else:
        log.warning("%s is too long for a client's frames", m.NAMES[type(message)])


def with_snapshot(welcome: m.Welcome, snapshot: m.Snapshot, limit_bytes: int) -> m.Welcome:
    """The welcome with as much of the snapshot as fits: requests before turns, late turns before
    early ones."""
    approvals: tuple[Mapping[str, Any], ...] = ()
    for request in snapshot.approvals:
        fuller = (*approvals, request)
        if _fits(replace(welcome, snapshot=m.Snapshot((), fuller)), limit_bytes):
            approvals = fuller
    turns: tuple[Mapping[str, Any], ...] = ()
    for turn in reversed(snapshot.turns):
        more = (turn, *turns)
        if not _fits(replace(welcome, snapshot=m.Snapshot(more, approvals)), limit_bytes):
            break
        turns = more
    return replace(welcome, snapshot=m.Snapshot(turns, approvals))


def _fits(message: m.FromServer, limit_bytes: int) -> bool:
    return len(encode(Envelope(message)).encode()) + ENVELOPE_BYTES <= limit_bytes
