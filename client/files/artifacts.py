"""Fetches pictures and other results too large for a message over HTTP, and keeps them in files."""

import asyncio
import mimetypes
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from sayso.client.files.download import FileLost, pieces, write_whole
from sayso.client.identity.known_server import Credentials
from sayso.client.terminal.events import FileSaved, Notice, Screen, Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import CodeOut, CommandDone

PATIENCE_S = 20.0
"""A picture at home takes milliseconds."""
LARGEST_BYTES = 32 * 1024 * 1024
"""Far more than a picture takes; a disk is not filled by mistake."""
MOST_FETCHES = 8
"""At once; a loop that draws a thousand plots must not open a thousand connections."""


class ArtifactFiles:
    """A screen before another one: fetches announced files, and tells where they lie."""

    def __init__(self, screen: Screen, credentials: Credentials, folder: Path) -> None:
        self._screen = screen
        self._credentials = credentials
        self._folder = folder
        self._tasks: set[asyncio.Task[None]] = set()
        self._at_once = asyncio.Semaphore(MOST_FETCHES)

    def show(self, seen: Seen) -> None:
        self._screen.show(seen)
        match seen:
            case Envelope(message=CodeOut(file=str(file), mime=mime)):
                self._fetch_later(file, mime, "")
            case Envelope(message=CommandDone(file=str(file), file_name=name)):
                self._fetch_later(file, "", name)
            case _:
                pass

    async def fetched(self, file: str, mime: str) -> Path:
        """Fetch what was announced under this id, and return where it lies. Raises FileLost."""
        return await asyncio.to_thread(self._fetch, file, mime, "")

    def _fetch_later(self, file: str, mime: str, name: str) -> None:
        task = asyncio.create_task(self._keep(file, mime, name))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Waits for what is being fetched."""
        await asyncio.gather(*self._tasks)

    async def _keep(self, file: str, mime: str, name: str) -> None:
        async with self._at_once:
            try:
                path = await asyncio.to_thread(self._fetch, file, mime, name)
            except FileLost as error:
                self._screen.show(Notice(f"A result was not fetched. {error}"))
            else:
                self._screen.show(FileSaved(str(path), mime))

    def _fetch(self, file: str, mime: str, name: str) -> Path:
        content = bytearray()
        for piece in pieces(self._credentials, f"/files/{quote(file, safe='')}", PATIENCE_S):
            content += piece
            if len(content) > LARGEST_BYTES:
                raise FileLost(f"It has more than {LARGEST_BYTES >> 20} MB.")
        try:
            return self._write(content, mime, name)
        except OSError as error:
            raise FileLost(f"It cannot be kept in {self._folder}: {error.strerror}.") from error

    def _write(self, content: bytearray, mime: str, name: str) -> Path:
        """Under a name of ours: of the server's only the ending counts, and only if it is plain."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        suffix = mimetypes.guess_extension(mime.partition(";")[0].strip()) or ".bin"
        ending = Path(name).suffix
        suffix = ending if ending[1:].isalnum() and ending.isascii() else suffix
        stamp = datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
        for count in range(1000):
            path = self._folder / f"{stamp}{f'-{count}' if count else ''}{suffix}"
            try:
                write_whole(path, [content])
            except FileExistsError:
                continue
            return path
        raise FileLost(f"There is no room for a new name in {self._folder}.")
