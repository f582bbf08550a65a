"""`sayso talk --headless`: a device with a button, a light and a voice, that nobody looks after.

    start ──▶ paired? ──▶ conversation ──▶ refused ──▶ wait for another pairing, or a minute ─┐
                 ▲  └ no ─▶ say so, wait for a file or `sayso pair join` ─┐                   │
                 └────────────────────────────────────────────────────────┴───────────────────┘

Within a conversation the line, the microphone and the loudspeaker come back by themselves.
What is written goes to the service's journal: troubles, and never what was said.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TextIO

from sayso.audio.devices.microphone import DeviceChange
from sayso.audio.pcm import SAMPLE_BYTES
from sayso.client.background.companion import MUTE, MUTED, UNMUTE
from sayso.client.devices.sound import Sound
from sayso.client.errors import ClientError
from sayso.client.headless.announcements import Announcements
from sayso.client.headless.lights import LOOKS, Signs, State
from sayso.client.headless.pairing_file import PLACES, arrive
from sayso.client.headless.pins import Light
from sayso.client.headless.sentences import Sentence, SpokenAs, sound
from sayso.client.identity.known_server import file_of, read
from sayso.client.listening.hands_free import HandsFree
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.session.session import Session
from sayso.client.terminal.events import HandsFree as HandsFreeSeen
from sayso.client.terminal.events import Notice, Screen, Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.errors import HomeError
from sayso.protocol.home import Home, read_token
from sayso.protocol.messages import Error

LOOK_AGAIN_SECONDS = 3.0
"""Between two looks for a pairing: a person with a card in their hand does not notice it."""
TRY_AGAIN_SECONDS = 60.0
"""A server that turned us away may have been mended without a new pairing."""
MOST_TO_SAY = 8
"""Sentences that wait for their moment; each is said once in what follows anyway."""
LOOK_FOR_A_MOMENT_SECONDS = 1.0
MOMENTS = 10
"""A sentence that finds no moment of silence for so long is no longer news; the light shows it."""
ALONE_RATE = 48_000
"""What every sound card plays, for sentences outside a conversation."""
OPENING_SECONDS = 1.5
"""A sound card may take so long to begin."""

Sounds = Callable[[Callable[[DeviceChange], None]], Sound]
"""Opens microphone and loudspeaker; the callback is told when they come and go."""
Converse = Callable[[Sound, Screen], Awaitable[tuple[Session, HandsFree | None]]]
"""Begins a conversation with the server that the device belongs to."""


class Appliance:
    """A screen too: it shows what happens with a light, and with sentences of its own."""

    def __init__(
        self,
        sounds: Sounds,
        converse: Converse,
        light: Light,
        manner: SpokenAs,
        journal: TextIO,
        *,
        known: bool = False,
    ) -> None:
        """`known`: a person named the server, so that no pairing is waited for."""
        self._known = known
        self._sounds = sounds
        self._begin = converse
        self._light = light
        self._manner: SpokenAs = manner
        self._journal = journal
        self._signs = Signs()
        self._shown: State | None = None
        self._told = ""
        self._announcements = Announcements(self._say_soon)
        self._to_say: asyncio.Queue[Sentence] = asyncio.Queue(MOST_TO_SAY)
        self._session: Session | None = None
        self._listen: Callable[[], asyncio.Task[None]] | None = None
        """Opens the microphone."""
        self._hearing: asyncio.Task[None] | None = None
        self._muted = False
        self._ended = asyncio.Event()

    # What a person does.

    def press(self) -> None:
        if self._session is not None and not self._muted:
            self._session.press()

    def release(self) -> None:
        if self._session is not None:
            self._session.release()

    # What happens.

    def show(self, seen: Seen) -> None:
        self._signs.take(seen)
        self._shine(self._signs.state)
        self._announcements.take(seen)
        match seen:
            case Notice(text=text) | Envelope(message=Error(message=text)):
                self._write(text)
                if isinstance(seen, Notice) and self._session is not None:
                    self._session.chime("error")
            case DeviceChange(detail=text):
                self._write(text)
            case LinkChange(state=LinkState.UP):
                self._write("The server is there.")
            case LinkChange(state=LinkState.WAITING | LinkState.REFUSED, reason=reason):
                self._write(reason)
            case _:
                pass

    async def run(self) -> int:
        """Goes on until it is ended."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self._ended.set)
        loop.add_signal_handler(MUTE, partial(self._mute, on=True))
        loop.add_signal_handler(UNMUTE, partial(self._mute, on=False))
        self._shine("starting")
        living = asyncio.create_task(self._live())
        ending = asyncio.create_task(self._ended.wait())
        try:
            await asyncio.wait({living, ending}, return_when=asyncio.FIRST_COMPLETED)
            if living.done():
                living.result()
            if self._session is not None:
                await self._session.leave()
            return 0
        finally:
            for task in (living, ending):
                task.cancel()
            await asyncio.gather(living, ending, return_exceptions=True)
            self._announcements.close()

    async def _live(self) -> None:
        while True:
            if self._paired():
                await self._converse()
                await self._news(TRY_AGAIN_SECONDS)
            else:
                self._shine("unpaired")
                self._write("This device is not paired: `sayso pair` on the server tells how.")
                await self._say_alone("unpaired")
                await self._news(None)

    def _paired(self) -> bool:
        """Takes a pairing that lies ready; then tells whether there is any."""
        home = Home.find()
        try:
            if arrived := arrive(home, PLACES):
                self._write(f"Paired as {arrived.device}.")
        except ClientError as error:
            self._write(str(error))
        try:
            return self._known or read(home) is not None or read_token(home) is not None
        except (ClientError, HomeError) as error:
            self._write(str(error))
            return False

    async def _news(self, at_most_s: float | None) -> None:
        """Waits until there is another pairing."""
        places = (file_of(Home.find()), Home.find().token_file, *PLACES)
        before = [_stamp(place) for place in places]
        with suppress(TimeoutError):
            async with asyncio.timeout(at_most_s):
                while True:
                    await asyncio.sleep(LOOK_AGAIN_SECONDS)
                    if before != [_stamp(place) for place in places]:
                        return

    async def _converse(self) -> None:
        """Until the server refuses us."""
        sounds = self._sounds(self.show)
        session, hands_free = await self._begin(sounds, self)
        microphone = sounds.microphone
        try:
            async with asyncio.TaskGroup() as tasks:
                speaking = tasks.create_task(self._speak_up(session))
                if microphone is not None:
                    listen = (hands_free or session).listen
                    self._listen = lambda: tasks.create_task(listen(microphone))
                    self._hearing = None if self._muted else self._listen()
                self._session = session
                await session.run()
                speaking.cancel()
                if self._hearing is not None:
                    self._hearing.cancel()
        finally:
            self._session = self._hearing = self._listen = None
        while not self._to_say.empty():
            await self._say_alone(self._to_say.get_nowait())

    def _mute(self, *, on: bool) -> None:
        """Closes the microphone itself, or opens it again."""
        if on == self._muted:
            return
        self._muted = on
        if self._hearing is not None and on:
            self._hearing.cancel()
        if self._listen is not None and not on:
            self._hearing = self._listen()
        self.show(HandsFreeSeen("muted" if on else "waiting"))
        self._write(MUTED if on else "The microphone is open again.")

    # What the device says.

    def _say_soon(self, saying: Sentence) -> None:
        with suppress(asyncio.QueueFull):
            self._to_say.put_nowait(saying)

    async def _speak_up(self, session: Session) -> None:
        """Says what waits, one after the other, when nobody speaks."""
        while True:
            saying = await self._to_say.get()
            if saying == "away":
                session.let_go()
            for _ in range(MOMENTS):
                if session.silent and not session.client_turn.listening:
                    session.announce(partial(sound, saying, self._manner))
                    break
                await asyncio.sleep(LOOK_FOR_A_MOMENT_SECONDS)

    async def _say_alone(self, saying: Sentence) -> None:
        """Says it outside a conversation."""
        speaker = self._sounds(self.show).speaker
        pcm = sound(saying, self._manner, ALONE_RATE)
        try:
            speaker.start(ALONE_RATE)
            speaker.write(pcm)
            await asyncio.sleep(len(pcm) / SAMPLE_BYTES / ALONE_RATE + OPENING_SECONDS)
        finally:
            await speaker.close()

    def _shine(self, state: State) -> None:
        if state != self._shown:
            self._shown = state
            self._light.show(LOOKS[state])

    def _write(self, sentence: str) -> None:
        """The same trouble is written once, however often it is tried again."""
        if sentence != self._told:
            self._told = sentence
            self._journal.write(f"{sentence}\n")
            self._journal.flush()


def _stamp(path: Path) -> tuple[int, int]:
    """Changes when the file does."""
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
