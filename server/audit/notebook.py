"""A conversation as a Jupyter notebook (nbformat 4.5): questions, answers, code, outputs. Pure."""

import re
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape, unescape
from types import MappingProxyType
from typing import Any, Final

from sayso.server.agent.parsing.fences import fenced
from sayso.server.agent.permissions.access_syntax import LANGUAGE as ACCESS
from sayso.server.agent.tools.output_page_syntax import PAGE
from sayso.server.audit.ledger import Entry, as_json, ledger
from sayso.server.store.records import (
    Answered,
    Asked,
    CutOff,
    Event,
    Failed,
    MadeAgain,
    RunReported,
    TakenBack,
)
from sayso.server.store.redaction import redacted
from sayso.server.store.steering import Steered

Cell = dict[str, Any]

_MAGIC: Final[Mapping[str, str]] = {
    "shell": "%%bash",
    "bash": "%%bash",
    "sh": "%%sh",
    "zsh": "%%script zsh",
    "javascript": "%%script node",
    "r": "%%R",
    "ruby": "%%ruby",
    "perl": "%%perl",
    "html": "%%html",
}
"""How a Python notebook runs a cell of another language."""

_FENCE: Final = re.compile(r"(`{3,})([^`]*)$")
_FETCHES: Final = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?])")
"""What an image, and what HTML begins with."""

_PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif"})

_LEADS_AWAY: Final = re.compile(
    r"(?:src|href|srcset|data|action|poster|background|ping|on\w+)\s*=|url\s*\(|@import"
    r"|<\s*(?:script|iframe|object|embed|link|meta|base|form|svg|math)",
    re.IGNORECASE,
)
"""Whatever could fetch something, or run."""

_FETCHED_BY_CSS: Final = re.compile(r"url\s*\(|@import|\b(?:image-set|image|src)\(", re.IGNORECASE)
_CSS_ESCAPE: Final = re.compile(r"\\(?:([0-9a-f]{1,6})(?:\r\n|[ \t\r\n\f])?|(.))", re.IGNORECASE)

_RAN: Final = frozenset({"ok", "error", "interrupted", "died", "unknown"})


@dataclass(frozen=True, slots=True)
class Result:
    """A plot, a table or a page that a run showed."""

    mime: str
    data: bytes
    text: str = ""


Results = Mapping[str, Sequence[Result]]
"""By the runs that showed them."""


def notebook(
    events: Iterable[Event], title: str = "", results: Results = MappingProxyType({})
) -> dict[str, Any]:
    """The notebook, without secrets; what `json.dumps` writes is an `.ipynb` file."""
    events = list(events)
    cells = list(_cells(events, results))
    if title:
        cells.insert(0, _markdown("title", f"# {redacted(title)}"))
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cells(events: list[Event], results: Results) -> Iterator[Cell]:
    calls = _Calls(events, results)
    for event in events:
        match event.record:
            case Asked(text=text, by=by):
                when = datetime.fromtimestamp(event.time).astimezone().strftime("%Y-%m-%d %H:%M")
                asked = f"**You** ({', '.join(filter(None, (by, when)))}): {text}"
                yield _markdown(f"asked-{event.id}", asked)
            case Steered(text=text):
                yield _markdown(f"meanwhile-{event.id}", f"**You**, meanwhile: {text}")
            case Answered() as answer:
                if answer.text.strip():
                    yield _markdown(f"said-{event.id}", answer.text.strip())
                yield from calls.cells(event.id, answer)
            case CutOff():
                yield _markdown(f"cut-{event.id}", "*Sayso ended in the middle of this.*")
            case Failed(message=message):
                yield _markdown(f"failed-{event.id}", f"*{message}*")
            case TakenBack() | MadeAgain() as record:
                yield _put_back(event.id, record)
            case _:
                pass


class _Calls:
    """What the model wanted done, and what came of it."""

    def __init__(self, events: list[Event], results: Results) -> None:
        self._results = results
        self._undone: set[str] = set()
        self._entries = {entry.run: entry for entry in ledger(events) if entry.run}
        records = [event.record for event in events]
        self._outputs = {r.run: r.output for r in records if isinstance(r, RunReported)}
        self._counted = 0
        for record in records:
            if isinstance(record, TakenBack):
                self._undone.update(record.runs)
            elif isinstance(record, MadeAgain):
                self._undone.difference_update(record.runs)

    def cells(self, event: int, answer: Answered) -> Iterator[Cell]:
        for number, call in enumerate(answer.calls):
            entry, output = self._entries[call.id], self._outputs.get(call.id, "")
            name = f"code-{event}-{number}"
            if call.language == PAGE:
                continue  # the model looked into what stands here already
            if call.language == ACCESS:
                yield _no_code(name, entry, output)
            elif entry.status not in _RAN:
                yield _commented(name, entry, output or entry.detail or "It did not run.")
            else:
                self._counted += 1
                shown = self._results.get(call.id, ())
                cell = _code(name, entry, output, self._counted, shown)
                if call.id in self._undone:
                    cell["source"] = _comment(entry, "What this did to files was undone.")
                yield cell


