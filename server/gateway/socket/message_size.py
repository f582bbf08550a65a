"""Makes messages fit the frames that a client can take."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from math import inf
from typing import Any

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode

log = logging.getLogger(__name__)

ENVELOPE_BYTES = 64
"""Room for `seq`, `turn` and `gen`, which are given later."""

CHARACTER_BYTES = 6
"""What one takes at most: as an escape of JSON's, or in UTF-8."""

FIELD_BYTES = 64
"""What a field takes at most beside its text: its name, or a number."""

TOO_LONG = "[code that is too long for this device to show runs here]"
"""Stands for code that runs already, or was approved elsewhere."""


def fitted(message: m.FromServer, limit_bytes: int) -> Iterator[m.FromServer]:
    """The message in pieces that each fit. In place of code that runs and does not fit stands
    that it runs. What else can't be cut is left out: a device that can't show all of a piece of
    code must not be asked to approve it."""
    if _fits(message, limit_bytes):
        yield message
    elif isinstance(message, (m.ReplyDelta, m.CodeOut)) and len(message.text) > 1:
        middle = len(message.text) // 2
        yield from fitted(replace(message, text=message.text[:middle]), limit_bytes)
        yield from fitted(replace(message, text=message.text[middle:]), limit_bytes)
    elif isinstance(message, m.CodeEnd) and _listed(message.changes):
        changes = message.changes
        more = changes.more + _listed(changes)
        shorter = m.Changes(more=more, by_products=changes.by_products, commits=changes.commits[:1])
        yield from fitted(replace(message, changes=shorter), limit_bytes)
    elif isinstance(message, m.TaskUpdate) and message.output:
        yield from fitted(replace(message, output=""), limit_bytes)
    elif isinstance(message, m.CodeStart) and len(message.code) > len(TOO_LONG):
        yield from fitted(replace(message, code=TOO_LONG), limit_bytes)
    else:
        log.warning("%s is too long for a client's frames", m.NAMES[type(message)])


def with_snapshot(welcome: m.Welcome, snapshot: m.Snapshot, limit_bytes: int) -> m.Welcome:
    """The welcome with as much of the snapshot as fits: requests before jobs and turns, late
    turns before early ones."""
    approvals: tuple[Mapping[str, Any], ...] = ()
    for request in snapshot.approvals:
        fuller = (*approvals, request)
        if _fits(replace(welcome, snapshot=m.Snapshot((), fuller)), limit_bytes):
            approvals = fuller
    tasks = snapshot.tasks
    if not _fits(replace(welcome, snapshot=m.Snapshot((), approvals, tasks)), limit_bytes):
        tasks = ()
    turns: tuple[Mapping[str, Any], ...] = ()
    for turn in reversed(snapshot.turns):
        more = (turn, *turns)
        if not _fits(replace(welcome, snapshot=m.Snapshot(more, approvals, tasks)), limit_bytes):
            break
        turns = more
    return replace(welcome, snapshot=m.Snapshot(turns, approvals, tasks))


def _listed(changes: m.Changes) -> int:
    """How many things are named."""
    return sum(map(len, (changes.added, changes.changed, changes.deleted, changes.renamed)))


def _fits(message: m.FromServer, limit_bytes: int) -> bool:
    if _at_most(message) <= limit_bytes:
        return True
    return len(encode(Envelope(message)).encode()) + ENVELOPE_BYTES <= limit_bytes


def _at_most(message: m.FromServer) -> float:
    """A bound that is quickly known, for what is said most often: texts and numbers."""
    values = [getattr(message, field.name) for field in fields(message)]
    texts = [value for value in values if isinstance(value, str)]
    if not all(value is None or isinstance(value, (str, int, float)) for value in values):
        return inf
    size = CHARACTER_BYTES * sum(map(len, texts)) + FIELD_BYTES * (len(values) + 1)
    return size + ENVELOPE_BYTES
