"""Holds all languages that are there, and finds in which of them a sentence is a reflex.

A person's own language is tried first and the others after it, because a household speaks more than
one and a "Stop!" must stop whatever was set. A yes counts in the person's own language alone: a
word that happens to mean consent in another one is none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Self

from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.context.continuations import CONTINUATIONS
from sayso.server.reflexes.language_file import SENTENCES, languages
from sayso.server.reflexes.matching import Reflexes
from sayso.server.reflexes.reflex import IfKnown, Reflex, SetReminder, Yes

USUAL: Final = "en"
"""Answers where nobody's language is known, or where it is none of those that are there."""

REMEMBERED: Final = 64
"""Texts whose meaning is known already: a turn asks for it two or three times, and more than a few
turns at once there are not."""


@dataclass(frozen=True, slots=True)
class Understood:
    """What was said, and in which language."""

    reflex: Reflex
    language: str


class LanguageSet:
    """The reflexes and answers of all languages. Made by `load`."""

    def __init__(self, folder: Path, answers: Mapping[str, Answers]) -> None:
        self._folder = folder
        self._answers = answers
        self._reflexes: Mapping[str, Reflexes] = {}
        self.meanings = lru_cache(REMEMBERED)(self._meanings)

    @classmethod
    def load(cls, folder: Path = SENTENCES, only: str = "") -> Self:
        """Read every language; `only`: what is understood is this one (BCP 47) until `load_rest`.
        Takes a moment: do it in a thread. Raises LanguageDamaged."""
        answers = {code: Answers.load(code, folder) for code in languages(folder)}
        found = cls(folder, answers)
        if only:
            found._load_code(found.code(only))
        else:
            found.load_rest()
        return found

    def load_rest(self) -> None:
        """Understand the languages that are not understood yet. Takes a moment each: do it in a
        thread. Raises LanguageDamaged."""
        for code in self._answers:
            if code not in self._reflexes:
                self._load_code(code)

    def _load_code(self, code: str) -> None:
        reflexes = Reflexes.load(code, self._folder)
        reflexes.warm()
        self._reflexes = {**self._reflexes, code: reflexes}
        self.meanings.cache_clear()

    def answers(self, language: str) -> Answers:
        """What is said in a language (BCP 47), or in the usual one."""
        return self._answers[self.code(language)]

    def code(self, language: str) -> str:
        """The language of those that are there that serves this one (`de` for `de-AT`)."""
        code = language.replace("_", "-").partition("-")[0].lower()
        return code if code in self._answers else min(self._answers, key=_from(USUAL))

    def time_in(self, said: str, language: str) -> SetReminder | None:
        """A time or a length by itself, as it is said in this language (BCP 47) or another."""
        for code in self._ordered(self.code(language)):
            for asking in self._answers[code].changing.asking:
                reflex = self._reflexes[code].match(asking.format(when=said.strip()))
                if isinstance(reflex, SetReminder) and reflex.when is not None:
                    return reflex
        return None

    def match(self, text: str, language: str) -> Understood | None:
        """What the whole text means by itself to somebody who speaks this language (BCP 47); None
        leaves it to the language model."""
        return next(
            (one for one in self.meanings(text, language) if not _depends(one.reflex)), None
        )

    def _meanings(self, text: str, language: str) -> tuple[Understood, ...]:
        """What the whole text can mean, the likeliest first: what depends on what was said before,
        or on what is there, and at the end what it means without that, if it does."""
        own = self.code(language)
        found: list[Understood] = []
        for code in self._ordered(own):
            for reflex in self._reflexes[code].meanings(text):
                if code != own and reflex == Yes():
                    continue
                found.append(Understood(reflex, code))
                if not _depends(reflex):
                    return tuple(found)
        return tuple(found)

    def _ordered(self, first: str) -> list[str]:
        return sorted(self._reflexes, key=_from(first))


def _from(first: str) -> Callable[[str], tuple[bool, str]]:
    """An order of languages' codes that begins with one."""
    return lambda code: (code != first, code)


def _depends(reflex: Reflex) -> bool:
    return isinstance(reflex, (*CONTINUATIONS, IfKnown))


@cache
def shipped_languages() -> LanguageSet:
    """The languages that Sayso comes with. Takes a moment when first asked for: do it in a thread.
    Raises LanguageDamaged."""
    return LanguageSet.load()