def _put_back(number: int, record: TakenBack | MadeAgain) -> Cell:
    what = "Undone" if isinstance(record, TakenBack) else "Done again"
    paths = ", ".join(f"`{path}`" for path in (*record.restored, *record.removed))
    return _markdown(f"put-back-{number}", f"*{what}: {paths or 'nothing'}.*")


def _markdown(name: str, text: str) -> Cell:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": _clean(_at_home(text))}


def _code(name: str, entry: Entry, output: str, count: int, results: Sequence[Result]) -> Cell:
    magic = _MAGIC.get(entry.language, "" if entry.language == "python" else "%%script false")
    source = f"{magic}\n{entry.code}" if magic else entry.code
    return {
        "cell_type": "code",
        "id": name,
        "execution_count": count,
        "metadata": {"sayso": as_json(entry)},
        "source": _clean(source),
        "outputs": [*_outputs(entry, _clean(output)), *map(_shown, results)],
    }


def _outputs(entry: Entry, output: str) -> Iterator[Mapping[str, Any]]:
    if entry.status == "error":
        lines = output.splitlines() or [_clean(entry.detail)]
        kind, _, words = lines[-1].partition(": ")
        yield {"output_type": "error", "ename": kind, "evalue": words, "traceback": lines}
        return
    if output:
        yield {"output_type": "stream", "name": "stdout", "text": output}
    if entry.status != "ok":
        ending = f"[{entry.status}] {_clean(entry.detail)}".rstrip() + "\n"
        yield {"output_type": "stream", "name": "stderr", "text": ending}


def _shown(result: Result) -> Mapping[str, Any]:
    """A picture as it is; HTML if it fetches nothing and runs nothing when it is opened."""
    data: dict[str, str] = {"text/plain": _clean(result.text or f"[{result.mime}]")}
    if result.mime in _PICTURES:
        data[result.mime] = b64encode(result.data).decode()
    elif result.mime == "text/html":
        html = _clean(result.data.decode("utf-8", "replace"))
        if not _leads_away(html):
            data[result.mime] = html
    return {"output_type": "display_data", "data": data, "metadata": {}}


def _leads_away(html: str) -> bool:
    """Whether it fetches something, or runs, as it stands or as a browser reads its CSS: in an
    attribute HTML's character references are read first, in a style element they are not."""
    as_css = (_css_read(html), _css_read(unescape(html)))
    return bool(_LEADS_AWAY.search(html)) or any(map(_FETCHED_BY_CSS.search, as_css))


def _css_read(text: str) -> str:
    def character(escaped: re.Match[str]) -> str:
        number = int(escaped[1] or "0", 16)
        return escaped[2] or chr(number if number <= sys.maxunicode else 0xFFFD)

    return _CSS_ESCAPE.sub(character, text)


def _no_code(name: str, entry: Entry, came_of_it: str) -> Cell:
    told = came_of_it or entry.detail or "It did not run."
    return _markdown(name, f"{fenced(entry.language, entry.code)}\n\n*{told}*")


def _commented(name: str, entry: Entry, told: str) -> Cell:
    """Code that did not run, and does not when all cells are run."""
    return {
        "cell_type": "code",
        "id": name,
        "execution_count": None,
        "metadata": {"sayso": as_json(entry)},
        "source": _comment(entry, told),
        "outputs": [],
    }


def _comment(entry: Entry, told: str) -> str:
    lines = [*told.splitlines(), f"It was {entry.language}:", *entry.code.splitlines()]
    return _clean("\n".join(f"# {line}".rstrip() for line in lines))


def _at_home(text: str) -> str:
    """Markdown that fetches nothing when it is opened: its images are links, its HTML is text.

    What stands between fences is left alone; they are at the left edge, where nothing but a fence
    can begin with their sign.
    """
    lines, fence = [], ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if not fence and found:
            fence = found[1]
        elif fence:
            ends = found is not None and found[1].startswith(fence) and not found[2].strip()
            fence = "" if ends else fence
        else:
            lines.append(_FETCHES.sub(lambda sign: escape(sign[0]).replace("!", "&#33;"), line))
            continue
        lines.append(line)
    return "\n".join(lines)


def _clean(text: str) -> str:
    """Without secrets, and without halves of characters, which no file can hold."""
    return redacted(text.encode("utf-8", "replace").decode())
