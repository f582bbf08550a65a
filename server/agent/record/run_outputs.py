"""Whole outputs, where the model was given only head and tail of them, and pictures, on disk.

One folder for each conversation. What was printed lies in `RUN.txt`, pictures in `RUN-1.png` and
so on. Short outputs need no file: the log holds them whole.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from sayso.server.runtimes.runtime import Output

KEPT_CHARS: Final = 8_000_000
"""Of one run: a book of ten thousand pages. What a runaway prints beyond it nobody reads."""

KEPT_BYTES: Final = 64 * 2**20
"""Of one conversation, oldest out first."""

BUFFER_CHARS: Final = 256 * 1024
"""Kept in memory before it goes to the disk: a flood is written in few pieces."""

PICTURES_OF_A_RUN: Final = 4
PICTURE_BYTES: Final = 1_500_000
"""Larger ones are refused by most providers; the person sees them all the same."""

SEEN: Final[Mapping[str, str]] = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}
"""Forms that models can look at, and their files' endings."""

_FORMS: Final = {ending: mime for mime, ending in SEEN.items()}


class Recording:
    """One run's output on its way to the disk."""

    def __init__(self, folder: Path | None, run: str, short: int) -> None:
        """`short`: so many characters need no file."""
        self._folder = folder
        self._run = run
        self._short = short
        self._buffer: list[str] = []
        self._buffered = 0
        self._written = 0
        self._pictures: list[str] = []

    @property
    def pictures(self) -> tuple[str, ...]:
        """The names of those that were kept."""
        return tuple(self._pictures)

    async def take(self, output: Output, text: str) -> None:
        """The next piece; `text` is what of it the model is given."""
        if self._folder is None:
            return
        ending = SEEN.get(output.mime)
        few = len(self._pictures) < PICTURES_OF_A_RUN
        if ending and few and 0 < len(output.data) <= PICTURE_BYTES:
            name = f"{self._run}-{len(self._pictures) + 1}{ending}"
            self._pictures.append(name)
            await asyncio.to_thread(_keep, self._folder / name, output.data)
        text = text[: KEPT_CHARS - self._written - self._buffered]
        if text:
            self._buffer.append(text)
            self._buffered += len(text)
        if self._buffered > BUFFER_CHARS:
            await self._flush()

    async def finish(self) -> None:
        """That was all."""
        if self._folder is None:
            return
        if self._written or self._buffered > self._short:
            await self._flush()
            await asyncio.to_thread(_thin, self._folder)

    async def _flush(self) -> None:
        text, self._buffer = "".join(self._buffer), []
        self._written += self._buffered
        self._buffered = 0
        if self._folder is not None:
            data = text.encode("utf-8", "surrogatepass")
            await asyncio.to_thread(_append, self._folder / f"{self._run}.txt", data)


class RunOutputs:
    """Those of one conversation."""

    def __init__(self, folder: Path | None) -> None:
        """None keeps nothing: long outputs cannot be paged then."""
        self._folder = folder

    def record(self, run: str, short: int) -> Recording:
        """Begin to keep a run's output."""
        return Recording(self._folder, run, short)

    async def read(self, run: str) -> str | None:
        """All that was kept of what a run printed; None if that is nothing."""
        if self._folder is None or not run.isalnum():
            return None
        return await asyncio.to_thread(_read, self._folder / f"{run}.txt")

    async def pictures(self, names: Sequence[str]) -> Mapping[str, tuple[str, bytes]]:
        """Those of them that are still there, each with its form."""
        if self._folder is None or not names:
            return {}
        return await asyncio.to_thread(_read_pictures, self._folder, tuple(names))


def _keep(path: Path, data: bytes) -> None:
    _write(path, data, os.O_TRUNC)


def _append(path: Path, data: bytes) -> None:
    _write(path, data, os.O_APPEND)


def _write(path: Path, data: bytes, how: int) -> None:
    """For its owner's eyes alone."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600), "wb") as file:
        file.write(data)


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogatepass")
    except (OSError, ValueError):
        return None


def _read_pictures(folder: Path, names: tuple[str, ...]) -> dict[str, tuple[str, bytes]]:
    found = {}
    for name in names:
        path = folder / Path(name).name
        if path.suffix in _FORMS and path.is_file():
            found[name] = (_FORMS[path.suffix], path.read_bytes())
    return found


def _thin(folder: Path) -> None:
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
    total = sum(path.stat().st_size for path in files)
    for path in files:
        if total <= KEPT_BYTES:
            return
        total -= path.stat().st_size
        path.unlink(missing_ok=True)
