"""`sayso talk`: the conversation, in a terminal or on files.

    sayso talk                                      in a terminal
    sayso talk --mic file:q.wav --speaker file:a.wav --once --json
                                                    the same client on files, for scripts

With `--json` every event is a line of JSON; `sayso.client.jsonlines` says which there are.
"""

import argparse
import asyncio
import sys

from sayso.audio.speaker import silent_speaker
from sayso.client.jsonlines import JsonScreen
from sayso.client.once import TurnWatch, always, run_once
from sayso.client.options import (
    add_server,
    add_timeout,
    file_microphone,
    file_speaker,
    make_link,
    prepare_logging,
)
from sayso.client.session import Session


class Talk:
    """See the module."""

    summary = "talk with Sayso in this terminal"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_server(parser)
        parser.add_argument("--mic", metavar="NAME", default="", help="a device, or file:PATH")
        parser.add_argument("--speaker", metavar="NAME", default="", help="a device, or file:PATH")
        parser.add_argument("--once", action="store_true", help="one turn on files, then leave")
        parser.add_argument("--json", action="store_true", help="write events as JSON lines")
        parser.add_argument(
            "--pace",
            choices=("real", "max"),
            default="real",
            help="how fast files are spoken and played (default real)",
        )
        parser.add_argument(
            "--approve",
            choices=("yes", "no"),
            help="answer every request for approval so (with --once: no)",
        )
        add_timeout(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        prepare_logging()
        return asyncio.run(_once(arguments))


async def _once(arguments: argparse.Namespace) -> int:
    microphone = file_microphone(arguments.mic, arguments.pace)
    speaker = file_speaker(arguments.speaker, arguments.pace) or silent_speaker()
    if microphone is None:
        sys.stderr.write("`--once` needs a question: give it with --mic file:PATH.\n")
        return 2
    watch = TurnWatch(JsonScreen(sys.stdout))
    session = Session(make_link(arguments.server, "talk"), speaker, watch)
    await run_once(
        session,
        watch,
        lambda: session.speak(microphone),
        always(arguments.approve or "no"),
        arguments.timeout,
    )
    return 0


command = Talk()
