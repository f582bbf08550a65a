"""The receiver of what is found in the words of a command."""

from typing import Protocol

from sayso.server.policy.actions import How

Words = tuple[str, ...]
"""Of a command: the name comes first, without its folder."""


class Finder(Protocol):
    """Takes what is found."""

    def code(self, code: str) -> None:
        """Shell code that is run."""
        ...

    def start(self, words: Words) -> None:
        """A program that is started."""
        ...

    def touch(self, path: str, how: How) -> None:
        """A file."""
        ...

    def doubt(self, sentence: str) -> None:
        """What cannot be told, in words that complete "it …"."""
        ...
