"""Finds pictures in the workspace that a request names: those that were sent along with it, and
"look at chart.png". Each is read as it is then, and by its content, not by its name.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.server.runtimes.protection import paths_beneath
from sayso.server.runtimes.protection.folder_identity import Identity, open_folder

MOST: Final = 4
"""With one request: each takes as much of a prompt as a page."""

MOST_BYTES: Final = 3_700_000
"""Of one: in base64 it is five megabytes, which is what providers take."""

LONGEST: Final = 4_000
"""Characters of a request that are looked through."""

_PICTURE: Final = r"\.(?:png|jpe?g|gif|webp)"
_BARE: Final = re.compile(rf"(?<![\w/.~@+-])((?:[\w.@+-]+/)*[\w.@+-]+{_PICTURE})\b", re.IGNORECASE)
_QUOTED: Final = re.compile(rf"([\"'`])([^\"'`\n]{{1,200}}{_PICTURE})\1", re.IGNORECASE)
_SENT: Final = re.compile(r"in the workspace: ([^\n]+)\.\)\s*$")
"""How files are told of that were sent along; a name of theirs may have spaces in it."""

_FORMS: Final = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), ".png"),
    (re.compile(rb"\xff\xd8\xff"), ".jpg"),
    (re.compile(rb"GIF8[79]a"), ".gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), ".webp"),
)
"""How the forms that models look at begin, and their files' endings."""


@dataclass(frozen=True, slots=True)
class NamedPicture:
    """A picture that a request names."""

    ending: str
    """Of its form."""
    data: bytes
    name: str = ""
    """As the request calls it."""


def named_pictures(text: str, folder: Path, known: Identity | None = None) -> list[NamedPicture]:
    """Those that are there, in the order in which they are named. `known`: which folder it must be.
    Looks at the disk.
    """
    names = dict.fromkeys(_names(text[-LONGEST:]))
    if not names:
        return []
    try:
        root = open_folder(folder, known)
    except OSError:
        return []
    found: list[NamedPicture] = []
    try:
        for name in names:
            data = _read(root, name) if len(found) < MOST else b""
            ending = next((ending for form, ending in _FORMS if form.match(data)), "")
            if ending:
                found.append(NamedPicture(ending, data, name))
    finally:
        os.close(root)
    return found


def _names(text: str) -> Iterator[str]:
    sent = _SENT.search(text)
    yield from sent[1].split(", ") if sent else ()
    yield from (found[2].removeprefix("./") for found in _QUOTED.finditer(text))
    yield from (found[1].removeprefix("./") for found in _BARE.finditer(_QUOTED.sub(" ", text)))


def _read(root: int, name: str) -> bytes:
    """The file's content; nothing if it is none beneath the root, or too large."""
    if any(part in ("", ".", "..") for part in name.split("/")):
        return b""
    try:
        with paths_beneath.folder_of(root, name) as (holder, last):
            return paths_beneath.text(holder, last, MOST_BYTES) or b""
    except (OSError, ValueError):
        return b""
