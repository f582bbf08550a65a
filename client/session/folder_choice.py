"""Goes to the conversation and the folder that were asked for, as soon as the link is up, and says
when it is there."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path

from sayso.client.errors import ClientError
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.session.one_shot import Ask
from sayso.client.terminal.events import Screen, Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import Command, CommandDone, Error, TurnState

OPEN = "open"
"""The conversation of that folder, or a new one there."""
FOLDER = "folder"
"""This conversation, and in that folder from now on."""
NEW = "new"
"""A new conversation, of this name."""

ANSWER_SECONDS = 30.0
"""Work that goes on there is stopped first, which takes seconds."""


class NotThere(ClientError):
    """The server does not work in that folder. The text says why."""


class Placement:
    """A screen that passes everything on. Without a folder or a name it does no more than that."""

    def __init__(
        self, screen: Screen, folder: str, conversation: str = "", *, makes: bool = False
    ) -> None:
        """`conversation`: what the person named besides; it is what is to move then. `makes`:
        where there is none of that name, it is begun."""
        self._screen = screen
        self._folder = str(Path(folder).expanduser().absolute()) if folder else ""
        self._name = conversation
        self._makes = makes and bool(conversation)
        self._is_missing = self._is_oriented = False
        self._awaited = ""
        """The command whose answer says that it is there."""
        self._send: Callable[[Command], None] | None = None
        self._answer: asyncio.Future[CommandDone | None] = (
            asyncio.get_running_loop().create_future()
        )

    def through(self, send: Callable[[Command], None]) -> None:
        """How the server is told; to be said before the line is up."""
        self._send = send

    def show(self, seen: Seen) -> None:
        match seen:
            case Envelope(message=Error(code="forbidden")) if self._makes and not self._is_oriented:
                self._is_missing = True  # what follows says where it is instead
                return
            case _:
                self._screen.show(seen)
        match seen:
            case LinkChange(state=LinkState.UP, session="first" | "anew"):
                self._is_missing = self._is_oriented = False
                if self._folder and not self._name:
                    self._tell(Command(OPEN, self._folder))
            case Envelope(message=TurnState()) if not self._is_oriented:
                self._is_oriented = True
                self._go()
            case Envelope(message=CommandDone(name=name) as done) if name == self._awaited:
                if not (self._answer.done() or (done.ok and self._goes_on_from(name))):
                    self._answer.set_result(done)
            case _:
                pass

    def _go(self) -> None:
        """It is known now whether the conversation that was named is there."""
        if self._is_missing:
            self._tell(Command(NEW, self._name))
        elif self._folder and self._name:
            self._tell(Command(FOLDER, self._folder))
        elif not self._folder and not self._answer.done():
            self._answer.set_result(None)

    def _goes_on_from(self, name: str) -> bool:
        """Whether the new conversation is to move into a folder now."""
        if name != NEW or not self._folder:
            return False
        self._tell(Command(FOLDER, self._folder))
        return True

    def _tell(self, command: Command) -> None:
        self._awaited = command.name
        if self._send is not None:
            self._send(command)

    async def first(self, asks: AsyncIterator[Ask]) -> AsyncGenerator[Ask, None]:
        """The same, each of them asked there."""
        async for ask in asks:

            async def there(ask: Ask = ask) -> None:
                await self._settled()
                await ask()

            yield there

    async def _settled(self) -> None:
        """Returns when it is there. Raises NotThere."""
        if not (self._folder or self._makes):
            return
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                done = await asyncio.shield(self._answer)
        except TimeoutError:
            raise NotThere("The server does not say whether it works there; try again.") from None
        if done and not done.ok:
            raise NotThere(done.text)
