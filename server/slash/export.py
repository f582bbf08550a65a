"""`/export`: this conversation as a file on the device that asked for it. Without secrets."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from sayso.server.agent.record.kept_results import KeptOutput
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.audit.ledger import as_json, ledger
from sayso.server.audit.notebook import Result, Results, notebook
from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.conversations.open_conversation import OpenConversation
from sayso.server.conversations.registry import called
from sayso.server.slash.command import Command
from sayso.server.store.records import Event, RunReported

_NOTEBOOK = "application/x-ipynb+json"
_LINES = "application/jsonl"

RESULTS_BYTES: Final = 24 * 2**20
"""Of plots and tables in one notebook; they are a third larger in it."""


async def _export(context: CommandContext) -> CommandResult:
    here = context.here
    make: Callable[[Sequence[Event]], tuple[str, str]]
    match context.text.strip().lower():
        case "" | "notebook":
            make = partial(_notebook, called(here.about), await _results(here))
            kind, ending = _NOTEBOOK, "ipynb"
        case "json":
            make, kind, ending = _account, _LINES, "jsonl"
        case _:
            return CommandResult("`/export` makes a notebook, `/export json` an account.", ok=False)
    # Months of talk take seconds, which nobody else is to wait.
    told, text = await asyncio.to_thread(make, await here.events())
    file = here.artifacts.put(kind, text.encode())
    return CommandResult(told, file=file, file_name=f"{here.about.id}.{ending}")


async def _results(here: OpenConversation) -> Results:
    """What its runs showed and is kept, the latest first, within the bound."""
    runs = [one.record.run for one in await here.events() if isinstance(one.record, RunReported)]
    outputs = here.agent.outputs
    kept = await outputs.results(runs)
    return await asyncio.to_thread(_read, kept, outputs)


def _read(kept: Mapping[str, Sequence[KeptOutput]], outputs: RunOutputs) -> Results:
    results: dict[str, list[Result]] = {}
    room = RESULTS_BYTES
    for run, pieces in reversed(list(kept.items())):
        for one in pieces:
            path = outputs.file(one.file)
            if path is None or room < 0:
                continue
            with suppress(OSError):  # it may be thinned out meanwhile
                data = path.read_bytes()
                room -= len(data)
                results.setdefault(run, []).append(Result(one.mime, data, one.text))
    return results


def _notebook(title: str, results: Results, events: Sequence[Event]) -> tuple[str, str]:
    book = notebook(events, title, results)
    text = json.dumps(book, ensure_ascii=False, indent=1) + "\n"
    return f"A notebook of {len(book['cells'])} cells.", text


def _account(events: Sequence[Event]) -> tuple[str, str]:
    entries = [as_json(entry) for entry in ledger(events)]
    text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    return f"The account of {len(entries)} pieces of code.", text


EXPORTING = (
    Command("export", "this conversation as a notebook; `json` for what code did", _export, "talk"),
)
