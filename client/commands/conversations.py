"""`sayso conversations`: which there are, and back into one of them.

sayso conversations                 list them, the latest first
sayso conversations resume NAME     go on with one, at the terminal; its number does, too
"""

import argparse
import asyncio
import sys

from sayso.client.commands.talk import Talk
from sayso.client.options import add_server, add_timeout, prepare_logging
from sayso.client.terminal.server_command import AnswerPrinter, give
from sayso.protocol.messages import Command

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
                listing = Command("conversations")
                return asyncio.run(
                    give(listing, arguments.server, arguments.timeout, AnswerPrinter())
                )
            case ["resume", *name] if name:
                return _resume(arguments.server, " ".join(name))
            case _:
                sys.stderr.write("Name the conversation: `sayso conversations resume NAME`.\n")
                return MISUSED


def _resume(server: str, name: str) -> int:
    talk = Talk()
    parser = argparse.ArgumentParser(prog="sayso talk")
    talk.add_arguments(parser)
    flags = ["--server", server, "--conversation", name]
    return talk.run(parser.parse_args(flags))


command = Conversations()
