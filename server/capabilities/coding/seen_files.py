"""Remembers which files of one conversation the model has seen, and as what: by their hashes."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from sayso.server.agent.record.conversation_history import History
from sayso.server.store.changes import Changes

MOST: Final = 2_000
"""Files: who has seen more sees the first of them anew."""

WHOLE_AFTER: Final = 3
"""Patches that did not fit one file, one after the other: then it is to be written whole."""


class SeenFiles:
    """Of one conversation, while it is open."""

    def __init__(self) -> None:
        self._hashes: dict[str, str] = {}
        self._when: dict[str, int] = {}
        """How many runs the history knew when a file was seen."""
        self._misses: Counter[str] = Counter()

    def saw(self, hashes: Mapping[str, str], history: History) -> None:
        """The model is shown these files as they are now."""
        now = _runs(history)
        for name, value in hashes.items():
            self._hashes.pop(name, None)
            self._hashes[name] = value
            self._when[name] = now
        while len(self._hashes) > MOST:
            oldest = next(iter(self._hashes))
            del self._hashes[oldest]
            self._when.pop(oldest, None)

    def known(self, history: History) -> dict[str, str]:
        """What the model takes the files for. Those that code of this conversation has changed
        since are left out: the model was told so."""
        changed = _changed_since(history)
        return {
            name: value
            for name, value in self._hashes.items()
            if changed.get(name, -1) <= self._when[name]
        }

    def missed(self, name: str) -> bool:
        """A patch did not fit this file; returns whether it is to be written whole now."""
        self._misses[name] += 1
        return self._misses[name] >= WHOLE_AFTER

    def fitted(self, name: str) -> None:
        """A patch did."""
        del self._misses[name]


def _runs(history: History) -> int:
    return sum(len(step.acts) for exchange in history.exchanges for step in exchange.steps)


def _changed_since(history: History) -> dict[str, int]:
    """By name, which run changed a file last."""
    found: dict[str, int] = {}
    number = 0
    for exchange in history.exchanges:
        for step in exchange.steps:
            for act in step.acts:
                number += 1
                if act.report:
                    found |= dict.fromkeys(_names(act.report.changes), number)
    return found


def _names(changes: Changes) -> list[str]:
    return [*changes.added, *changes.changed, *(one.new for one in changes.renamed)]
