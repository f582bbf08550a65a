"""Finds when each word is said in synthesized speech. Pure.

A voice speaks in phonemes; it groups them its own way: "from the" becomes one group, "25" two.
Given how many phonemes each written word would have by itself, the cheapest way to lay the words
along the groups is found, and the groups' exact lengths are shared out accordingly. The words'
lengths always add up to the length of the sound.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sayso.protocol.messages import Word

MOST_JOINED = 4
"""Words that a voice runs together ("one of the"), and groups that one word may take."""


@dataclass(frozen=True, slots=True)
class Group:
    """Phonemes spoken as one, with the length of each in samples."""

    phonemes: tuple[str, ...]
    lengths: tuple[int, ...]

    @property
    def samples(self) -> int:
        return sum(self.lengths)


@dataclass(frozen=True, slots=True)
class _Step:
    """The cheapest way to have laid so many words along so many groups."""

    cost: float
    words: int = 0
    """Words in the last step."""
    groups: int = 0
    """Groups in the last step."""


def place(
    words: Sequence[str], expected: Sequence[tuple[str, ...]], groups: Sequence[Group]
) -> tuple[Word, ...]:
    """Times for the words; `expected` are the phonemes that each would have alone."""
    if not words or not groups:
        return ()
    placed: list[Word] = []
    at = 0
    for first, last, from_group, to_group in _lay(expected, groups):
        lengths = [length for group in groups[from_group:to_group] for length in group.lengths]
        shares = _share(lengths, [max(1, len(phonemes)) for phonemes in expected[first:last]])
        for text, samples in zip(words[first:last], shares, strict=True):
            placed.append(Word(text, at, at + samples))
            at += samples
    return tuple(placed)


def shared_out(words: Sequence[str], samples: int) -> tuple[Word, ...]:
    """Times for words of a voice that can't tell: each lasts as long as it has letters."""
    if not words:
        return ()
    weights = [len(word) + 1 for word in words]
    total, before = sum(weights), 0
    placed: list[Word] = []
    for word, weight in zip(words, weights, strict=True):
        start, end = samples * before // total, samples * (before + weight) // total
        placed.append(Word(word, start, end))
        before += weight
    return tuple(placed)


def _lay(
    expected: Sequence[tuple[str, ...]], groups: Sequence[Group]
) -> list[tuple[int, int, int, int]]:
    """Spans of words beside spans of groups, cheapest overall."""
    table: dict[tuple[int, int], _Step] = {(0, 0): _Step(0.0)}
    steps = [(1, 1)]
    steps += [(many, 1) for many in range(2, MOST_JOINED + 1)]
    steps += [(1, many) for many in range(2, MOST_JOINED + 1)]
    for word in range(len(expected) + 1):
        for group in range(len(groups) + 1):
            here = table.get((word, group))
            if here is None:
                continue
            for taken, used in steps:
                to = (word + taken, group + used)
                if to[0] > len(expected) or to[1] > len(groups):
                    continue
                cost = here.cost + _difference(expected[word : to[0]], groups[group : to[1]])
                if to not in table or cost < table[to].cost:
                    table[to] = _Step(cost, taken, used)
    end = (len(expected), len(groups))
    if end not in table:  # too different to match: one span over everything
        return [(0, len(expected), 0, len(groups))]
    spans: list[tuple[int, int, int, int]] = []
    while end != (0, 0):
        step = table[end]
        start = (end[0] - step.words, end[1] - step.groups)
        spans.append((start[0], end[0], start[1], end[1]))
        end = start
    return spans[::-1]


def _difference(expected: Sequence[tuple[str, ...]], groups: Sequence[Group]) -> float:
    """How unlike the phonemes of some words and some groups are."""
    ours = [phoneme for word in expected for phoneme in word]
    theirs = [phoneme for group in groups for phoneme in group.phonemes]
    missing = len(ours)
    rest = list(theirs)
    for phoneme in ours:
        if phoneme in rest:
            rest.remove(phoneme)
            missing -= 1
    joined = len(expected) + len(groups) - 2
    return missing + len(rest) + 0.5 * joined


def _share(lengths: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Cut a row of phonemes into parts of the given weights, at phonemes; the sum stays exact."""
    shares: list[int] = []
    weight, total, taken = 0, sum(weights), 0
    for part in weights[:-1]:
        weight += part
        upto = min(len(lengths), round(len(lengths) * weight / total))
        shares.append(sum(lengths[taken:upto]))
        taken = max(taken, upto)
    shares.append(sum(lengths[taken:]))
    return shares
