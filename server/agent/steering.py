"""Takes what the person says about a request while it is worked on: words for the model, a stop.

words ──▶ Steered in the log ──▶ after the running call, before the model's next reply
"stop after this" ──▶ after the running call, or the reply that is being written
"""

from collections.abc import Awaitable, Callable

from sayso.server.agent.record.journal import Journal
from sayso.server.store.steering import Steered


class StopWanted(Exception):
    """The person wants the work to stop here. The text says how far it is."""


class Steering:
    """Of one request."""

    def __init__(self, journal: Journal, *, takes_words: bool = True) -> None:
        """`takes_words`: the model is one that can be told something in the middle of its work."""
        self._journal = journal
        self._open = takes_words
        self._how_far: Callable[[], str] | None = None

    def steer(self, text: str, by: str) -> Awaitable[object] | None:
        """Tell the model this before its next reply; None if there will be none. What is returned
        ends when the words are safe. Raises StoreError."""
        return self._journal.begin_to_note("person", Steered(text, by)) if self._open else None

    def stop_after(self, how_far: Callable[[], str]) -> None:
        """Stop when what runs now has ended, and tell how far it is."""
        self._how_far = how_far

    def check_stop(self) -> None:
        """Something has ended. Raises StopWanted."""
        if self._how_far:
            raise StopWanted(self._how_far())

    @property
    def untold(self) -> int:
        """How much was said that the model was not told yet."""
        return len(self._journal.history.exchanges[-1].untold)

    def close(self) -> bool:
        """The model wants nothing more run: whether that is the end. No words are taken then."""
        if self.untold and self._open:
            return False
        self._open = False
        return True
