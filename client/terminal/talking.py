"""Runs a conversation in a terminal, from the first drawing to the last."""

import asyncio
import signal
from contextlib import ExitStack

from sayso.audio.devices.microphone import FileMicrophone, Microphone
from sayso.audio.errors import AudioError
from sayso.client.devices.hotkey import Hotkey
from sayso.client.listening.hands_free import HandsFree
from sayso.client.session.session import Session
from sayso.client.terminal.events import Notice
from sayso.client.terminal.input.keyboard import Fetch, Keyboard
from sayso.client.terminal.screen.screen import TerminalScreen
from sayso.client.terminal.screen.status_line import ANYWHERE, HOLD, TOGGLE, TYPE
from sayso.client.terminal.tty import Terminal, quiet

ENDED = 143
"""What shells expect of a program that was ended with SIGTERM."""


class Talking:
    """Everything that runs while a person sits at the terminal."""

    def __init__(
        self,
        screen: TerminalScreen,
        session: Session,
        hands_free: HandsFree | None = None,
        hotkey: str = "",
        fetch: Fetch | None = None,
    ) -> None:
        """`fetch` gets a file that was announced."""
        self._hotkey = hotkey
        self._screen = screen
        self._session = session
        self._hands_free = hands_free
        self._terminal = Terminal()
        self._microphone: Microphone | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        mute = self._mute if hands_free else None
        self._keyboard = Keyboard(self._terminal, screen, session, self._talk, mute, fetch)

    async def run(self, microphone: Microphone | None) -> int:
        """Goes on until the person leaves, or the server refuses us."""
        self._microphone = microphone
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._keyboard.interrupt)
        loop.add_signal_handler(signal.SIGTERM, self._end)
        loop.add_signal_handler(signal.SIGHUP, self._end)
        with ExitStack() as held:
            if self._hotkey:
                hotkey = Hotkey(self._hotkey, self._talk, self._session.release)
                held.callback(hotkey.close)
            held.enter_context(self._terminal.raw())
            held.enter_context(quiet())
            try:
                return await self._until_left()
            finally:
                self._screen.pause()

    async def _until_left(self) -> int:
        conversing = asyncio.create_task(self._session.run())
        self._tasks = {
            asyncio.create_task(self._screen.run()),
            asyncio.create_task(self._keyboard.run()),
            asyncio.create_task(self._look_at_keys()),
        }
        if self._microphone is not None and (
            self._hands_free or not isinstance(self._microphone, FileMicrophone)
        ):
            self._tasks.add(asyncio.create_task(self._listen(self._microphone)))
        leaving = asyncio.create_task(self._keyboard.left.wait())
        try:
            await asyncio.wait({conversing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if conversing.done():
                conversing.result()
                return 1
            await self._session.leave()
            await conversing
            return self._keyboard.code
        finally:
            everything = [conversing, leaving, *self._tasks]
            for task in everything:
                task.cancel()
            await asyncio.gather(*everything, return_exceptions=True)

    async def _look_at_keys(self) -> None:
        """Finds out how one can talk here, and says so."""
        holds = await self._terminal.ask_for_releases()
        talks = HOLD if holds else TOGGLE
        if self._hotkey:
            talks = f"{ANYWHERE}{self._hotkey} anywhere · {talks}"
        self._screen.status_line.keys = talks if self._microphone is not None else TYPE
        self._screen.touch()
        if await self._terminal.ask_for_pictures():
            self._screen.paper = lambda: self._terminal.paper

    async def _listen(self, microphone: Microphone) -> None:
        try:
            await (self._hands_free or self._session).listen(microphone)
        except AudioError as error:
            self._screen.show(Notice(f"{error} You can type instead."))
        self._microphone = None
        self._screen.status_line.keys = TYPE

    def _talk(self) -> bool:
        if self._microphone is None or self._screen.status_line.deaf:
            return False
        if self._hands_free is None and isinstance(self._microphone, FileMicrophone):
            task = asyncio.create_task(self._session.speak(self._microphone))
            self._tasks.add(task)
        else:
            self._session.press()
        return True

    def _mute(self) -> None:
        if self._hands_free is not None:
            self._hands_free.mute(on=not self._hands_free.muted)

    def _end(self) -> None:
        self._keyboard.code = ENDED
        self._keyboard.left.set()
