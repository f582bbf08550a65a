"""A link to a server's double, followed, for the tests of the line."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sayso.client.session.link import Link
from sayso.client.session.link_events import LinkChange, LinkEvent, LinkState
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import Hello
from sayso.protocol.version import SPOKEN
from tests.client.server_double import TOKEN, Wire

HELLO = Hello(SPOKEN, "test 1", "desk", ("resume",))
SOON = 20.0
"""Seconds within which everything here must happen; it takes milliseconds."""


@dataclass
class Life:
    """A link, its task, and what came out of it."""

    link: Link
    events: list[LinkEvent] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(SOON):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    async def state(self, state: LinkState) -> LinkChange:
        """Waits for a change to this state that nobody has waited for yet."""
        await self.until(lambda: any(change.state is state for change in self.changes))
        change = next(change for change in self.changes if change.state is state)
        del self.events[: self.events.index(change) + 1]
        return change

    @property
    def changes(self) -> list[LinkChange]:
        return [event for event in self.events if isinstance(event, LinkChange)]

    @property
    def messages(self) -> list[object]:
        return [event.message for event in self.events if isinstance(event, Envelope)]


@asynccontextmanager
async def living(url: str, token: str | None = TOKEN) -> AsyncIterator[Life]:
    life = Life(Link(url, HELLO, lambda: token))

    async def follow() -> None:
        async for event in life.link.events():
            life.events.append(event)
            life.changed.set()

    tasks = [asyncio.create_task(life.link.run()), asyncio.create_task(follow())]
    try:
        yield life
    finally:
        await life.link.close()
        async with asyncio.timeout(SOON):
            await asyncio.gather(*tasks)


def steps(*steps: Callable[[Wire], Awaitable[None]]) -> Callable[[Wire], Awaitable[None]]:
    """A server that does something else in each connection; the last one again and again."""
    left = list(steps)

    async def script(wire: Wire) -> None:
        step = left.pop(0) if len(left) > 1 else left[0]
        await step(wire)

    return script


async def break_off(wire: Wire) -> None:
    wire.socket.transport.abort()
