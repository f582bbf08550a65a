"""Reads the file in which a folder tells those who work in it how: AGENTS.md, or else CLAUDE.md.

It is opened from a descriptor of the folder, without following a link, and only its bytes are read.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.server.runtimes.protection import paths_beneath
from sayso.server.runtimes.protection.folder_identity import Identity, open_folder

NAMES: Final = ("AGENTS.md", "CLAUDE.md")
"""The first that is there counts."""

SHOWN_CHARS: Final = 32_000
"""Of one file: what a person can still look through before a yes. No more is told to a model."""

MOST_BYTES: Final = 1024**2
"""A longer file is no page of instructions, and is left alone."""


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """As it was when it was read."""

    folder: str
    """A whole path."""
    name: str
    text: str
    """As much of it as is shown, and told at most."""
    cut: bool
    """Whether there is more of it."""
    digest: str
    """Of the folder's path, the name and all bytes: what a yes is bound to."""


def read_instructions(folder: Path, known: Identity | None = None) -> InstructionFile | None:
    """What is there; None where nothing is. `known`: which folder it must be. Looks at the disk."""
    try:
        root = open_folder(folder, known)
    except OSError:
        return None
    try:
        for name in NAMES:
            data = _read(root, name)
            if data.strip():
                return _file(str(folder), name, data)
    finally:
        os.close(root)
    return None


def _read(root: int, name: str) -> bytes:
    try:
        return paths_beneath.text(root, name, MOST_BYTES) or b""
    except OSError:
        return b""


def _file(folder: str, name: str, data: bytes) -> InstructionFile:
    whole = data.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    text = shortened(whole, SHOWN_CHARS)
    bound = json.dumps([folder, name]).encode() + data
    digest = hashlib.sha256(bound).hexdigest()
    return InstructionFile(folder, name, text, text != whole, digest)


def shortened(text: str, most: int) -> str:
    """The lines that fit into so many characters."""
    if len(text) <= most:
        return text
    return text[: text.rfind("\n", 0, most) + 1 or most].rstrip()


def is_instruction_file(path: str) -> bool:
    """Whether a file is one by its name, in any letters: what says how to work is nobody's plain
    edit."""
    return path.rpartition("/")[2].casefold() in {name.casefold() for name in NAMES}
