"""`sayso logs`: what the server wrote of itself; no secret is in it, and nothing that was said."""

import argparse
import json
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.discreet import NAME, kept_lines, log_folder

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
        wanted = (line for line in kept_lines(home) if _level(line) in grave)
        last = deque(wanted, maxlen=max(arguments.lines, 0))
        if not last and not arguments.follow:
            print(f"Nothing is in the log ({log_folder(home)}). `sayso serve` writes it.")
        for line in last:
            _show(line, as_json=arguments.json)
        if arguments.follow:
            for line in _new_lines(log_folder(home) / NAME):
                if _level(line) in grave:
                    _show(line, as_json=arguments.json)
        return 0


def _level(line: str) -> str:
    return str(_read(line).get("level", ""))


def _read(line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
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


def _new_lines(path: Path) -> Iterator[str]:
    """What is written from now on, also after the file was put aside for a new one."""
    at = path.stat().st_size if path.exists() else 0
    while True:
        size = path.stat().st_size if path.exists() else 0
        if size < at:
            at = 0
        if size > at:
            with path.open("rb") as file:
                file.seek(at)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            at += len(whole)
            yield from whole.decode("utf-8", "replace").splitlines()
        time.sleep(LOOK_S)


command = Logs()
