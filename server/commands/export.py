"""`sayso export CONVERSATION`: a conversation as a notebook, or as JSON. Without secrets."""

import argparse
import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sayso.protocol.home import Home
from sayso.server.audit.ledger import redacted_json
from sayso.server.audit.notebook import notebook
from sayso.server.store.codec import encode
from sayso.server.store.errors import StoreError
from sayso.server.store.log_reader import read_events
from sayso.server.store.records import Event, Unread


class Export:
    """See the module."""

    summary = "write a conversation to a file: a notebook, or JSON"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("conversation", help="its id or name; `main` is the first of all")
        form = parser.add_mutually_exclusive_group(required=True)
        form.add_argument("--notebook", metavar="FILE.ipynb", type=Path, help="for Jupyter")
        form.add_argument("--json", action="store_true", help="every event, to standard output")

    def run(self, arguments: argparse.Namespace) -> int:
        try:
            events = read_events(Home.find().state / "events.sqlite", arguments.conversation)
            if arguments.json:
                whole = {"conversation": arguments.conversation, "events": _told(events)}
                print(json.dumps(whole, ensure_ascii=False, indent=1))
                return 0
            book = notebook(events, arguments.conversation)
            text = json.dumps(book, ensure_ascii=False, indent=1) + "\n"
            arguments.notebook.write_text(text, encoding="utf-8")
        except StoreError as problem:
            print(problem, file=sys.stderr)
            return 1
        except OSError as problem:
            print(f"{arguments.notebook} cannot be written: {problem.strerror}.", file=sys.stderr)
            return 1
        print(f"{arguments.notebook}: {len(book['cells'])} cells.")
        return 0


def _told(events: list[Event]) -> list[dict[str, Any]]:
    return [_event(event) for event in events if not isinstance(event.record, Unread)]


def _event(event: Event) -> dict[str, Any]:
    kind, _ = encode(event.record)
    when = datetime.fromtimestamp(event.time, UTC).isoformat(timespec="milliseconds")
    told = {"id": event.id, "time": when, "source": event.source, "kind": kind}
    return {**told, **redacted_json(asdict(event.record))}


command = Export()
