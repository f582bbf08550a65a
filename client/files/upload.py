"""Sends files into the workspace, and waits until the server says that they are there."""

import asyncio
import base64
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from sayso.client.errors import ClientError
from sayso.client.terminal.events import Screen, Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import FileGot, FilePut

PIECE_BYTES = 32_768
"""With base64 two thirds of the longest message that every server takes."""

ANSWER_SECONDS = 30.0
"""A server at home answers in milliseconds; a busy one in seconds."""


class NotTaken(ClientError):
    """A file did not arrive. The text says why."""


class FileSender:
    """Passes on what is seen, and looks for the server's answers. One file at a time."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._answers: asyncio.Queue[FileGot] = asyncio.Queue()

    def show(self, seen: Seen) -> None:
        self._screen.show(seen)
        if isinstance(seen, Envelope) and isinstance(seen.message, FileGot):
            self._answers.put_nowait(seen.message)

    async def put(self, path: Path, send: Callable[[FilePut], None]) -> str:
        """Send a file; returns its name in the workspace. Raises NotTaken."""
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                name, number, place = path.name, secrets.token_hex(8), 0
                while True:
                    data = await asyncio.to_thread(file.read, min(PIECE_BYTES, size - place))
                    text = base64.b64encode(data).decode()
                    send(FilePut(number, _sendable(name), size, place, text))
                    got = await self._answer(number, path)
                    place += len(data)
                    if got.name:
                        return got.name
                    if got.received != place or not data:
                        raise NotTaken(f"{path} changed while it was sent; send it again.")
        except OSError as error:
            raise NotTaken(f"{path} cannot be read: {error.strerror}.") from error

    async def _answer(self, number: str, path: Path) -> FileGot:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                while (got := await self._answers.get()).id != number:
                    pass
        except TimeoutError:
            raise NotTaken(f"The server does not say whether it took {path}; try again.") from None
        if got.problem:
            raise NotTaken(f"{path} was not taken. {got.problem}")
        return got


def _sendable(name: str) -> str:
    """Names of files may hold bytes that are no text."""
    return name.encode("utf-8", "replace").decode()
