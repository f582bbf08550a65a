"""`/export`: this conversation as a file on the device that asked for it. Without secrets."""

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial

from sayso.server.audit.ledger import as_json, ledger
from sayso.server.audit.notebook import notebook
from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.conversations.registry import called
from sayso.server.slash.command import Command
from sayso.server.store.records import Event

_NOTEBOOK = "application/x-ipynb+json"
_LINES = "application/jsonl"


async def _export(context: CommandContext) -> CommandResult:
    here = context.here
    make: Callable[[Sequence[Event]], tuple[str, str]]
    match context.text.strip().lower():
        case "" | "notebook":
            make, kind, ending = partial(_notebook, called(here.about)), _NOTEBOOK, "ipynb"
        case "json":
            make, kind, ending = _account, _LINES, "jsonl"
        case _:
            return CommandResult("`/export` makes a notebook, `/export json` an account.", ok=False)
    # Months of talk take seconds, which nobody else is to wait.
    told, text = await asyncio.to_thread(make, await here.events())
    file = here.artifacts.put(kind, text.encode())
    return CommandResult(told, file=file, file_name=f"{here.about.id}.{ending}")


def _notebook(title: str, events: Sequence[Event]) -> tuple[str, str]:
    book = notebook(events, title)
    text = json.dumps(book, ensure_ascii=False, indent=1) + "\n"
    return f"A notebook of {len(book['cells'])} cells.", text


def _account(events: Sequence[Event]) -> tuple[str, str]:
    entries = [as_json(entry) for entry in ledger(events)]
    text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    return f"The account of {len(entries)} pieces of code.", text


EXPORTING = (
    Command("export", "this conversation as a notebook; `json` for what code did", _export, "talk"),
)
