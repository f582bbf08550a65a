"""Compacts a conversation that is too long for the model: notes replace its beginning. Pure.

Cutting deep and seldom leaves the beginning of the prompt the same for many turns, which is what
providers' caches live on. Nothing is asked of a model for it, so it costs nothing and is the same
each time. What was decided and which files were spoken of is kept longest; calls stay with their
results; what waits for the person is in the last exchange, which is always told.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sayso.server.agent.prompt.server_notes import between_marks, own_words
from sayso.server.agent.record.conversation_history import Act, Exchange
from sayso.server.store.records import RunReported

HISTORY_CHARS: Final = 120_000
"""Characters of conversation given to the model: 30,000 tokens, which most models take. Profiles of
small models give less."""

NOTES_SHARE: Final = 0.15
"""Of what is told, so much may be notes."""

LEAST_NOTES: Final = 200
"""Characters. Less than that tells nothing: models for whom so little is told get none."""

KEPT_SHARE: Final = 0.5
"""When it is too much, so much of it is kept."""

ONE_SHARE: Final = 0.8
"""Of what is told, so much may be one piece of work before its old outputs become brief."""

BRIEF_CHARS: Final = 300
"""Of the output of an old step within one long piece of work; the rest can be read again."""

_LINE_CHARS: Final = 140
_CODE_CHARS: Final = 80
_LIST_SHARE: Final = 0.3
"""Of the notes, for files and for decisions each."""

_FILE: Final = re.compile(
    r"""["'`\s(]((?:~|\.{1,2})?/?[\w.@+-]+(?:/[\w.@+-]+)*\.[A-Za-z]\w{0,5})\b"""
)
_ENDING: Final = re.compile(r"\.[A-Za-z]")
"""Without one there is no file in a text; most have none, and this is found out at once."""
_QUOTED_FILE: Final = re.compile(r"""["']([^"'\n]{1,120}\.[A-Za-z]\w{0,5})["']""")


@dataclass(frozen=True, slots=True)
class Compacted:
    """What is told of a conversation."""

    notes: str
    """On what came before; empty if nothing did."""
    exchanges: Sequence[Exchange]
    brief: frozenset[str]
    """Calls whose output is told in short."""


def compact(exchanges: Sequence[Exchange], characters: int) -> Compacted:
    """As much of a conversation as may be told, the latest of it whole."""
    for_notes = int(characters * NOTES_SHARE)
    for_notes = for_notes if for_notes >= LEAST_NOTES else 0
    room = characters - for_notes
    brief = frozenset(act.call.id for exchange in exchanges for act in _to_shorten(exchange, room))
    sizes = [_size(exchange, brief) for exchange in exchanges]
    first = min(_cut(sizes, [0] * len(sizes), room), len(exchanges) - 1)
    notes = _notes(exchanges[:first], for_notes) if first and for_notes else ""
    return Compacted(notes, exchanges[first:], brief)


def length_of(exchanges: Sequence[Exchange], brief: frozenset[str]) -> int:
    """Characters of what is told of them."""
    return sum(_size(exchange, brief) for exchange in exchanges)


def shorten(text: str) -> str:
    """A long output in short."""
    if len(text) <= BRIEF_CHARS:
        return text
    half = BRIEF_CHARS // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"


def _cut(sizes: Sequence[int], short: Sequence[int], room: int) -> int:
    """From which on all is told; decided as if it had grown one by one, so that it moves seldom."""
    first, total = 0, 0
    for index, size in enumerate(sizes):
        total += size
        if total > room:
            while first < index and total > room * KEPT_SHARE:
                total -= sizes[first] - short[first]
                first += 1
    return first


def _to_shorten(exchange: Exchange, room: int) -> Sequence[Act]:
    acts = [act for step in exchange.steps for act in step.acts if act.report is not None]
    if not acts:  # in most exchanges people only talk
        return ()
    sizes = [_act_size(act, brief=False) for act in acts]
    short = [_act_size(act, brief=True) for act in acts]
    return acts[: _cut(sizes, short, int(room * ONE_SHARE))]


def _size(exchange: Exchange, brief: frozenset[str]) -> int:
    size = sum(map(len, (*exchange.said, exchange.told_with)))
    size += sum(len(one.why) for one in exchange.objections)
    for step in exchange.steps:
        size += len(step.text)
        for act in step.acts:
            size += _act_size(act, brief=act.call.id in brief)
    return size


def _act_size(act: Act, *, brief: bool) -> int:
    output = act.report.output if act.report else ""
    return len(act.call.code) + len(shorten(output) if brief else output)


# --- notes ---


def _notes(exchanges: Sequence[Exchange], characters: int) -> str:
    each = int(characters * _LIST_SHARE)
    latest = exchanges[::-1]
    files = _that_fit(_unique(name for one in latest for name in _files(one)), each, ", ")
    decisions = _that_fit((line for one in latest for line in _decisions(one)), each, "\n")
    parts = ["Earlier in this conversation, in short:"]
    rest = characters - len(parts[0]) - len(files) - len(decisions) - 80
    parts.append(_that_fit(map(_line, latest), max(0, rest), "\n"))
    if decisions:
        parts.append(decisions)
    if files:
        parts.append(f"Files:\n{between_marks('files', files)}")
    return "\n".join(part for part in parts if part)


def _that_fit(lines: Iterable[str], characters: int, between: str) -> str:
    """As many as fit of what is given latest first; no more is looked at. The earliest is first."""
    kept: list[str] = []
    for line in lines:
        characters -= len(line) + len(between)
        if characters < 0:
            kept.append("…")
            break
        kept.append(line)
    return between.join(reversed(kept)) if kept != ["…"] else ""


def _line(exchange: Exchange) -> str:
    said = next((step.text for step in reversed(exchange.steps) if step.text.strip()), "")
    return f"- {_clip(exchange.asked, _LINE_CHARS)} → {_clip(said, _LINE_CHARS) or '(no answer)'}"


def _decisions(exchange: Exchange) -> Iterator[str]:
    """The latest first."""
    for act in _acts_backwards(exchange):
        code = _clip(act.call.code, _CODE_CHARS)
        match act.report:
            case RunReported(status="refused", detail=detail) if code:
                yield f"- {own_words('refused', detail)} ({code})"
            case _ if act.edited:
                yield f"- The person changed the code before it ran ({code})"
            case _:
                pass


def _files(exchange: Exchange) -> Iterator[str]:
    """Those that were spoken of, then those that code names or made, the latest first of each."""
    for text in (*(step.text for step in reversed(exchange.steps)), exchange.asked):
        if _ENDING.search(text):
            yield from reversed(_FILE.findall(f" {text}"))
    for act in _acts_backwards(exchange):
        if act.report is not None:
            changes = act.report.changes
            renamed = (one.new for one in changes.renamed)
            yield from reversed((*changes.added, *changes.changed, *renamed))
        yield from reversed(_QUOTED_FILE.findall(act.call.code))


def _acts_backwards(exchange: Exchange) -> Iterator[Act]:
    return (act for step in reversed(exchange.steps) for act in reversed(step.acts))


def _unique(names: Iterable[str]) -> Iterator[str]:
    known: set[str] = set()
    for name in names:
        if name not in known:
            known.add(name)
            yield name


def _clip(text: str, characters: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= characters else plain[: characters - 1] + "…"
