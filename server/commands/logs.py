"""`sayso logs`: what the server wrote of itself; no secret is in it, and nothing that was said."""

import argparse
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from sayso.protocol.home import Home
from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.observability.server_log import NAME, kept_lines, log_folder, older_lines

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
        parser.add_argument("--json", action="store_true", help="lines of JSON, as they are kept")

    def run(self, arguments: argparse.Namespace) -> int:
        home = Home.find()
        grave = LEVELS[LEVELS.index(arguments.level) :]
        following = _Following(log_folder(home) / NAME) if arguments.follow else None
        kept = chain(older_lines(home), following.lines()) if following else kept_lines(home)
        wanted = (line for line in kept if _level(line) in grave)
        last = deque(wanted, maxlen=max(arguments.lines, 0))
        if not last and not following:
            print(f"Nothing is in the log ({log_folder(home)}). `sayso serve` writes it.")
        for line in last:
            _show(line, as_json=arguments.json)
        while following:
            time.sleep(LOOK_S)
            for line in following.lines():
                if _level(line) in grave:
                    _show(line, as_json=arguments.json)
        return 0


def _level(line: str) -> str:
    return str(_read(line).get("level", ""))


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
    print(f"{entry.get('time', '')} {entry.get('level', ''):<8} {room}: {entry.get('text', '')}")
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
