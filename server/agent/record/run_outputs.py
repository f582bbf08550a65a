"""Whole outputs, where the model was given only head and tail of them, and pictures, on disk.

One folder for each conversation. What was printed lies in `RUN.txt`, pictures in `RUN-1.png` and
so on, and what else was shown beside text as kept_results.py has it. Short outputs need no file:
the log holds them whole.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from sayso.server.agent.record.kept_results import KeptOutput, KeptResults, read_results
from sayso.server.agent.record.named_pictures import NamedPicture
from sayso.server.runtimes.runtime import Output

log = logging.getLogger(__name__)

KEPT_CHARS: Final = 9_000_000
"""Of one run: all that the interpreter's stream hands on (output_stream.py), with its note of what
it left out."""

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
        self._results = KeptResults(folder, run) if folder else None

    @property
    def pictures(self) -> tuple[str, ...]:
        """The names of those that were kept."""
        return tuple(self._pictures)

    @property
    def whole(self) -> str | None:
        """The file in which all that was printed lies, once it is finished; None: there is none."""
        return str(self._file) if self._folder and self._written else None

    @property
    def _file(self) -> Path:
        return (self._folder or Path()) / f"{self._run}.txt"

    async def take(self, output: Output, text: str) -> None:
        """The next piece; `text` is what of it the model is given."""
        if self._folder is None:
            return
        picture = ""
        ending = SEEN.get(output.mime)
        few = len(self._pictures) < PICTURES_OF_A_RUN
        if ending and few and 0 < len(output.data) <= PICTURE_BYTES:
            name = f"{self._run}-{len(self._pictures) + 1}{ending}"
            if await self._done(_keep, self._folder / name, output.data):
                self._pictures.append(name)
                picture = name
        if self._results:
            await self._results.take(output, picture)
        text = text[: KEPT_CHARS - self._written - self._buffered]
        if text:
            self._buffer.append(text)
            self._buffered += len(text)
        if self._buffered > BUFFER_CHARS:
            await self._flush()

    async def finish(self) -> None:
        """That was all."""
        if self._results:
            await self._results.finish()
        if (folder := self._folder) and (self._written or self._buffered > self._short):
            await self._flush()
            with suppress(OSError):
                await asyncio.to_thread(_thin, folder)

    async def _flush(self) -> None:
        text, self._buffer = "".join(self._buffer), []
        self._written += self._buffered
        self._buffered = 0
        if self._folder is not None:
            data = text.encode("utf-8", "surrogatepass")
            await self._done(_append, self._file, data)

    async def _done(self, work: Callable[[Path, bytes], None], path: Path, data: bytes) -> bool:
        """Whether the disk did it. What it did not take is kept no more: a full disk ends no run,
        and half of an output must not pass for all of it."""
        try:
            await asyncio.to_thread(work, path, data)
        except OSError as problem:
            log.warning("a run's output is not kept: %s", problem.strerror)
            with suppress(OSError):
                await asyncio.to_thread(self._file.unlink, missing_ok=True)
            self._folder = None
            return False
        return True


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

    async def keep_pictures(self, pictures: Sequence[NamedPicture]) -> tuple[str, ...]:
        """Keep what a request names, so that it is shown as it was; return the names of the files.
        Raises OSError."""
        if self._folder is None or not pictures:
            return ()
        return await asyncio.to_thread(_keep_named, self._folder, pictures)

    async def results(self, runs: Sequence[str]) -> Mapping[str, Sequence[KeptOutput]]:
        """What runs put out, in its order, of those that showed more than text."""
        if self._folder is None:
            return {}
        folder = self._folder
        return await asyncio.to_thread(lambda: {run: read_results(folder, run) for run in runs})

    def file(self, name: str) -> Path | None:
        """Where a file with a result lies."""
        return self._folder / Path(name).name if self._folder and name else None

    def whole(self, run: str) -> Path | None:
        """The file with all that a run printed, if that is long."""
        file = self._folder / f"{run}.txt" if self._folder and run.isalnum() else None
        return file if file and file.is_file() else None

    async def pictures(self, names: Sequence[str]) -> Mapping[str, tuple[str, bytes]]:
        """Those of them that are still there, each with its form."""
        if self._folder is None or not names:
            return {}
        return await asyncio.to_thread(_read_pictures, self._folder, tuple(names))


def _keep(path: Path, data: bytes) -> None:
    _write(path, data, os.O_TRUNC)


def _keep_named(folder: Path, pictures: Sequence[NamedPicture]) -> tuple[str, ...]:
    request = secrets.token_hex(8)
    names = [f"{request}-{number}{each.ending}" for number, each in enumerate(pictures, 1)]
    for name, each in zip(names, pictures, strict=True):
        _keep(folder / name, each.data)
    _thin(folder)
    return tuple(names)


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
    files: list[tuple[float, int, Path]] = []
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another run that ends now thins it, too
            about = path.stat()
            files.append((about.st_mtime, about.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= KEPT_BYTES:
            return
        total -= size
        path.unlink(missing_ok=True)
