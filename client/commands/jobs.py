"""`sayso jobs`: what goes on that lasts, in all conversations.

sayso jobs                  list the jobs, with those that ended a short while ago
sayso jobs show ID          how one stands, and the end of what it put out
sayso jobs follow ID        tell how far it is, until it ends
sayso jobs stop ID          stop it
"""

import argparse
import asyncio
import re
import sys
from typing import Final

from sayso.client.options import add_server, add_timeout, prepare_logging
from sayso.client.terminal.server_command import AnswerPrinter, give
from sayso.protocol.messages import Command

MISUSED = 2

_GOES_ON: Final = "goes on"
"""Stands in the first line on a job that does."""


_TOOK: Final = re.compile(r", [\d.]+ (?:s|min|h)\b")
"""How long it goes on, which is no news."""


class Jobs:
    """See the module."""

    summary = "list what goes on in the background; show, follow or stop it"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.usage = "sayso jobs [--server URL]\n       sayso jobs show|follow|stop ID"
        parser.add_argument("words", nargs="*", metavar="show|follow|stop ID", help="what to do")
        add_server(parser)
        add_timeout(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        match arguments.words:
            case []:
                text = ""
            case ["show" | "follow", job]:
                text = job
            case ["stop", job]:
                text = f"stop {job}"
            case _:
                sys.stderr.write("Say what to do: `sayso jobs show ID`, `follow ID`, `stop ID`.\n")
                return MISUSED
        prepare_logging()
        follows = arguments.words[:1] == ["follow"]
        printer = _JobPrinter(follows=follows)
        return asyncio.run(
            give(Command("jobs", text), arguments.server, arguments.timeout, printer)
        )


class _JobPrinter(AnswerPrinter):
    """Prints how a job stands: once, or whenever there is news until it ends."""

    def __init__(self, *, follows: bool) -> None:
        self.over = not follows
        self._follows = follows
        self._last = ""

    def answered(self, text: str) -> None:
        first, _, _ = text.partition("\n")
        self.over = self.over or _GOES_ON not in first
        shown = first if self._follows and not self.over else text
        said = _TOOK.sub("", shown)
        if said != self._last:
            self._last = said
            super().answered(shown)


command = Jobs()
