"""Keeps which folders' instructions the owner wants followed, and which not: by their hashes.

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
class InstructionsAnswer:
    """What the owner said about the instructions of a folder, the last time."""

    name: str
    digest: str
    follow: bool
    time: float
    """Unix seconds."""


class TrustedInstructions:
    """Of one owner, for all conversations."""

    def __init__(self, file: Path | None = None) -> None:
        """`file`: where they are kept; none: for as long as this lives."""
        self._file = file
        self._answers: dict[str, InstructionsAnswer] = _loaded(file) if file else {}

    @property
    def answers(self) -> Mapping[str, InstructionsAnswer]:
        """By folder, the oldest first."""
        return self._answers

    def answer(self, file: InstructionFile) -> bool | None:
        """Whether this very text is to be followed; None: nobody was asked about it."""
        known = self._answers.get(file.folder)
        return known.follow if known and known.digest == file.digest else None

    def followed_before(self, file: InstructionFile) -> bool:
        """Whether another text of this folder was."""
        known = self._answers.get(file.folder)
        return known is not None and known.follow and known.digest != file.digest

    def keep(self, file: InstructionFile, *, follow: bool) -> str:
        """Keep an answer; return what went wrong, in a sentence: then it holds until the server
        ends."""
        self._answers.pop(file.folder, None)
        answer = InstructionsAnswer(file.name, file.digest, follow, time.time())
        self._answers[file.folder] = answer
        while len(self._answers) > MOST:
            del self._answers[next(iter(self._answers))]
        return self._write()

    def forget(self, folder: str) -> str:
        """Nothing was said about this folder; return what went wrong, in a sentence."""
        self._answers.pop(folder, None)
        return self._write()

    def _write(self) -> str:
        if self._file is None:
            return ""
        draft = self._file.with_suffix(".new")
        told = {folder: asdict(answer) for folder, answer in self._answers.items()}
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


def _loaded(file: Path) -> dict[str, InstructionsAnswer]:
    """What is kept; what can't be read is asked about anew."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        kept = json.loads(file.read_text(encoding="utf-8"))
        return {
            folder: InstructionsAnswer(
                str(one["name"]), str(one["digest"]), one["follow"] is True, float(one["time"])
            )
            for folder, one in kept.items()
        }
    return {}
