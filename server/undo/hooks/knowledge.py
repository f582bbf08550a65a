"""Knows which hooks in writable folders are the person's own, and how that is saved on disk."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, cast, get_args

from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.protection.repositories import Kind

VERSION: Final = 1

Stamp = tuple[int, ...]
"""What is different when a file was changed, or a folder is another one; its device comes first."""

Files = frozenset[tuple[int, int]]
"""By device and inode."""

_FOLDER_STAMP: Final = 2
_FILE_STAMP: Final = 7
"""Numbers in the stamps of folders and of all else."""


@dataclass(slots=True)
class Knowledge:
    """What is the person's own, by its path."""

    roots: dict[Path, Identity] = field(default_factory=dict)
    """The folders that were looked through."""
    repositories: dict[Path, Stamp] = field(default_factory=dict)
    watched: dict[Path, Kind] = field(default_factory=dict)
    """What runs something in them, and startup files, there or not."""
    stamps: dict[Path, Stamp] = field(default_factory=dict)
    """Of what is there of these, and of what lies in them."""
    inodes: dict[Path, set[int]] = field(default_factory=dict)
    """Of all folders, the person's own or not: they are looked into first."""
    set_ids: dict[Path, Files] = field(default_factory=dict)
    """Set-user-id and set-group-id programs, by the folder that they lie in."""
    changed_at: int = 0
    """When the latest of these files was changed, in nanoseconds."""

    def on(self, devices: Mapping[int, int]) -> "Knowledge":
        """The same where devices have other numbers; what lies on any other has changed."""

        def moved(stamp: Stamp) -> Stamp:
            return devices.get(stamp[0], stamp[0]), *stamp[1:]

        return replace(
            self,
            repositories={path: moved(stamp) for path, stamp in self.repositories.items()},
            stamps={path: moved(stamp) for path, stamp in self.stamps.items()},
            set_ids={
                path: frozenset((devices.get(device, device), inode) for device, inode in files)
                for path, files in self.set_ids.items()
            },
        )


def write(knowledge: Knowledge) -> bytes:
    """Its form on the disk."""
    form = {
        "version": VERSION,
        "roots": {
            str(path): (one.device, one.inode, one.boot) for path, one in knowledge.roots.items()
        },
        "repositories": _by_text(knowledge.repositories),
        "watched": _by_text(knowledge.watched),
        "stamps": _by_text(knowledge.stamps),
        "inodes": {str(path): sorted(inodes) for path, inodes in knowledge.inodes.items()},
        "set_ids": {str(path): sorted(files) for path, files in knowledge.set_ids.items()},
    }
    return json.dumps(form, separators=(",", ":")).encode("ascii")


def read(text: bytes) -> Knowledge:
    """What was written. Raises ValueError if it is anything else."""
    try:
        form = json.loads(text)
        if form["version"] != VERSION:
            raise ValueError("another version of Sayso wrote it")
        return Knowledge(
            roots={
                Path(path): Identity(_number(device), _number(inode), str(boot))
                for path, (device, inode, boot) in form["roots"].items()
            },
            repositories=_stamps(form["repositories"]),
            watched={Path(path): _kind(kind) for path, kind in form["watched"].items()},
            stamps=_stamps(form["stamps"]),
            inodes={
                Path(path): set(map(_number, inodes)) for path, inodes in form["inodes"].items()
            },
            set_ids={
                Path(path): frozenset((_number(device), _number(inode)) for device, inode in files)
                for path, files in form["set_ids"].items()
            },
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("it is damaged") from error


def _by_text(by_path: Mapping[Path, object]) -> dict[str, object]:
    return {str(path): value for path, value in by_path.items()}


def _stamps(form: Mapping[str, Iterable[object]]) -> dict[Path, Stamp]:
    return {Path(path): _stamp(numbers) for path, numbers in form.items()}


def _stamp(numbers: Iterable[object]) -> Stamp:
    stamp = tuple(map(_number, numbers))
    if len(stamp) not in (_FOLDER_STAMP, _FILE_STAMP):
        raise TypeError
    return stamp


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _kind(value: object) -> Kind:
    if value not in get_args(Kind):
        raise TypeError
    return cast("Kind", value)
