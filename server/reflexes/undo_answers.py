"""Words the answer when changes to files were undone or redone. Pure."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from sayso.server.reflexes.language import Undoing
from sayso.server.undo.results import Undone

if TYPE_CHECKING:
    from sayso.server.reflexes.wording import Wording

NAMES_TOLD: Final = 5
"""Nobody remembers more names that were spoken; the screen's `/diff` has them all."""

WORDS_CHARS: Final = 60
"""Of a request: its beginning says which one it was."""

_OF_GIT: Final = re.compile(r"(?s)^((?:.*/)?\.git)/.+")


class UndoAnswers:
    """In one language."""

    def __init__(self, phrases: Undoing, wording: "Wording") -> None:
        self._phrases = phrases
        self._wording = wording

    def undone(self, undone: Undone) -> str:
        """What taking back came to."""
        phrases = self._phrases
        return self._told(undone, phrases.back, phrases.removed, phrases.commits, phrases.nothing)

    def redone(self, redone: Undone) -> str:
        """What doing it again came to."""
        phrases = self._phrases
        return self._told(
            redone, phrases.again, phrases.gone_again, phrases.commits_again, phrases.nothing_again
        )

    def _told(self, done: Undone, restored: str, removed: str, commits: str, nothing: str) -> str:
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
            case "unknown":
                return " ".join(filter(None, (phrases.unknown, self._asked(done))))
            case "done":
                told = [self._asked(done), self._sentence(restored, done.restored)]
                told += [self._sentence(removed, done.removed), self._renamed(done)]
                told += [self._quoted(commits, done.commits), *self._left(done)]
                return " ".join((*filter(None, told), phrases.elsewhere, done.note)).strip()

    def _asked(self, done: Undone) -> str:
        return self._quoted(self._phrases.asked, done.requests)

    def _quoted(self, phrase: str, texts: Sequence[str]) -> str:
        if not texts:
            return ""
        told = [
            self._phrases.quoted.format(names=_plain(text).rstrip(".!?…")[:WORDS_CHARS])
            for text in texts[:NAMES_TOLD]
        ]
        return phrase.format(names=self._wording.joined([*told, *self._more(len(texts))]))

    def _renamed(self, done: Undone) -> str:
        if not done.renamed:
            return ""
        told = [
            self._phrases.renaming.format(old=_shown(one.old), new=_shown(one.new))
            for one in done.renamed[:NAMES_TOLD]
        ]
        folders = any(one.new.endswith("/") for one in done.renamed)
        counted = self._phrases.folders if folders else self._phrases.files
        return self._phrases.renamed.format(
            what=self._wording.counted(len(done.renamed), counted),
            names=self._wording.joined([*told, *self._more(len(done.renamed))]),
        )

    def _more(self, number: int) -> list[str]:
        """How many names there are beside those that are told."""
        if number <= NAMES_TOLD:
            return []
        more = self._wording.number(number - NAMES_TOLD)
        return [self._phrases.names_more.format(count=more, names="")]

    def _left(self, done: Undone) -> list[str]:
        by_reason = sorted(done.left, key=lambda one: one.reason)
        told = []
        for reason, some in groupby(by_reason, key=lambda one: one.reason):
            paths = [one.path for one in some]
            several = len(_tops(paths)) > 1
            phrase = self._phrases.left_several if several else self._phrases.left
            told.append(self._sentence(phrase, paths, self._phrases.reasons.get(reason, "")))
        return told

    def _sentence(self, phrase: str, paths: Sequence[str], reason: str = "") -> str:
        tops = _tops(paths)
        if not tops:
            return ""
        folders = any(path.endswith("/") for path in tops)
        counted = self._phrases.folders if folders else self._phrases.files
        told = [*(_shown(path) for path in tops[:NAMES_TOLD]), *self._more(len(tops))]
        what = self._wording.counted(len(tops), counted)
        return phrase.format(what=what, names=self._wording.joined(told), reason=reason)


def _tops(paths: Sequence[str]) -> list[str]:
    """Without those that lie in a folder that is named itself; what git keeps is one thing."""
    kept: list[str] = []
    for path in sorted({_OF_GIT.sub(r"\g<1>", path) for path in paths}):
        if not (kept and kept[-1].endswith("/") and path.startswith(kept[-1])):
            kept.append(path)
    return kept


def _shown(path: str) -> str:
    """Without what no screen can show."""
    return _plain(path.rstrip("/"))


def _plain(text: str) -> str:
    readable = text.encode("utf-8", "replace").decode()
    return "".join(sign if sign.isprintable() else "?" for sign in readable)
