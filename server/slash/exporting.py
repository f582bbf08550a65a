"""`/export`: this conversation as a file on the device that asked for it. Without secrets."""

import json

from sayso.server.audit.ledger import as_json, ledger
from sayso.server.audit.notebook import notebook
from sayso.server.conversations import called
from sayso.server.slash.command import Command, Outcome, Situation

_NOTEBOOK = "application/x-ipynb+json"
_LINES = "application/jsonl"


async def _export(situation: Situation) -> Outcome:
    here = situation.here
    events = await here.events()
    match situation.text.strip().lower():
        case "" | "notebook":
            book = notebook(events, called(here.about))
            text = json.dumps(book, ensure_ascii=False, indent=1) + "\n"
            kind, name = _NOTEBOOK, f"{here.about.id}.ipynb"
            told = f"A notebook of {len(book['cells'])} cells."
        case "json":
            entries = [as_json(entry) for entry in ledger(events)]
            text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
            kind, name = _LINES, f"{here.about.id}.jsonl"
            told = f"The account of {len(entries)} pieces of code."
        case _:
            return Outcome("`/export` makes a notebook, `/export json` an account.", ok=False)
    return Outcome(told, file=here.shelf.put(kind, text.encode()), file_name=name)


EXPORTING = (
    Command("export", "this conversation as a notebook; `json` for what code did", _export),
)
