"""Keeps what persons have Sayso remember, a readable file for each, and one for each folder.

Each line has its day and the device that said it. A file is bounded; what is full says so, and
nothing goes out by itself. What is forgotten is in no file any more: these are no logs.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.protocol.visible import HIDDEN

MOST_LINES: Final = 60
MOST_CHARS: Final = 6_000
"""Of one file: all of it is told to models with each request."""

LONGEST: Final = 300
"""Characters of one thing: two sentences."""

_HEAD: Final = "# What you had Sayso remember. Change or delete lines as you like.\n\n"
_BEGIN: Final = "- "


class MemoryFullError(Exception):
    """As much is remembered as may be."""


class TooLongError(Exception):
    """It is no thing to remember but a text."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing that is remembered."""

    text: str
    day: str = ""
    by: str = ""
    """The device it was said to."""

    @property
    def line(self) -> str:
        """As it stands in the file."""
        said = ", ".join(part for part in (self.day, self.by) if part)
        return f"{_BEGIN}{self.text}{f'  ({said})' if said else ''}"


class Memories:
    """Of all persons and folders; what they change by hand counts from the next look."""

    def __init__(self, folder: Path, today: Callable[[], str]) -> None:
        """`today`: the day, as YYYY-MM-DD."""
        self._folder = folder
        self._today = today

    def of_person(self, person: str) -> Path:
        """The file of a person; the owner is nobody in particular."""
        return self._folder / (f"person-{_digest(person)}.md" if person else "owner.md")

    def of_folder(self, folder: str, person: str) -> Path:
        """The file of what a person has remembered of a folder."""
        return self._folder / f"folder-{_digest(f'{person}:{folder}')}.md"

    def all(self, file: Path) -> Sequence[Memory]:
        """What is remembered there."""
        try:
            lines = file.read_text(encoding="utf-8", errors="replace")[: 2 * MOST_CHARS]
        except OSError:
            return ()
        found = (_read(line) for line in lines.splitlines() if line.startswith(_BEGIN))
        return tuple(found)[:MOST_LINES]

    def about(self, file: Path, words: str) -> Sequence[Memory]:
        """What is remembered there about something; without words, all of it."""
        wanted = _words(words)
        return tuple(one for one in self.all(file) if wanted <= _words(one.text))

    def keep(self, file: Path, text: str, by: str) -> bool:
        """Remember a thing; false if it is remembered already. Raises MemoryFullError,
        TooLongError, OSError."""
        text = HIDDEN.sub("", " ".join(text.split())).strip(" .")
        if not text or len(text) > LONGEST:
            raise TooLongError
        there = self.all(file)
        if any(one.text.casefold() == text.casefold() for one in there):
            return False
        new = Memory(text, self._today(), " ".join(by.split())[:40])
        if len(there) >= MOST_LINES or len(_written([*there, new])) > MOST_CHARS:
            raise MemoryFullError
        self._write(file, [*there, new])
        return True

    def forget(self, file: Path, gone: Sequence[Memory]) -> None:
        """Remember these no more. Raises OSError."""
        left = [one for one in self.all(file) if one not in gone]
        if left:
            self._write(file, left)
        else:
            self.forget_all(file)

    def forget_all(self, file: Path) -> None:
        """Remember nothing of this any more. Raises OSError."""
        file.unlink(missing_ok=True)

    def _write(self, file: Path, memories: Sequence[Memory]) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=self._folder)  # its owner's alone
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as written:
                written.write(_written(memories))
            Path(draft).replace(file)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(draft).unlink()
            raise


def _written(memories: Sequence[Memory]) -> str:
    return _HEAD + "".join(f"{one.line}\n" for one in memories)


def _read(line: str) -> Memory:
    text, _, said = line.removeprefix(_BEGIN).rpartition("  (")
    if not text or not said.endswith(")"):
        return Memory(line.removeprefix(_BEGIN).strip())
    day, _, by = said[:-1].partition(", ")
    return Memory(text, day, by)


def _words(text: str) -> set[str]:
    """The words of a text that say what it is about."""
    plain = "".join(char if char.isalnum() else " " for char in text.casefold())
    return set(plain.split())


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]
