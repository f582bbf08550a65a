"""Knows which conversation a client goes on with, by what it says was said before."""

from collections import OrderedDict
from typing import Final

KEPT: Final = 1_000
"""Conversations of programs that can be gone on with; an older one begins anew, told its past."""


class Continuations:
    """By device and history: a conversation as it was left, to be taken up once.

    A history that was edited, or that goes on from an earlier point, is another one: it never
    reaches the variables of this one.
    """

    def __init__(self) -> None:
        self._left: OrderedDict[tuple[str, str], list[str]] = OrderedDict()

    def leave(self, device: str, digest: str, conversation: str) -> None:
        """It was left with this history."""
        self._left.setdefault((device, digest), []).append(conversation)
        self._left.move_to_end((device, digest))
        while len(self._left) > KEPT:
            self._left.popitem(last=False)

    def take_up(self, device: str, digest: str) -> str:
        """The conversation that was left so, by whoever takes it up first; empty: none."""
        waiting = self._left.get((device, digest))
        if not waiting:
            return ""
        conversation = waiting.pop()
        if not waiting:
            del self._left[device, digest]
        return conversation
