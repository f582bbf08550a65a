"""Matches what was said to a reflex, if it is one, in a few milliseconds and without a model.

Only whole utterances match. "Stop the docker container" is more than a stop, and "yes, but use the
other folder" is more than a yes: both are for the language model.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from sayso.server.reflexes.context.continuations import CallOff
from sayso.server.reflexes.errors import LanguageDamaged
from sayso.server.reflexes.figures.figures import FIGURES, Figures
from sayso.server.reflexes.household.list_reflexes import AddToList, TakeOffList
from sayso.server.reflexes.language import Doubts, Language
from sayso.server.reflexes.language_file import SENTENCES, read_language
from sayso.server.reflexes.politeness import Politeness
from sayso.server.reflexes.reflex import (
    Cancel,
    CancelTimer,
    ChangeAlarm,
    ChangeTimer,
    Elsewhere,
    Faster,
    IfKnown,
    ListTimers,
    Louder,
    No,
    Quieter,
    Reflex,
    Repeat,
    SetReminder,
    SetTimer,
    Slower,
    Stop,
    Talk,
    TellDate,
    TellTime,
    TimeUntil,
    Yes,
)
from sayso.server.reflexes.slot_reader import INTENTS, reflex_of
from sayso.server.reflexes.slot_values import Slot
from sayso.server.reflexes.template_index import TemplateIndex

if TYPE_CHECKING:
    from hassil import Intents, RecognizeResult
    from hassil.models import MatchEntity

MAX_CHARS: Final = 160
"""Longer is no reflex: a reminder that is told in one breath has a hundred characters, and the time
that matching takes grows faster than the text."""

MAX_NAME_WORDS: Final = 4
"""A timer's name with more words than that is a sentence that was mistaken for one."""

_HYPHEN: Final = re.compile(r"(?<=\w)[-\u2010\u2011](?=\w)")
"""Recognisers write "ten minute timer" with any number of them."""

MAX_ABOUT_WORDS: Final = 8
"""Nobody names an earlier request with more words; what has more is a new one."""

_CLAUSE_END: Final = re.compile(r"[.,;!?]+\s+")
MOST_CLAUSES: Final = 3
SAID_TWICE: Final = (Cancel, Elsewhere, Louder, No, Quieter, Repeat, Stop, Talk)
"""What means the same if it is said in several ways: "good night, sleep well"."""

REFUSALS: Final = (No, Cancel, Stop)

BESIDE_A_REMARK: Final = (
    *(SetTimer, ChangeTimer, CancelTimer, SetReminder, ChangeAlarm, AddToList, TakeOffList),
    *(Louder, Quieter, Slower, Faster, Repeat),
    *(TellDate, TellTime, TimeUntil, ListTimers, CallOff),
)
"""What is asked of a household's helper while saying why: "we have guests, put wine on the
list", "louder, I'm over here"."""

GREETINGS: Final = ("morning", "day", "evening", "night")

_WILD: Final = frozenset(
    {
        *("name", "what", "what_before_time", "what_untimed", "about", "items", "few_items"),
        *("list_name", "place", "sum", "amount", "left", "right"),
    }
)
"""Slots of free words."""


