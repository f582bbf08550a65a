"""`sayso conversations`: which there are, and back into one of them.

sayso conversations                 list them, the latest first
sayso conversations resume NAME     go on with one, at the terminal; its number does, too
"""

import argparse
import asyncio
import sys

from sayso.audio.devices.speaker import silent_speaker
from sayso.client.commands.talk import Talk
from sayso.client.options import (
    WITHOUT_SPEECH,
    add_server,
    add_timeout,
    make_link,
    prepare_logging,
)
from sayso.client.session.one_shot import TurnWatch, always, once, run_turns
from sayso.client.session.session import Session
from sayso.client.terminal.events import Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import Command, CommandDone, Error

MISUSED = 2


class Conversations:
    """See the module."""

    summary = "list the conversations; go on with one"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.usage = "sayso conversations [--server URL]\n       sayso conversations resume NAME"
        parser.add_argument("words", nargs="*", metavar="resume NAME", help="what to do")
        add_server(parser)
        add_timeout(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        match arguments.words:
            case []:
                prepare_logging()
                return asyncio.run(_list(arguments))
            case ["resume", *name] if name:
                return _resume(arguments.server, " ".join(name))
            case _:
                sys.stderr.write("Name the conversation: `sayso conversations resume NAME`.\n")
                return MISUSED


class _Printer:
    """A screen for one answer."""

    def __init__(self) -> None:
        self.code = 0

    def show(self, seen: Seen) -> None:
        match seen:
            case Envelope(message=CommandDone(ok=True, text=text)):
                sys.stdout.write(text + "\n")
            case Envelope(message=CommandDone(text=text) | Error(message=text)):
                sys.stderr.write(text + "\n")
                self.code = 1
            case _:
                pass


async def _list(arguments: argparse.Namespace) -> int:
    printer = _Printer()
    watch = TurnWatch(printer)
    link = make_link(arguments.server, "conversations", WITHOUT_SPEECH)
    session = Session(link, silent_speaker(), watch)

    async def ask() -> None:
        session.send(Command("conversations"))

    await run_turns(session, watch, once(ask), always("no"), arguments.timeout)
    return printer.code


def _resume(server: str, name: str) -> int:
    talk = Talk()
    parser = argparse.ArgumentParser(prog="sayso talk")
    talk.add_arguments(parser)
    flags = ["--server", server, "--conversation", name]
    return talk.run(parser.parse_args(flags))


command = Conversations()
