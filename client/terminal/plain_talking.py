"""Runs a conversation line by line: for screen readers, terminals without colour, pipes.

At a terminal an empty line starts recording, and the next one sends it; typed text is a question.
In a pipe each line is asked when the one before it has been answered.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from sayso.audio.devices.microphone import DeviceChange, FileMicrophone, Microphone
from sayso.audio.errors import AudioError
from sayso.client.devices.hotkey import Hotkey
from sayso.client.devices.sound import Sound
from sayso.client.errors import ClientError
from sayso.client.listening.hands_free import HandsFree
from sayso.client.session.link_events import LinkChange
from sayso.client.session.one_shot import Ask, put
from sayso.client.session.session import Session
from sayso.client.terminal import slash
from sayso.client.terminal.approval_prompt import TOO_SOON, Attention, understand
from sayso.client.terminal.events import Seen
from sayso.client.terminal.input.keyboard import DIFF, TWICE_SECONDS, Fetch
from sayso.client.terminal.input.lines import Lines
from sayso.client.terminal.plain import PlainScreen, changed
from sayso.client.terminal.tty import quiet
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import (
    ApprovalDone,
    ApprovalRequest,
    CodeEnd,
    Command,
    Conversation,
    TurnState,
)
from sayso.protocol.messages.bounds import LONGEST_TYPED

TALK = "Enter by itself begins to talk, Enter again sends. Or type a question. /help tells more."
HANDS_FREE = (
    "Say the wake word, or Enter by itself begins to talk. /mute closes the microphone, and opens "
    "it again. /help tells more."
)
TYPE = "Type a question, and press Enter. /help tells more."
ANSWER_ALOUD = "  Enter by itself begins to talk: say yes or no."
_KEYS = ["Enter  by itself begins to talk, and again sends", "text   and Enter asks"]


class PlainTalking:
    """A screen too: it notes which request is open."""

    def __init__(self, screen: PlainScreen) -> None:
        self._screen = screen
        self.hands_free: HandsFree | None = None
        """If there is one, the microphone is its."""
        self._request: ApprovalRequest | None = None
        self._typed = Lines()
        self._attention = Attention(self._typed, screen.say)
        self._commands: Mapping[str, str] = {}
        """The server's, with a line about each."""
        self._changed = False
        """The last run changed files, and `d` shows how."""
        self._whole = ""
        """The id of all that the last run put out, if that is long."""
        self.fetch: Fetch | None = None
        """Gets a file that was announced."""
        self._interrupted_at = -TWICE_SECONDS
        self._left = asyncio.Event()
        self._code = 0
        self._deaf = True
        """There is no microphone now."""
        self._how = TALK
        """How one talks while there is one."""

    def show(self, seen: Seen) -> None:
        self._screen.show(seen)
        if isinstance(seen, DeviceChange) and seen.part == "microphone":
            self._deaf = seen.state == "lost"
            self._screen.say(TYPE if self._deaf else self._how)
        if isinstance(seen, LinkChange) and seen.welcome is not None:
            self._commands = seen.welcome.commands
        if isinstance(seen, Envelope):
            match seen.message:
                case ApprovalRequest() as request:
                    self._request = request
                    if not self._deaf:
                        self._screen.say(ANSWER_ALOUD)
                    self._attention.shown()
                case CodeEnd(changes=changes, output=output):
                    self._whole = output or ""
                    if output and self.fetch:
                        self._screen.say("  o = open all of the output.")
                    beside = replace(changes, by_products=0)
                    self._changed = bool(changed(beside))
                    if self._changed:
                        self._screen.say("  d = show what changed.")
                case ApprovalDone() | Conversation() | TurnState(work="idle"):
                    self._request = None

    async def run(self, session: Session, sound: Sound, hotkey: str = "") -> int:
        """Goes on until the person leaves, or the server refuses us."""
        microphone = sound.microphone
        loop = asyncio.get_running_loop()
        press = partial(self._press, session)
        anywhere = Hotkey(hotkey, press, session.release) if hotkey else None
        loop.add_signal_handler(signal.SIGINT, self._interrupt, session)
        self._how = HANDS_FREE if self.hands_free else TALK
        if anywhere:
            self._how = f"Hold {hotkey} anywhere on the desktop to talk. {self._how}"
        self._deaf = not sound.hears
        if not self._deaf:
            self._screen.say(self._how)
        elif microphone is None:
            self._screen.say(TYPE)
        with quiet():
            return await self._until_left(session, microphone, anywhere)

    async def _until_left(
        self, session: Session, microphone: Microphone | None, anywhere: Hotkey | None
    ) -> int:
        conversing = asyncio.create_task(session.run())
        tasks = {
            conversing,
            asyncio.create_task(self._read(session, microphone)),
            asyncio.create_task(self._left.wait()),
        }
        listening = None
        if microphone is not None and (
            self.hands_free or not isinstance(microphone, FileMicrophone)
        ):
            listening = asyncio.create_task(self._listen(session, microphone))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            if conversing in done:
                return 1
            await session.leave()
            await conversing
            return self._code
        finally:
            everything = [*tasks, *([listening] if listening else [])]
            for task in everything:
                task.cancel()
            await asyncio.gather(*everything, return_exceptions=True)
            if anywhere:
                anywhere.close()
            self._attention.close()
            self._screen.end_reply()

    async def _read(self, session: Session, microphone: Microphone | None) -> None:
        async with aclosing(self._typed.read()) as typed:
            async for line in typed:
                if not line.strip().startswith("/"):
                    await self._take(line, session, microphone)
                elif self._command(line.strip(), session):
                    return

    async def _take(self, line: str, session: Session, microphone: Microphone | None) -> None:
        """A line that is no command."""
        talks = microphone is not None and not self._deaf
        if not line.strip() and (talks or self._request is None):
            await self._toggle(session, microphone)
        elif self._request is not None:
            await self._consent(line, session)
        elif line.strip() == "d" and self._changed and DIFF in self._commands:
            self._changed = False
            session.send(Command(DIFF))
        elif line.strip() == "o" and self._whole and self.fetch:
            await self._page(self.fetch, self._whole)
        elif len(line) > LONGEST_TYPED:
            self._screen.say("That is too long to ask; put it into a file.")
        else:
            session.say(line.strip())

    async def _page(self, fetch: Fetch, file: str) -> None:
        self._whole = ""
        try:
            self._screen.say(f"All of the output lies in {await fetch(file, 'text/plain')}")
        except ClientError as error:
            self._screen.say(str(error))

    async def _consent(self, line: str, session: Session) -> None:
        request = self._request
        if request is None:
            return
        if not self._attention.is_due:
            self._screen.say(TOO_SOON)
            return
        answer = await understand(line, request, self._screen)
        if answer is not None and self._request is request:
            self._request = None
            session.send(answer)
        elif self._request is not None:
            self._attention.shown()

    async def _toggle(self, session: Session, microphone: Microphone | None) -> None:
        if microphone is None or self._deaf:
            self._screen.say(TYPE)
        elif session.client_turn.listening:
            session.release()
        elif self.hands_free is None and isinstance(microphone, FileMicrophone):
            await session.speak(microphone)
        else:
            session.press()

    def _press(self, session: Session) -> None:
        if not self._deaf:
            session.press()

    def _command(self, line: str, session: Session) -> bool:
        """Does what a /command says. True: leave."""
        if line == "/mute" and self.hands_free is not None:
            self.hands_free.mute(on=not self.hands_free.muted)
            return False
        match slash.parse(line):
            case "help":
                self._screen.say(slash.help_text(_KEYS, self._commands))
            case "stop":
                if not session.interrupt():
                    self._screen.say("There is nothing to stop.")
            case "quit":
                return True
            case _:
                command = slash.for_server(line, self._commands)
                if command is None:
                    self._screen.say(slash.unknown(line))
                else:
                    session.send(Command(*command))
        return False

    def _interrupt(self, session: Session) -> None:
        now = asyncio.get_running_loop().time()
        again = now - self._interrupted_at < TWICE_SECONDS
        self._interrupted_at = now
        if again:
            self._code = 130
            self._left.set()
        elif session.client_turn.listening:
            session.cancel()
            self._screen.say("Dropped.")
        elif session.interrupt():
            self._screen.say("Stopped. Ctrl-C again leaves.")
        else:
            self._screen.say("Ctrl-C again leaves.")

    async def _listen(self, session: Session, microphone: Microphone) -> None:
        try:
            await (self.hands_free or session).listen(microphone)
        except AudioError as error:
            self._screen.say(f"{error} You can type instead.")


async def piped(session: Session) -> AsyncGenerator[Ask, None]:
    """Each line of standard input, as something to ask."""
    async with aclosing(Lines(sys.stdin.fileno()).read()) as typed:
        async for line in typed:
            if line.strip():

                async def ask(text: str = line.strip()[:LONGEST_TYPED]) -> None:
                    put(session, text)

                yield ask
