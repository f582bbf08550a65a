"""Restores a conversation's settings when it is resumed, by folding what the person decided.

Pure. Permanent grants are not in here: the settings file keeps them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from sayso.server.runtimes.grants import Folder, Grants
from sayso.server.runtimes.protection.folder_identity import Identity, look_at
from sayso.server.store.decisions import (
    ModeChanged,
    ModelChosen,
    NetworkUsed,
    ReachGranted,
    ReachTakenBack,
    Seen,
    ToolIntended,
)
from sayso.server.store.records import Asked, ConversationReset, Record, RunIntended, RunReported

CUT_OFF: Final = "what a run reached when Sayso ended"
"""What a run went to is written down when it is over."""


@dataclass(frozen=True, slots=True)
class ConversationSettings:
    """What holds for one conversation."""

    granted: Grants = field(default_factory=Grants)
    mode: str = ""
    """What runs unasked; empty: as the settings have it."""
    model: str = ""
    """Which language model answers; empty: the one of the settings."""
    heard: frozenset[str] = frozenset()
    """From where code has read untrusted content: hosts, and folders."""
    ran: bool = False
    """Whether anything ran, or was looked at for a call that was then refused."""
    running: str = ""
    """A run that is not known to be over."""

    @classmethod
    def of(cls, records: Iterable[Record]) -> Self:
        """As the log tells it. A reset takes back grants and mode, and leaves the model."""
        terms = cls()
        for record in records:
            match record:
                case ReachGranted(lasting=False):
                    terms = replace(terms, granted=terms.granted.joined(reach_of(record)))
                case ReachTakenBack(lasting=False):
                    terms = replace(terms, granted=terms.granted.without(reach_of(record)))
                case ModeChanged(mode=mode):
                    terms = replace(terms, mode=mode)
                case ModelChosen(name=name):
                    terms = replace(terms, model=name)
                case NetworkUsed() | ToolIntended() | Asked():
                    terms = replace(terms, heard=terms.heard | _brought_by(record))
                case RunIntended(run=run, outside=outside):
                    heard = terms.heard.union(outside, (CUT_OFF,) if terms.running else ())
                    terms = replace(terms, heard=heard, running=run)
                case RunReported(run=run, status=status):
                    over = run == terms.running and status != "unknown"
                    running = "" if over else terms.running
                    terms = replace(terms, ran=True, running=running)
                case ConversationReset():
                    terms = cls(model=terms.model)
                case _:
                    pass
        return replace(terms, heard=terms.heard | {CUT_OFF}) if terms.running else terms


def _brought_by(record: NetworkUsed | ToolIntended | Asked) -> frozenset[str]:
    """From where this let untrusted content in."""
    if isinstance(record, Asked):
        return frozenset(record.outside)
    if isinstance(record, NetworkUsed):
        return frozenset({record.host} if record.received else ())
    return frozenset({f"the tool {record.tool}"} if record.outside else ())


def reach_of(record: ReachGranted | ReachTakenBack) -> Grants:
    """What a record is about."""
    seen = {each.path: each for each in record.seen} if isinstance(record, ReachGranted) else {}
    read = (Folder(Path(path), "read", identity_in(seen.get(path))) for path in record.read)
    write = (Folder(Path(path), "write", identity_in(seen.get(path))) for path in record.write)
    return Grants((*read, *write), record.hosts, network=record.network)


def identity_in(seen: Seen | None) -> Identity | None:
    """By what a folder is recognised, as it was written down."""
    return Identity(seen.device, seen.inode, seen.boot) if seen else None


def as_seen(path: Path, identity: Identity | None) -> tuple[Seen, ...]:
    """The same, to be written down."""
    return (Seen(str(path), identity.device, identity.inode, identity.boot),) if identity else ()


def seen_at(path: Path) -> tuple[Seen, ...]:
    """Which folder is there now; none, if a link is."""
    try:
        _, identity = look_at(path)
    except OSError:
        return ()
    return as_seen(path, identity)


def granted(run: str, added: Grants, by: str, *, lasting: bool) -> ReachGranted:
    """The record of a grant."""
    read, write = added.places("read"), added.places("write")
    seen = tuple(one for each in added.folders for one in as_seen(each.path, each.identity))
    return ReachGranted(
        run, added.lines, by, lasting, read, write, added.hosts, network=added.network, seen=seen
    )


def taken_back(part: Grants, by: str, *, lasting: bool) -> ReachTakenBack:
    """The record of a grant that is no more."""
    read, write = part.places("read"), part.places("write")
    return ReachTakenBack(part.lines, by, lasting, read, write, part.hosts, network=part.network)
