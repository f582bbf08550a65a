"""What runs showed beside plain text (plots, tables, pages), kept on the disk for screens that come
later: files `RUN-r1.html` and so on, and `RUN.json`, which tells in which order they came, with the
text between them.
"""

import asyncio
import json
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from sayso.protocol.decoding import Mismatch, decoder_for
from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.runtimes.output_stream import HeadAndTail
from sayso.server.runtimes.runtime import Output

log = logging.getLogger(__name__)

RESULTS_OF_A_RUN: Final = 24
"""Plots and tables: a screen that is opened later shows no more of one run."""

RESULT_BYTES: Final = 4 * 2**20
"""A larger one is shown as it comes, and not kept."""

TEXT_CHARS: Final = 24_000
"""Of the text between them, from its beginning, and a third as much from its end; all of it lies in
`RUN.txt`."""

_ENDINGS: Final = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/svg+xml": ".svg",
    "text/html": ".html",
}
"""Of what screens show; other forms are kept as `.bin`."""


@dataclass(frozen=True, slots=True)
class KeptOutput:
    """A piece of what a run put out."""

    kind: Literal["stdout", "stderr", "result", "display", "error"]
    mime: str = "text/plain"
    text: str = ""
    file: str = ""
    """The name of the file with its content; empty: the text is all."""


class KeptResults:
    """Of one run, on its way to the disk. A run that shows text alone leaves nothing here."""

    def __init__(self, folder: Path, run: str) -> None:
        self._folder = folder
        self._run = run
        self._bound = HeadAndTail(TEXT_CHARS, TEXT_CHARS // 3)
        self._kept: list[KeptOutput] = []
        self._files = 0

    async def take(self, output: Output, name: str = "") -> None:
        """The next piece; `name` is its file, if it lies in one already."""
        if not output.data:
            if passed := self._bound.take(output):
                self._add(passed)
            return
        if self._files >= RESULTS_OF_A_RUN or len(output.data) > RESULT_BYTES:
            return
        if not name:
            name = f"{self._run}-r{self._files + 1}{_ENDINGS.get(output.mime, '.bin')}"
            if not await self._write(name, output.data):
                return
        self._files += 1
        self._kept.append(KeptOutput(output.kind, output.mime, output.text, name))

    async def finish(self) -> None:
        """That was all."""
        if not self._files:
            return
        for output in self._bound.rest(", and kept whole"):
            self._add(output)
        told = json.dumps([asdict(one) for one in self._kept])
        await self._write(f"{self._run}.json", told.encode())

    def _add(self, output: Output) -> None:
        last = self._kept[-1] if self._kept else None
        if last and not last.file and last.kind == output.kind:
            self._kept[-1] = KeptOutput(last.kind, text=last.text + output.text)
        else:
            self._kept.append(KeptOutput(output.kind, text=output.text))

    async def _write(self, name: str, data: bytes) -> bool:
        try:
            await asyncio.to_thread(_write, self._folder / name, data)
        except OSError as problem:
            log.warning("a run's result is not kept: %s", problem.strerror)
            return False
        return True


def read_results(folder: Path, run: str) -> Sequence[KeptOutput]:
    """What a run put out, in its order; nothing if it showed text alone, or is kept no more."""
    if not run.isalnum():
        return ()
    try:
        told = read_json((folder / f"{run}.json").read_text("utf-8"))
        read = decoder_for(KeptOutput)
        kept = [read(one) for one in told] if isinstance(told, list) else []
    except (OSError, UnicodeError, UntrustedJsonError, Mismatch):
        return ()
    return [one for one in kept if not one.file or (folder / Path(one.file).name).is_file()]


def _write(path: Path, data: bytes) -> None:
    """For its owner's eyes alone."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
