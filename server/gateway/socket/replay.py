"""Keeps what was sent lately, so that it can be sent again to a client that missed it."""

from collections import deque
from dataclasses import dataclass

MOST_KEYS = 32
"""Utterances and jobs whose last message is kept: a client keeps eight utterances itself, and more
jobs than the rest do not go on at once."""

Key = tuple[str, int | str]
"""What a message tells the latest of: a kind, and which one."""


@dataclass(frozen=True, slots=True)
class _Sent:
    seq: int
    text: str
    at: float


class Replay:
    """The newest messages of a session, as they were sent. Pure: time is an argument."""

    def __init__(self, messages: int, size: int, seconds: float) -> None:
        self._messages = messages
        self._size = size
        self._seconds = seconds
        self._sent: deque[_Sent] = deque()
        self._latest: dict[Key, _Sent] = {}
        self._held = 0
        self._newest = 0
        self._forgotten = 0

    def note(self, seq: int, text: str, now: float) -> None:
        """This leaves now under `seq`."""
        self._newest = seq
        self._sent.append(_Sent(seq, text, now))
        self._held += len(text)
        while self._sent and self._is_too_much(now):
            oldest = self._sent.popleft()
            self._held -= len(oldest.text)
            self._forgotten = oldest.seq

    def note_latest(self, key: Key, seq: int, text: str, now: float) -> None:
        """This leaves now under `seq`, and all that left under the same key counts no more."""
        self._newest = seq
        self._latest.pop(key, None)
        self._latest[key] = _Sent(seq, text, now)
        while len(self._latest) > MOST_KEYS:
            del self._latest[next(iter(self._latest))]

    def outdated(self, key: Key) -> None:
        """What left under this key counts no more: newer things wait to leave."""
        self._latest.pop(key, None)

    def passed(self, seq: int) -> None:
        """What left under `seq` is worth nothing later."""
        self._newest = seq

    def forget(self) -> None:
        """Something will be missing here: what is older cannot be built upon."""
        self._sent.clear()
        self._latest.clear()
        self._held = 0
        self._forgotten = self._newest + 1

    def since(self, seq: int) -> list[str] | None:
        """What came after `seq`, oldest first; none if some of it is gone."""
        if not self._forgotten <= seq <= self._newest:
            return None
        both = sorted((*self._sent, *self._latest.values()), key=lambda sent: sent.seq)
        return [sent.text for sent in both if sent.seq > seq]

    def _is_too_much(self, now: float) -> bool:
        return (
            len(self._sent) > self._messages
            or self._held > self._size
            or self._sent[0].at < now - self._seconds
        )
