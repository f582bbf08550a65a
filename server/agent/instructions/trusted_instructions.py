"""Keeps which folders' instructions the owner wants followed for good: by their hashes.

What is trusted is a text in a place. Whoever changes the file, code or a person, has made another
text, which nobody has said yes to.
"""

import contextlib
import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from sayso.server.agent.instructions.instruction_files import InstructionFile

log = logging.getLogger(__name__)

MOST: Final = 500
"""Folders: the oldest are asked about anew."""


@dataclass(frozen=True, slots=True)
class Trusted:
    """The instructions of a folder that the owner said yes to."""

    name: str
    digest: str
    time: float
    """Unix seconds."""


class TrustedInstructions:
    """Of one owner, for all conversations."""

    def __init__(self, file: Path | None = None) -> None:
        """`file`: where they are kept; none: for as long as this lives."""
        self._file = file
        self._folders: dict[str, Trusted] = _loaded(file) if file else {}

    @property
    def folders(self) -> Mapping[str, Trusted]:
        """By folder, the oldest first."""
        return self._folders

    def holds(self, file: InstructionFile) -> bool:
        """Whether this very text is to be followed."""
        known = self._folders.get(file.folder)
        return known is not None and known.digest == file.digest

    def followed_before(self, file: InstructionFile) -> bool:
        """Whether another text of this folder was."""
        known = self._folders.get(file.folder)
        return known is not None and known.digest != file.digest

    def keep(self, file: InstructionFile) -> str:
        """Keep a yes; return what went wrong, in a sentence: it holds until Sayso ends then."""
        self._folders.pop(file.folder, None)
        self._folders[file.folder] = Trusted(file.name, file.digest, time.time())
        while len(self._folders) > MOST:
            del self._folders[next(iter(self._folders))]
        return self._write()

    def forget(self, folder: str) -> str:
        """Trust this folder's no more; return what went wrong, in a sentence."""
        self._folders.pop(folder, None)
        return self._write()

    def _write(self) -> str:
        if self._file is None:
            return ""
        draft = self._file.with_suffix(".new")
        told = {folder: asdict(one) for folder, one in self._folders.items()}
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as written:
                json.dump(told, written)
            draft.replace(self._file)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._file, error.strerror)
            return f"It could not be written down ({error.strerror}): it holds until Sayso ends."
        return ""


def _loaded(file: Path) -> dict[str, Trusted]:
    """What is kept; what can't be read is asked about anew."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        kept = json.loads(file.read_text(encoding="utf-8"))
        return {
            folder: Trusted(str(one["name"]), str(one["digest"]), float(one["time"]))
            for folder, one in kept.items()
        }
    return {}
