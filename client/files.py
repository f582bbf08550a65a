"""Pictures and other results that are too big for a message: fetched over HTTP, kept in a file."""

import asyncio
import mimetypes
import urllib.error
import urllib.request
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from sayso.client.acquaintance import Credentials
from sayso.client.errors import ClientError
from sayso.client.seen import FileSaved, Notice, Screen, Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import CodeOut, CommandDone

FETCH_SECONDS = 20.0
"""A picture at home takes milliseconds."""
LARGEST_BYTES = 32 * 1024 * 1024
"""Far more than a picture takes; a disk is not filled by mistake."""
MOST_FETCHES = 8
"""At once; a loop that draws a thousand plots must not open a thousand connections."""


class FileLost(ClientError):
    """A result could not be fetched or kept."""


class Keeper:
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
                self._screen.show(Notice(str(error)))
            else:
                self._screen.show(FileSaved(str(path), mime))

    def _fetch(self, file: str, mime: str, name: str) -> Path:
        address = file_address(self._credentials.server, file)
        request = urllib.request.Request(address)  # noqa: S310 (ours)
        if token := self._credentials.token():
            request.add_header("Authorization", f"Bearer {token}")
        # No proxy: the server is at home, and the token must not go elsewhere.
        tls = urllib.request.HTTPSHandler(context=self._credentials.context())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), tls)
        try:
            with opener.open(request, timeout=FETCH_SECONDS) as answer:
                content = answer.read(LARGEST_BYTES + 1)
            if len(content) > LARGEST_BYTES:
                raise FileLost(f"A result of more than {LARGEST_BYTES >> 20} MB was not fetched.")
            return self._write(content, mime, name)
        except (OSError, urllib.error.URLError) as error:
            reason = getattr(error, "reason", None) or error.strerror or error
            raise FileLost(f"A result could not be fetched and kept: {reason}.") from error

    def _write(self, content: bytes, mime: str, name: str) -> Path:
        """Under a name of ours: of the server's only the ending counts, and only if it is plain."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        suffix = mimetypes.guess_extension(mime.partition(";")[0].strip()) or ".bin"
        ending = Path(name).suffix
        suffix = ending if ending[1:].isalnum() and ending.isascii() else suffix
        stamp = datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
        for count in range(1000):
            path = self._folder / f"{stamp}{f'-{count}' if count else ''}{suffix}"
            try:
                with path.open("xb") as file:
                    file.write(content)
            except FileExistsError:
                continue
            return path
        raise FileLost(f"There is no room for a new name in {self._folder}.")


def file_address(server: str, name: str) -> str:
    """Where the server gives a file, by the address of its socket."""
    parts = urlsplit(server)
    scheme = "https" if parts.scheme == "wss" else "http"
    return urlunsplit((scheme, parts.netloc, f"/files/{quote(name, safe='')}", "", ""))
