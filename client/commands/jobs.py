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
from collections.abc import AsyncGenerator
from typing import Final

from sayso.audio.devices.speaker import silent_speaker
from sayso.client.options import (
    WITHOUT_SPEECH,
    add_server,
    add_timeout,
    make_link,
    prepare_logging,
)
from sayso.client.session.one_shot import Ask, TurnWatch, always, run_turns
from sayso.client.session.session import Session
from sayso.client.terminal.events import Seen
from sayso.client.terminal.screen import sanitize
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import Command, CommandDone, Error

MISUSED = 2

LOOK_EVERY_S: Final = 1.0
"""Between two looks at a job that is followed: it tells no more itself."""

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
        return asyncio.run(_ask(arguments, _Printer(follows=follows), text))


class _Printer:
    """A screen for answers about jobs."""

    def __init__(self, *, follows: bool) -> None:
        self.code = 0
        self.over = not follows
        self._follows = follows
        self._last = ""

    def show(self, seen: Seen) -> None:
        match seen:
            case Envelope(message=CommandDone(ok=True, text=text)):
                self._answered(text)
            case Envelope(message=CommandDone(text=text) | Error(message=text)):
                sys.stderr.write(sanitize.words(text) + "\n")
                self.code, self.over = 1, True
            case _:
                pass

    def _answered(self, text: str) -> None:
        first, _, _ = text.partition("\n")
        self.over = self.over or _GOES_ON not in first
        shown = first if self._follows and not self.over else text
        said = _TOOK.sub("", shown)
        if said != self._last:
            self._last = said
            sys.stdout.write(sanitize.words(shown) + "\n")
            sys.stdout.flush()


async def _ask(arguments: argparse.Namespace, printer: _Printer, text: str) -> int:
    watch = TurnWatch(printer)
    link = make_link(arguments.server, "jobs", WITHOUT_SPEECH)
    session = Session(link, silent_speaker(), watch)

    async def ask() -> None:
        session.send(Command("jobs", text))

    async def asks() -> AsyncGenerator[Ask, None]:
        yield ask
        while not printer.over:
            await asyncio.sleep(LOOK_EVERY_S)
            yield ask

    await run_turns(session, watch, asks(), always("no"), arguments.timeout)
    return printer.code


command = Jobs()
