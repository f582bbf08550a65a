"""Finds the few sentence templates that a text can fit, by how it begins and ends.

    "(what|which) day [of the week] is (it|today)"     what, which … it, today
    "{name} timer"                                      … timer
    "in {small} minutes"                                in … minutes

Hassil tries each template of a language on a text, of which there are a thousand. Most of them can
begin and end with a few words only, so a look at the text's two ends leaves a few dozen. What is
left out could not have matched: a template of which that is not sure stays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hassil import Intents
    from hassil.expression import Expression, Sentence
    from hassil.intents import Intent, RangeSlotList, SlotList

_BETWEEN_WORDS: Final = str.maketrans("-_", "  ")
"""As hassil takes them where a template has none."""

DIGITS: Final = "-0123456789"

ANYTHING: Final = ("",)
"""Each text begins and ends with it."""


@dataclass(frozen=True, slots=True)
class _End:
    """What stands at one end of what an expression matches."""

    pieces: frozenset[str] | None
    """Parts of words, in lower case; None: anything."""
    may_be_empty: bool
    """Then what stands beside the expression is at that end."""

    def __or__(self, other: "_End") -> "_End":
        both = self.pieces is None or other.pieces is None
        pieces = None if both else (self.pieces or frozenset()) | (other.pieces or frozenset())
        return _End(pieces, self.may_be_empty or other.may_be_empty)

    @property
    def needed(self) -> tuple[str, ...]:
        """One of these has to be there."""
        return ANYTHING if self.pieces is None or self.may_be_empty else tuple(self.pieces)


_OPEN: Final = _End(None, may_be_empty=False)
_EMPTY: Final = _End(frozenset(), may_be_empty=True)
_NONE: Final = _End(frozenset(), may_be_empty=False)


@dataclass(frozen=True, slots=True)
class _Template:
    """One of the templates of a language, as an intent by itself."""

    intent: "Intent"
    begins: tuple[str, ...]
    ends: tuple[str, ...]


class TemplateIndex:
    """The templates of one language, ready for use."""

    def __init__(self, intents: "Intents") -> None:
        from hassil.intents import Intent

        self._intents = intents
        self._templates: list[_Template] = []
        numbers = _Numbers(intents.language)
        for intent in intents.intents.values():
            for data in intent.data:
                rules = {**intents.expansion_rules, **data.expansion_rules}
                lists = {**intents.slot_lists, **data.slot_lists}
                first, last = (_Ends(rules, lists, numbers, step) for step in (1, -1))
                for sentence in data.sentences:
                    alone = replace(data, sentence_texts=[])
                    vars(alone)["sentences"] = [sentence]  # parsed already
                    begins, ends = (each.of(sentence.expression).needed for each in (first, last))
                    template = _Template(Intent(intent.name, [alone]), begins, ends)
                    self._templates.append(template)

    def fitting(self, text: str) -> "Intents":
        """Those of the templates that the text may fit, in their order."""
        from hassil.util import normalize_for_matching, remove_punctuation

        words = normalize_for_matching(text).text.translate(_BETWEEN_WORDS)
        plain = remove_punctuation(words).strip().casefold()
        found = (
            each.intent
            for each in self._templates
            if plain.startswith(each.begins) and plain.endswith(each.ends)
        )
        return replace(self._intents, intents={str(at): one for at, one in enumerate(found)})


class _Numbers:
    """How the numbers of ranges are said, as hassil takes them from Unicode's rules."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._known: dict[tuple[str, int, int, int, object], frozenset[str]] = {}

    def words(self, numbers: "RangeSlotList") -> frozenset[str]:
        from hassil.numbers import get_rbnf_engine

        language = numbers.words_language or self._language
        key = (language, numbers.start, numbers.stop, numbers.step, numbers.fraction_type)
        if key not in self._known:
            engine = get_rbnf_engine(language)
            said = (engine.format_number(number) for number in numbers.get_numbers())
            texts = (text for each in said for text in each.text_by_ruleset.values())
            self._known[key] = frozenset(text.translate(_BETWEEN_WORDS) for text in texts)
        return self._known[key]


class _Ends:
    """Finds what expressions can begin with (`step` 1) or end with (-1)."""

    def __init__(
        self,
        rules: Mapping[str, "Sentence"],
        lists: Mapping[str, "SlotList"],
        numbers: "_Numbers",
        step: int,
    ) -> None:
        self._rules = rules
        self._lists = lists
        self._numbers = numbers
        self._step = step
        self._of_rules: dict[str, _End] = {}
        self._of_lists: dict[str, _End] = {}

    def of(self, expression: "Expression") -> _End:
        from hassil import expression as kinds

        match expression:
            case kinds.TextChunk():
                return self._of_text(expression.text)
            case kinds.Alternative():
                found = self._either([self.of(item) for item in expression.items])
                return found | _EMPTY if expression.is_optional else found
            case kinds.Permutation():
                items = [self.of(item) for item in expression.items]
                empty = all(item.may_be_empty for item in items)
                return replace(self._either(items), may_be_empty=empty)
            case kinds.Sequence():
                return self._in_a_row(expression.items)
            case kinds.RuleReference():
                return self._of_rule(expression.rule_name)
            case kinds.ListReference():
                return self._of_list(expression.list_name)
        return _OPEN

    def _of_text(self, text: str) -> _End:
        from hassil.util import PUNCTUATION_STR

        pieces = text.casefold().split()
        if not pieces:
            return _EMPTY
        piece = pieces[0 if self._step > 0 else -1]
        # Punctuation is taken off a text, or is not, by what stands beside it.
        if not set(PUNCTUATION_STR).isdisjoint(piece):
            return _OPEN
        return _End(frozenset({piece}), may_be_empty=False)

    def _in_a_row(self, items: Sequence["Expression"]) -> _End:
        found = _NONE
        for item in items[:: self._step]:
            one = self.of(item)
            found |= replace(one, may_be_empty=False)
            if not one.may_be_empty:
                return found
        return replace(found, may_be_empty=True)

    def _of_list(self, name: str) -> _End:
        if name not in self._of_lists:
            self._of_lists[name] = self._listed(self._lists.get(name))
        return self._of_lists[name]

    def _listed(self, slot_list: "SlotList | None") -> _End:
        from hassil.intents import RangeSlotList, TextSlotList

        match slot_list:
            case TextSlotList():
                return self._either([self.of(value.text_in) for value in slot_list.values])
            case RangeSlotList():
                words = self._numbers.words(slot_list) if slot_list.words else []
                digits = _End(frozenset(DIGITS), may_be_empty=False)
                return self._either([digits, *map(self._of_text, words)])
            case _:
                return _OPEN  # free words

    def _of_rule(self, name: str) -> _End:
        if name not in self._of_rules:
            self._of_rules[name] = _OPEN  # for a rule that refers to itself
            self._of_rules[name] = self.of(self._rules[name].expression)
        return self._of_rules[name]

    @staticmethod
    def _either(ends: Sequence[_End]) -> _End:
        found = _NONE
        for end in ends:
            found |= end
        return found