class Reflexes:
    """The reflexes of one language. Made by `load`."""

    def __init__(self, language: Language, intents: "Intents") -> None:
        self.language = language.code
        self._examples = language.examples
        self._templates = TemplateIndex(intents)
        self._manners = Politeness(language.manners)
        self._doubts = _Doubts(language.doubts)
        self._figures = Figures(language)

    @classmethod
    def load(cls, language: str = "en", folder: Path = SENTENCES) -> Self:
        """Read a language. Raises LanguageMissing or LanguageDamaged.

        Imports hassil, which takes about 0.1 s once; do it in a thread.
        """
        from hassil import Intents
        from hassil.errors import HassilError
        from hassil.parser import ParseError

        known = read_language(language, folder)
        if strange := known.examples.keys() - INTENTS:
            raise LanguageDamaged(
                f"In {folder / known.code}.yaml, no intent is called {', '.join(sorted(strange))}."
            )
        try:
            intents = Intents.from_dict(dict(known.sentences))
            for intent in intents.intents.values():
                for block in intent.data:
                    block.sentences  # noqa: B018 (parsed when first looked at)
        except (
            HassilError,
            ParseError,
            LookupError,
            ValueError,
            TypeError,
            AssertionError,
        ) as problem:
            raise LanguageDamaged(
                f"In {folder / known.code}.yaml, a sentence cannot be understood ({problem})."
            ) from problem
        return cls(known, intents)

    def warm(self) -> None:
        """Do what the first match would do for all later ones: learn numbers, compile patterns."""
        for example in next(iter(self._examples.values())):
            for _ in self._found(example):
                pass

    def check_examples(self) -> None:
        """Raises LanguageDamaged if one of the file is not understood as what it is for."""
        for intent, examples in self._examples.items():
            for example in examples:
                if not any(found == intent for found, _ in self._found(example)):
                    raise LanguageDamaged(
                        f"In {self.language}.yaml, {example!r} is not understood as {intent}."
                    )

    def match(self, text: str) -> Reflex | None:
        """The reflex that the whole of the text is, whatever there is; None leaves it to the
        language model."""
        return next((one for one in self.meanings(text) if not isinstance(one, IfKnown)), None)

    def meanings(self, text: str) -> Iterator[Reflex]:
        """What the text can mean, the likeliest first: what goes on from something else, or counts
        only where what it names is there, and what it means without all that."""
        yield from (reflex for _, reflex in self._found(text))
        if (repeated := self._said_again(text)) is not None:
            yield repeated
        requests = self._manners.without_remark(text) if len(text) <= MAX_CHARS else []
        for request in requests:
            for _, one in self._found(request):
                if isinstance(one.reflex if isinstance(one, IfKnown) else one, BESIDE_A_REMARK):
                    yield one

    def _said_again(self, text: str) -> Reflex | None:
        """What all clauses mean: "I didn't get that, say it again". Of greetings the last one."""
        clauses = _CLAUSE_END.split(text.strip())
        if len(text) > MAX_CHARS or not 1 < len(clauses) <= MOST_CLAUSES:
            return None
        said: Reflex | None = None
        for clause in clauses:
            meant = next(
                (one for _, one in self._found(clause) if isinstance(one, SAID_TWICE)), None
            )
            refused = isinstance(meant, REFUSALS) and isinstance(said, REFUSALS)
            if meant is None or (said and not refused and type(meant) is not type(said)):
                return None
            said = meant
        return said

    def _found(self, text: str) -> Iterator[tuple[str, Reflex]]:
        """What the text can mean, by intent, the likeliest first."""
        if len(text) > MAX_CHARS:
            return
        for reading in self._manners.readings(text):
            for result in self._recognised(reading.text):
                reflex = self._reflex(result, reading.text)
                if reflex is None or (reading.tone == "asked" and _must_be_said(reflex)):
                    continue
                yield result.intent.name, reflex

    def _recognised(self, text: str) -> Iterator["RecognizeResult"]:
        """What fits, the least of it by free words first: they take what nothing else explains."""
        from hassil import recognize_all

        wild = []
        spaced = _HYPHEN.sub(" ", text)
        for result in recognize_all(spaced, self._templates.fitting(spaced)):
            if _wild_chars(result):
                wild.append(result)
            else:
                yield result
        yield from sorted(wild, key=_wild_chars)

    def _reflex(self, result: "RecognizeResult", text: str) -> Reflex | None:
        slots = [self._slot(entity, text) for entity in result.entities_list]
        return None if None in slots else reflex_of(result.intent.name, filter(None, slots))

    def _slot(self, entity: "MatchEntity", text: str) -> Slot | None:
        """What was said; None if free words took what is not theirs."""
        if entity.name not in _WILD:
            return Slot(entity.name, entity.value, entity.text.strip())
        if entity.name in FIGURES:
            value = self._figures.value(entity.name, entity.text)
            return None if value is None else Slot(entity.name, value, entity.text.strip())
        words = self._manners.object_of(_as_said(entity.text, text))
        if entity.name in ("items", "few_items") and self._manners.asks(words):
            return None  # "could you milk": a shorter reading has the thing alone
        return Slot(entity.name, words, words) if self._doubts.allow(entity.name, words) else None


class _Doubts:
    """Which free words are not to be trusted."""

    def __init__(self, doubts: Doubts) -> None:
        self._in_name = _any_of(doubts.name)
        self._in_what = _any_of(doubts.what)
        self._before_time = _any_of((*doubts.what, *doubts.what_before_time))
        self._untimed = _any_of((*doubts.what, *doubts.what_before_time, *doubts.untimed))
        self._in_items = _any_of(doubts.items)

    def allow(self, slot: str, words: str) -> bool:
        if slot in ("name", "list_name"):
            few = len(words.split()) <= MAX_NAME_WORDS
            work = slot == "list_name" and self._in_items.search(words)
            return bool(words) and few and not work and not self._in_name.search(words)
        if slot == "about":
            return 0 < len(words.split()) <= MAX_ABOUT_WORDS
        if slot in ("items", "few_items"):
            few = slot == "items" or len(words.split()) <= MAX_NAME_WORDS
            return bool(words) and few and not self._in_items.search(words)
        untimed = self._untimed if slot == "what_untimed" else self._in_what
        doubtful = self._before_time if slot == "what_before_time" else untimed
        return bool(words) and not doubtful.search(words)


def _must_be_said(reflex: Reflex) -> bool:
    """Whether it counts only if it is no question: "could you do it?" is no consent, and "and
    tomorrow?" no good morning."""
    return isinstance(reflex, Yes) or (isinstance(reflex, Talk) and reflex.about in GREETINGS)


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    either = "|".join(map(re.escape, words))
    return re.compile(rf"(?<!\w)(?:{either})(?!['\w])" if either else "(?!)", re.IGNORECASE)


def _as_said(words: str, text: str) -> str:
    """The words with their punctuation; empty if they begin or end inside of a word.

    Looked for by themselves, because hassil's spans drift after number words.
    """
    spaced = r"[\W_]+".join(map(re.escape, words.split()))
    found = re.search(rf"(?<!\w)(?:{spaced})(?!\w)", text) if spaced else None
    return found[0] if found else ""


def _wild_chars(result: "RecognizeResult") -> int:
    return sum(len(entity.text) for entity in result.entities_list if entity.name in _WILD)
