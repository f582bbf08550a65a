"""Tells which open conversations are to be closed: those that nobody took part in for long, and the
longest unused where too many are open. They are opened again when somebody comes back to them."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Final

from sayso.server.conversations.open_conversation import OpenConversation

IDLE_S: Final = 1_800.0
"""Nobody takes part and nothing runs: after half an hour the interpreters give back their memory.
A device that comes and goes within that time finds its variables as it left them."""

LOOK_EVERY_S: Final = 60.0
"""Between two looks for idle conversations."""

OPEN_AT_MOST: Final = 16
"""Open ones that nobody takes part in count too; beyond that the longest unused are closed. Each
may hold interpreters of some 60 MB."""


class IdleClosing:
    """Remembers when each was used last."""

    def __init__(
        self, conversations: Mapping[str, OpenConversation], idle_s: float, open_at_most: int
    ) -> None:
        """`conversations`: those that are open, by id, as long as they are."""
        self._open = conversations
        self._idle_s = idle_s
        self._open_at_most = open_at_most
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
        if len(self._open) <= self._open_at_most:
            return ""
        unused = sorted(
            (name for name, here in self._open.items() if not here.conversation.occupied),
            key=self._used_at.__getitem__,
        )
        shares = Counter(here.about.owner for here in self._open.values())
        # The newest of the unused is the one that is being entered.
        return max(unused[:-1], key=lambda name: shares[self._open[name].about.owner], default="")
