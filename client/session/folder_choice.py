"""Opens the conversation of a folder as soon as the link is up, and says when it is open."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path

from sayso.client.errors import ClientError
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.session.one_shot import Ask
from sayso.client.terminal.events import Screen, Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import Command, CommandDone

OPEN = "open"
"""The conversation of that folder, or a new one there."""
FOLDER = "folder"
"""This conversation, and in that folder from now on."""

ANSWER_SECONDS = 30.0
"""Work that goes on there is stopped first, which takes seconds."""


class NotThere(ClientError):
    """The server does not work in that folder. The text says why."""


class Placement:
    """A screen that passes everything on. Without a folder it does no more than that."""

    def __init__(self, screen: Screen, folder: str, conversation: str = "") -> None:
        """`conversation`: what the person named besides; it is what is to move then."""
        self._screen = screen
        self._folder = str(Path(folder).expanduser().absolute()) if folder else ""
        self._verb = FOLDER if conversation else OPEN
        self._send: Callable[[Command], None] | None = None
        self._answer: asyncio.Future[CommandDone] = asyncio.get_running_loop().create_future()

    def through(self, send: Callable[[Command], None]) -> None:
        """How the server is told; to be said before the line is up."""
        self._send = send

    def show(self, seen: Seen) -> None:
        self._screen.show(seen)
        match seen:
            case LinkChange(state=LinkState.UP, session="first" | "anew") if self._folder:
                if self._send is not None:
                    self._send(Command(self._verb, self._folder))
            case Envelope(message=CommandDone(name=self._verb) as done):
                if self._folder and not self._answer.done():
                    self._answer.set_result(done)
            case _:
                pass

    async def first(self, asks: AsyncIterator[Ask]) -> AsyncGenerator[Ask, None]:
        """The same, each of them asked there."""
        async for ask in asks:

            async def there(ask: Ask = ask) -> None:
                await self._settled()
                await ask()

            yield there

    async def _settled(self) -> None:
        """Returns when it is there. Raises NotThere."""
        if not self._folder:
            return
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                done = await asyncio.shield(self._answer)
        except TimeoutError:
            raise NotThere("The server does not say whether it works there; try again.") from None
        if not done.ok:
            raise NotThere(done.text)
