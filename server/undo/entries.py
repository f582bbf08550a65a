"""An entry as the archive keeps it: a line of JSON, and the name of its content beside it."""

import json
from typing import cast

from sayso.server.undo.tree import Entry, Kind


def write(entry: Entry) -> tuple[str, bytes | None]:
    """The record, and the name of the kept content if there is one.

    The name stands in a column of its own, by which the archive knows what is still needed.
    """
    kept = entry.kind == "file" and not entry.unkept
    record = (
        entry.kind,
        entry.mode,
        entry.owner,
        entry.group,
        entry.size,
        entry.mtime_ns,
        "" if kept else entry.content.hex(),
        entry.unkept,
        entry.ctime_ns,
        entry.inode,
        entry.device,
        entry.links,
    )
    return json.dumps(record, separators=(",", ":")), entry.content if kept else None


def read(record: str, name: bytes | None) -> Entry:
    """The entry again."""
    kind, mode, owner, group, size, mtime, other, unkept, ctime, inode, device, links = json.loads(
        record
    )
    content = bytes.fromhex(other) if name is None else name
    return Entry(
        cast(Kind, kind),
        mode,
        owner,
        group,
        size,
        mtime,
        content,
        unkept,
        ctime,
        inode,
        device,
        links,
    )
