"""Words the answer when changes to files were undone or redone. Pure."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from sayso.server.reflexes.language import Undoing
from sayso.server.undo.results import Undone

if TYPE_CHECKING:
    from sayso.server.reflexes.wording import Wording

NAMES_TOLD: Final = 5
"""Nobody remembers more names that were spoken; the screen's `/diff` has them all."""


class UndoAnswers:
    """In one language."""

    def __init__(self, phrases: Undoing, wording: "Wording") -> None:
        self._phrases = phrases
        self._wording = wording

    def undone(self, undone: Undone) -> str:
        """What taking back came to."""
        return self._told(undone, self._phrases.back, self._phrases.removed, self._phrases.nothing)

    def redone(self, redone: Undone) -> str:
        """What doing it again came to."""
        phrases = self._phrases
        return self._told(redone, phrases.again, phrases.gone_again, phrases.nothing_again)

    def _told(self, done: Undone, restored: str, removed: str, nothing: str) -> str:
        phrases = self._phrases
        match done.outcome:
            case "nothing":
                return nothing
            case "running":
                return phrases.running
            case "off":
                return phrases.switched_off
            case "failed":
                return done.problem
            case "blocked":
                return " ".join((phrases.blocked, *self._left(done)))
            case "done":
                told = [self._sentence(restored, done.restored)]
                told += [self._sentence(removed, done.removed), *self._left(done)]
                return " ".join((*filter(None, told), phrases.elsewhere))

    def _left(self, done: Undone) -> list[str]:
        by_reason = sorted(done.left, key=lambda one: one.reason)
        return [
            self._sentence(
                self._phrases.left,
                [one.path for one in some],
                self._phrases.reasons.get(reason, ""),
            )
            for reason, some in groupby(by_reason, key=lambda one: one.reason)
        ]

    def _sentence(self, phrase: str, paths: Sequence[str], reason: str = "") -> str:
        tops = _tops(paths)
        if not tops:
            return ""
        folders = any(path.endswith("/") for path in tops)
        counted = self._phrases.folders if folders else self._phrases.files
        told = [_shown(path) for path in tops[:NAMES_TOLD]]
        if more := len(tops) - len(told):
            number = self._wording.number(more)
            told.append(self._phrases.names_more.format(count=number, names=""))
        what = self._wording.counted(len(tops), counted)
        return phrase.format(what=what, names=self._wording.joined(told), reason=reason)


def _tops(paths: Sequence[str]) -> list[str]:
    """Without those that lie in a folder that is named itself."""
    kept: list[str] = []
    for path in sorted(paths):
        if not (kept and kept[-1].endswith("/") and path.startswith(kept[-1])):
            kept.append(path)
    return kept


def _shown(path: str) -> str:
    """Without what no screen can show."""
    plain = path.rstrip("/").encode("utf-8", "replace").decode()
    return "".join(sign if sign.isprintable() else "?" for sign in plain)
