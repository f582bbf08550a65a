"""Keeps repositories whole where a part of one cannot be taken back. Pure.

A branch that goes back while the index stays, or a commit whose objects go while a new branch still
leads to it, would be a damaged repository.
"""

import hashlib
from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Final

GIT: Final = ".git"

_STATE: Final = ("HEAD", "index", "packed-refs", "refs")
"""What fits together: where branches are, and what is to be committed next."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is not to be taken back."""

    paths: Set[str]
    """Nothing is done to them."""
    whole: Set[str]
    """Repositories of which nothing is taken back, because a part of them cannot be."""


def blob_name(content: bytes) -> str:
    """Git's name of a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def repository_of(path: str) -> tuple[str, str] | None:
    """The folder in which git keeps what it knows, and what of it a path is; None elsewhere."""
    names = path.split("/")
    if GIT not in names:
        return None
    depth = names.index(GIT) + 1
    return "/".join(names[:depth]), "/".join(names[depth:])


def is_state(within: str) -> bool:
    """Whether a path in a repository is part of what fits together."""
    return within.split("/", 1)[0] in _STATE


def keep_whole(removed: Set[str], done: Set[str], missed: Set[str], now: Iterable[str]) -> Kept:
    """What must stay as it is, so that each repository stays whole.

    `removed`: what would be removed; `done`: all that would be changed; `missed`: what was changed
    since, and stays as it is; `now`: all paths that are there.
    """
    paths: set[str] = set()
    whole: set[str] = set()
    of_path = {path: repository_of(path) for path in done | missed}
    folders = {found[0] for found in of_path.values() if found}
    for folder in folders:
        inside = {path for path in done if (of := of_path[path]) and of[0] == folder}
        if folder in removed:
            below = folder + "/"
            stays = any(path.startswith(below) and path not in removed for path in now)
        else:
            stays = any(of[0] == folder and is_state(of[1]) for p in missed if (of := of_path[p]))
        if stays:
            whole.add(folder)
            paths |= inside
        elif folder not in removed:
            # Somebody may have come to need them since; git throws away what nobody needs.
            paths |= {path for path in inside & removed if path.startswith(f"{folder}/objects/")}
    return Kept(paths, whole)
