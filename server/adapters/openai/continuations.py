"""Knows which conversation a client goes on with, by what it says was said before."""

from collections import OrderedDict
from typing import Final

KEPT: Final = 500
"""Conversations of one device's programs that can be gone on with; an older one begins anew, told
its past. No device makes another's begin anew."""


class Continuations:
    """By device and history: a conversation as it was left, to be taken up once.

    A history that was edited, or that goes on from an earlier point, is another one: it never
    reaches the variables of this one.
    """

    def __init__(self) -> None:
        self._left: dict[str, OrderedDict[str, list[str]]] = {}

    def leave(self, device: str, digest: str, conversation: str) -> None:
        """It was left with this history."""
        left = self._left.setdefault(device, OrderedDict())
        waiting = left.setdefault(digest, [])
        waiting.append(conversation)
        del waiting[:-KEPT]
        left.move_to_end(digest)
        while len(left) > KEPT:
            left.popitem(last=False)

    def take_up(self, device: str, digest: str) -> str:
        """The conversation that was left so, by whoever takes it up first; empty: none."""
        left = self._left.get(device)
        waiting = left.get(digest) if left else None
        if not left or not waiting:
            return ""
        conversation = waiting.pop()
        if not waiting:
            del left[digest]
        return conversation
