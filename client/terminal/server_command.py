"""Gives the server commands such as `/jobs` without a person at the keyboard, and prints what it
answers."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from typing import Final

from sayso.audio.devices.speaker import silent_speaker
from sayso.client.options import WITHOUT_SPEECH, make_link
from sayso.client.session.one_shot import Ask, TurnWatch, always, run_turns
from sayso.client.session.session import Session
from sayso.client.terminal.events import Seen
from sayso.client.terminal.screen import sanitize
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import Command, CommandDone, Error

ASK_EVERY_S: Final = 1.0
"""Between two of the same command, for one who wants to follow what changes."""


class AnswerPrinter:
    """A screen for the answer to a command."""

    code = 0
    """What the program ends with."""
    over = True
    """Nothing more is to be asked."""

    def show(self, seen: Seen) -> None:
        match seen:
            case Envelope(message=CommandDone(ok=True, text=text)):
                self.answered(text)
            case Envelope(message=CommandDone(text=text) | Error(message=text)):
                sys.stderr.write(sanitize.words(text) + "\n")
                self.code, self.over = 1, True
            case _:
                pass

    def answered(self, text: str) -> None:
        """It was done, and this is what came of it."""
        sys.stdout.write(sanitize.words(text) + "\n")
        sys.stdout.flush()


async def give(command: Command, server: str, timeout: float, printer: AnswerPrinter) -> int:
    """Give a command until the printer has what it wants; returns what the program ends with.
    Raises ClientError."""
    watch = TurnWatch(printer)
    session = Session(make_link(server, command.name, WITHOUT_SPEECH), silent_speaker(), watch)

    async def ask() -> None:
        session.send(command)

    async def asks() -> AsyncGenerator[Ask, None]:
        yield ask
        while not printer.over:
            await asyncio.sleep(ASK_EVERY_S)
            yield ask

    await run_turns(session, watch, asks(), always("no"), timeout)
    return printer.code
