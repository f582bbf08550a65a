"""`sayso logs`: what the server wrote of itself; no secret is in it, and nothing that was said."""

import argparse
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from sayso.protocol.home import Home
from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.log_context import conversation_id
from sayso.server.observability.server_log import (
    LINE_FIELDS,
    NAME,
    kept_lines,
    log_folder,
    older_lines,
    told_ids,
)
from sayso.server.store.errors import StoreError
from sayso.server.store.log_reader import read_events

LEVELS = ("debug", "info", "warning", "error", "critical")
LOOK_S = 0.25
"""How often a followed log is looked at."""


class Logs:
    """See the module."""

    summary = "what the server wrote of itself"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "-n", "--lines", type=int, default=50, help="how many of the last lines (default 50)"
        )
        parser.add_argument(
            "--level", choices=LEVELS, default="debug", help="nothing less grave than this"
        )
        parser.add_argument(
            "-f", "--follow", action="store_true", help="and what comes, as it comes"
        )
        parser.add_argument("--device", metavar="NAME", help="only what is about this device")
        parser.add_argument(
            "--conversation", metavar="ID", help="only what is about this conversation"
        )
        parser.add_argument("--json", action="store_true", help="lines of JSON, as they are kept")

    def run(self, arguments: argparse.Namespace) -> int:
        home = Home.find()
        is_wanted = _wanted(home, arguments)
        following = _Following(log_folder(home) / NAME) if arguments.follow else None
        kept = chain(older_lines(home), following.lines()) if following else kept_lines(home)
        last = deque(filter(is_wanted, kept), maxlen=max(arguments.lines, 0))
        if not last and not following:
            print(f"Nothing of this is in the log ({log_folder(home)}). `sayso serve` writes it.")
        for line in last:
            _show(line, as_json=arguments.json)
        while following:
            time.sleep(LOOK_S)
            for line in following.lines():
                if is_wanted(line):
                    _show(line, as_json=arguments.json)
        return 0


def _wanted(home: Home, arguments: argparse.Namespace) -> Callable[[str], bool]:
    """Whether a line is as grave as it was asked for, and about what it was asked for."""
    grave = LEVELS[LEVELS.index(arguments.level) :]
    device = (arguments.device or "").casefold()
    conversations = _ids_of(home, arguments.conversation) if arguments.conversation else ()

    def is_wanted(line: str) -> bool:
        entry = _read(line)
        return (
            entry.get("level") in grave
            and (not device or str(entry.get("device", "")).casefold() == device)
            and (not conversations or entry.get("conversation") in conversations)
        )

    return is_wanted


def _ids_of(home: Home, conversation: str) -> tuple[str, ...]:
    """What lines may call it: it is named by its id or its name, or as a line has it."""
    with suppress(StoreError):  # it may be forgotten already
        conversation = read_events(home.state / "events.sqlite", conversation)[0].conversation
    return conversation, conversation_id(conversation)


def _read(line: str) -> dict[str, object]:
    try:
        found = read_json(line)
    except UntrustedJsonError:
        return {}
    return found if isinstance(found, dict) else {}


def _show(line: str, *, as_json: bool) -> None:
    if as_json:
        print(line, flush=True)
        return
    entry = _read(line)
    room = str(entry.get("room", "")).removeprefix("sayso.")
    ids = told_ids({name: str(entry[name]) for name in entry if name not in LINE_FIELDS})
    about = f"{room}: {ids}:" if ids else f"{room}:"
    print(f"{entry.get('time', '')} {entry.get('level', ''):<8} {about} {entry.get('text', '')}")
    sys.stdout.flush()


class _Following:
    """The file that is written now, and the one that takes its place when it is put aside."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _opened(path)
        self._begun = b""

    def lines(self) -> Iterator[str]:
        """What was written since this was last asked."""
        while True:
            # Looked at first: what was written until then is read, and then the new file.
            moved = self._file is None or not _is_at(self._path, self._file)
            if self._file:
                *whole, self._begun = (self._begun + self._file.read()).split(b"\n")
                yield from (line.decode("utf-8", "replace") for line in whole)
            if not moved:
                return
            if self._file:
                self._file.close()
            self._file, self._begun = _opened(self._path), b""
            if self._file is None:
                return


def _opened(path: Path) -> BinaryIO | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None


def _is_at(path: Path, file: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


command = Logs()
