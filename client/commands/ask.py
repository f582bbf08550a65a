"""`sayso ask "…"`: one typed question; the answer goes to standard output, all else beside it.

Code that wants approval is asked about at the terminal, and what code asks while it runs is
answered there. Without a terminal, approval is denied, unless `--approve yes` says otherwise.
`--json` writes events as `sayso talk --json` does.
"""

import argparse
import asyncio
import sys
from functools import partial
from pathlib import Path

from sayso.audio.devices.speaker import silent_speaker
from sayso.client.files.upload import FileSender
from sayso.client.jsonlines import JsonScreen
from sayso.client.options import (
    WITHOUT_SPEECH,
    add_conversation,
    add_folder,
    add_server,
    add_timeout,
    keep_files,
    make_link,
    prepare_logging,
)
from sayso.client.session.folder_choice import Placement
from sayso.client.session.one_shot import Decide, TurnWatch, always, once, put, run_turns
from sayso.client.session.session import Session
from sayso.client.terminal.approval_prompt import ask_at_terminal, read_answer
from sayso.client.terminal.events import Screen
from sayso.client.terminal.plain import PlainScreen
from sayso.protocol.messages import ApprovalRequest, Approve


class Ask:
    """See the module."""

    summary = "ask one question in writing"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "question", nargs="+", help="what you want to know or have done, or a /command"
        )
        add_server(parser)
        add_conversation(parser)
        add_folder(parser)
        parser.add_argument(
            "--file",
            metavar="PATH",
            type=Path,
            action="append",
            default=[],
            help="send this file along, into the workspace (may be repeated)",
        )
        parser.add_argument("--json", action="store_true", help="write events as JSON lines")
        parser.add_argument(
            "--approve",
            choices=("yes", "no"),
            help="answer every question so: whether code may run, whether it gets the folders and"
            " hosts that it asks for, and whether a folder's instructions are followed",
        )
        add_timeout(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        prepare_logging()
        asyncio.run(_ask(arguments))
        return 0


async def _ask(arguments: argparse.Namespace) -> None:
    plain = PlainScreen(sys.stdout, sys.stderr)
    screen: Screen = JsonScreen(sys.stdout) if arguments.json else plain
    keeper = keep_files(screen, arguments.server)
    sender = FileSender(keeper)
    placement = Placement(sender, arguments.folder, arguments.conversation)
    watch = TurnWatch(placement)
    link = make_link(arguments.server, "ask", WITHOUT_SPEECH, arguments.conversation)
    session = Session(link, silent_speaker(), watch)
    placement.through(session.send)

    async def ask() -> None:
        names = [await sender.put(path, link.send) for path in arguments.file]
        put(session, " ".join(arguments.question), tuple(names))

    try:
        decide = _decide(arguments, plain)
        asks = placement.first(once(ask))
        reads = partial(read_answer, plain) if _at_terminal(arguments) else None
        await run_turns(session, watch, asks, decide, arguments.timeout, reads)
        await keeper.close()
    finally:
        plain.end_reply()


def _decide(arguments: argparse.Namespace, plain: PlainScreen) -> Decide:
    if arguments.approve:
        return always(arguments.approve)
    if _at_terminal(arguments):
        return ask_at_terminal(plain)

    async def deny(request: ApprovalRequest) -> Approve:
        plain.say("Denied: there is no terminal to ask at. `--approve yes` runs code unasked.")
        return Approve(request.id, request.nonce, "no")

    return deny


def _at_terminal(arguments: argparse.Namespace) -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty() and not arguments.json


command = Ask()
