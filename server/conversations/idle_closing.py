"""Tells which open conversations are to be closed: those that nobody took part in for long, and the
longest unused where too many are open. They are opened again when somebody comes back to them."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from sayso.server.conversations.open_conversation import OpenConversation
from sayso.server.runtimes.resources.usage import Machine, machine

IDLE_S: Final = 1_800.0
"""Nobody takes part and nothing runs: after half an hour the interpreters give back their memory.
A device that comes and goes within that time finds its variables as it left them."""

LOOK_EVERY_S: Final = 60.0
"""Between two looks for idle conversations."""

EACH_BYTES: Final = 100_000_000
"""Of one open conversation: its interpreters take some 60 MB, what its code loads the rest."""

KEPT_FREE: Final = 8
"""One part in so many of the machine's memory stays free for everything else."""

OPEN_AT_LEAST: Final = 4
"""Of any machine: fewer, and those who talk at once would close each other's."""

OPEN_AT_MOST: Final = 1_024

RoomFor = Callable[[int], int]
"""Tells how many conversations may be open, by how many are."""


def by_memory(now_open: int, look: Callable[[], Machine] = machine) -> int:
    """How many conversations may be open with the memory that is available now. Open ones that
    nobody takes part in count too; beyond that the longest unused are closed."""
    memory = look()
    free = memory.available - memory.whole // KEPT_FREE
    return min(max(now_open + free // EACH_BYTES, OPEN_AT_LEAST), OPEN_AT_MOST)


class IdleClosing:
    """Remembers when each was used last."""

    def __init__(
        self, conversations: Mapping[str, OpenConversation], idle_s: float, room_for: RoomFor
    ) -> None:
        """`conversations`: those that are open, by id, as long as they are."""
        self._open = conversations
        self._idle_s = idle_s
        self._room_for = room_for
        self.look_every_s = min(LOOK_EVERY_S, idle_s)
        self._used_at: dict[str, float] = {}

    def used(self, name: str) -> None:
        """Somebody takes part in it now."""
        self._used_at[name] = asyncio.get_running_loop().time()

    def closed(self, name: str) -> None:
        """It is not open any more."""
        del self._used_at[name]

    def idle(self) -> str:
        """One that was not used for too long; empty, if there is none."""
        now = asyncio.get_running_loop().time()
        for name, here in self._open.items():
            if here.conversation.occupied:
                self._used_at[name] = now
        unused = (name for name in self._open if now - self._used_at[name] >= self._idle_s)
        return next(unused, "")

    def beyond(self) -> str:
        """Where too many are open, the longest unused of whoever has most: nobody's conversations
        close because another person opens many. Empty, if none is to be closed."""
        if len(self._open) <= self._room_for(len(self._open)):
            return ""
        unused = sorted(
            (name for name, here in self._open.items() if not here.conversation.occupied),
            key=self._used_at.__getitem__,
        )
        shares = Counter(here.about.owner for here in self._open.values())
        # The newest of the unused is the one that is being entered.
        return max(unused[:-1], key=lambda name: shares[self._open[name].about.owner], default="")
