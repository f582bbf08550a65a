"""`sayso audit`: what ran, who approved it, how it ended and what it changed; and which devices
connected, left, were refused, paired or revoked."""

import argparse
import json
import sys
from datetime import datetime

from sayso.protocol.home import Home
from sayso.server.audit.ledger import ACCESS, Entry, as_json, ledger
from sayso.server.store.errors import StoreError
from sayso.server.store.log_reader import read_events
from sayso.server.store.redaction import redacted

_CODE_CHARS = 60
"""Of the code's first line, in the list for people."""


class Audit:
    """See the module."""

    summary = "who approved what, when, and what it did"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("conversation", nargs="?", default="", help="only this one")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--code", action="store_true", help="only what ran and was decided")
        which.add_argument("--devices", action="store_true", help="only who came and who may")
        parser.add_argument("--json", action="store_true", help="JSON lines, with everything")

    def run(self, arguments: argparse.Namespace) -> int:
        try:
            path = Home.find().state / "events.sqlite"
            entries = ledger(read_events(path, arguments.conversation))
        except StoreError as problem:
            print(problem, file=sys.stderr)
            return 1
        if arguments.code or arguments.devices:
            of_devices = ACCESS.values()
            entries = [one for one in entries if (one.kind in of_devices) == arguments.devices]
        for entry in entries:
            if arguments.json:
                line = json.dumps(as_json(entry), ensure_ascii=False)
                print("".join(s if s.isprintable() else json.dumps(s)[1:-1] for s in line))
            else:
                # Devices, folders and conversations are called as their people like.
                line = _line(entry)
                print("".join(s if s.isprintable() else f"<U+{ord(s):04X}>" for s in line))
        if not entries and not arguments.json:
            print("No device has come yet." if arguments.devices else "No code has run yet.")
        return 0


def _line(entry: Entry) -> str:
    when = datetime.fromtimestamp(entry.time).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    if entry.kind in ("undo", "redo"):
        said = f"{entry.kind} by {entry.asked_by or 'somebody'}: {len(entry.runs)} runs"
        return f"{when}  {entry.conversation:12}  {said}{_changed(entry)}"
    if entry.kind in ACCESS.values():
        return f"{when}  {'':12}  {redacted(entry.detail)}"
    if entry.kind != "run":
        said = f"{entry.detail} By {entry.asked_by or 'somebody'}."
        return f"{when}  {entry.conversation:12}  {said}"
    approval = entry.approval
    consent = approval.decision + (f" by {approval.by}" if approval.by else "")
    first = redacted(entry.code.strip().partition("\n")[0])[:_CODE_CHARS]
    first = "".join(sign if sign.isprintable() else "?" for sign in first)
    return (
        f"{when}  {entry.conversation:12}  {consent:20}  {entry.status:11}"
        f"  {entry.language}: {first}{_changed(entry)}"
    )


def _changed(entry: Entry) -> str:
    changes = entry.changes
    if not changes:
        return ""
    counts = (
        ("+", len(changes.added)),
        ("~", len(changes.changed)),
        ("-", len(changes.deleted)),
        ("renamed ", len(changes.renamed)),
        ("and ", changes.more),
    )
    return "  [" + " ".join(f"{sign}{count}" for sign, count in counts if count) + " files]"


command = Audit()
