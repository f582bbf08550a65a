"""Runs one conversation at the client: connects microphone, link, player and screen.

Each event goes to the talker (`turn_state`), which answers with effects; this module performs them.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import aclosing, suppress
from functools import partial
from typing import Final, Literal, Protocol

from sayso.audio.devices.microphone import DeviceChange, Microphone
from sayso.audio.devices.speaker import ReopeningSpeaker, Speaker
from sayso.audio.earcons import Earcon, earcon
from sayso.audio.errors import AudioError
from sayso.audio.pcm import Meter
from sayso.client.errors import TurnFailed
from sayso.client.session.link import Link
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.session.player import Player
from sayso.client.session.turn_state import (
    ClientTurn,
    Drop,
    Duck,
    Effect,
    Effects,
    Finish,
    Hush,
    Open,
    Play,
    Send,
    SendAudio,
)
from sayso.client.terminal.events import (
    AudioDone,
    AudioGap,
    FirstAudioPlayed,
    FirstAudioReceived,
    MicLevel,
    MicPressed,
    MicReleased,
    Notice,
    Screen,
    Seen,
    Sent,
)
from sayso.protocol.codec import Envelope, decode
from sayso.protocol.errors import ProtocolError
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import (
    ActRequest,
    ApprovalRequest,
    Approve,
    Conversation,
    Error,
    FromClient,
    Interrupt,
    ListenCancel,
    ListenEnd,
    PlayState,
    ReplyDelta,
    Snapshot,
    SttFinal,
)

TOO_MUCH_WAITS = "Nothing more can be kept until the server is back; what you said before is."
NOT_YOURS: Final = "Sayso itself is at work at this screen: answer once more, when it rests."


class Desktop(Protocol):
    """What is done at this screen for the server."""

    @property
    def has_the_keys(self) -> bool: ...

    def asked(self, request: ActRequest, turn: tuple[int, int]) -> None: ...

    def moved_on(self, turn: tuple[int, int], *, anew: bool = False) -> None: ...

    def cut(self) -> None: ...

    async def close(self) -> None: ...


class Session:
    """`run()` is the task that receives and plays; the other methods are what a person does."""

    def __init__(
        self,
        link: Link,
        speaker: Speaker,
        screen: Screen,
        earcons: Literal["on", "off"] = "off",
        desktop: Desktop | None = None,
    ) -> None:
        """`desktop`: what looks and acts at this screen, where its owner allows that."""
        self._desktop = desktop
        self._question: Envelope | None = None
        self._earcons = earcons
        self._link = link
        self._speaker = ReopeningSpeaker(speaker, self._sound_failed)
        self._screen = screen
        self._client_turn = ClientTurn()
        self._player = Player(self._speaker, self)
        self._received: int | None = None
        self._meter = Meter()
        self._features: tuple[str, ...] = ()

    @property
    def client_turn(self) -> ClientTurn:
        return self._client_turn

    @property
    def features(self) -> tuple[str, ...]:
        """What the server can do; nothing while it was not met yet."""
        return self._features

    @property
    def silent(self) -> bool:
        """Nothing is left to be played."""
        return self._player.idle

    @property
    def speaking(self) -> bool:
        """The answer is being heard, or more of it comes at once. While a question waits, or code
        runs, its stream is open and nothing is spoken."""
        goes_on = not self.silent and self._client_turn.turn.mouth != "silent"
        return self._player.sounding or goes_on

    async def run(self) -> None:
        """Goes on until the line is closed or refused."""
        async with asyncio.TaskGroup() as tasks:
            keeping = tasks.create_task(self._link.run())
            playing = tasks.create_task(self._player.run())
            async with aclosing(self._link.events()) as events:
                async for event in events:
                    self._take(event)
            playing.cancel()
            await keeping
        if self._desktop:
            await self._desktop.close()
        await self._speaker.close()

    async def leave(self) -> None:
        """Silences everything and lets `run()` end."""
        self._player.hush()
        await self._link.close()

    def press(self) -> None:
        """The key goes down."""
        if self._link.full:
            self._screen.show(Notice(TOO_MUCH_WAITS))
            return
        if not self._client_turn.listening:
            self._player.end_chime()
            self._screen.show(MicPressed())
        self._perform(self._client_turn.press(_now()))

    def open(self, pre_roll: bytes, wait_ms: int, addressed: bool | None = None) -> None:
        """Listens without a key; the server finds the end. `addressed`: whether the wake word was
        said; without it all words count."""
        if not self._client_turn.listening:
            self._screen.show(MicPressed())
        self._perform(self._client_turn.open(_now(), pre_roll, wait_ms, addressed))

    def release(self) -> bool:
        """The key comes up. False: it was a mere tap."""
        if self._client_turn.listening:
            self._screen.show(MicReleased())
        effects = self._client_turn.release(_now())
        self._perform(effects)
        return not any(isinstance(e, Send) and isinstance(e.message, ListenCancel) for e in effects)

    def cancel(self) -> None:
        """Forget what is being said."""
        if self._client_turn.listening:
            self._screen.show(MicReleased())
        self._perform(self._client_turn.cancel())

    @property
    def question(self) -> str:
        """What words are about that are begun now: the id of an approval request, or nothing."""
        return self._client_turn.question(_now())

    def say(self, text: str, files: tuple[str, ...] = (), question: str = "") -> None:
        """Typed words, and names of files in the workspace that belong to them. `question`: what
        it was when they were begun; without one they answer none."""
        self._perform(self._client_turn.say(text, files, question))

    def interrupt(self) -> bool:
        """Stops what goes on. False: there was nothing to stop."""
        effects = self._client_turn.interrupt()
        self._perform(effects)
        return bool(effects)

    def send(self, message: FromClient) -> None:
        """Sends a message that is about no speech: an approval, a setting."""
        if isinstance(message, Approve) and self._desktop and self._desktop.has_the_keys:
            self._screen.show(Notice(NOT_YOURS))
            if self._question:
                self._screen.show(self._question)
            return
        self._link.send(message)
        self._screen.show(Sent(message))

    async def listen(self, microphone: Microphone) -> None:
        """Keeps the microphone open; what it gives goes out only while the key is down."""
        async with aclosing(microphone.frames()) as frames:
            async for frame in frames:
                if isinstance(frame, DeviceChange):
                    self._screen.show(frame)
                else:
                    self.pass_on(frame)

    def pass_on(self, frame: bytes) -> None:
        """Sends what the microphone gave, if somebody is being listened to."""
        effects = self._client_turn.frame(frame)
        self._perform(effects)
        if effects:
            self._screen.show(MicLevel(self._meter.feed(frame)))
        if effects and not self._client_turn.listening:
            self._screen.show(MicReleased())
            self._screen.show(Notice("That was a minute; what you said is being answered."))

    def show(self, seen: Seen) -> None:
        """Tells the person what happened at the microphone."""
        self._screen.show(seen)

    def chime(self, name: Earcon) -> None:
        """Says something without words."""
        if self._earcons == "on":
            self._player.chime(partial(earcon, name))

    def announce(self, make: Callable[[int], bytes]) -> None:
        """Says something of this device's own; `make` gives it at a rate."""
        self._player.chime(make)

    @property
    def announcing(self) -> bool:
        """The device itself says something."""
        return self._player.chiming

    def let_go(self) -> None:
        """What is being played does not go on: the line is away, and sends it again when back."""
        self._perform(self._client_turn.resumed())

    async def speak(self, microphone: Microphone) -> None:
        """Holds the key down for as long as the microphone gives something: for files."""
        self.press()
        await self.listen(microphone)
        if not self.release():
            raise TurnFailed("The recording is too short to hold a word: record it again.")

    # What the player tells.

    def report(self, state: PlayState) -> None:
        if self._link.state is LinkState.UP:
            self._link.send(state)
            self._screen.show(Sent(state))

    def first_played(self, stream: int) -> None:
        self._screen.show(FirstAudioPlayed(stream))

    def finished(self, stream: int, samples: int) -> None:
        self._client_turn.played(stream)
        self._screen.show(AudioDone(stream, samples))

    def ran_dry(self, stream: int, seconds: float) -> None:
        self._screen.show(AudioGap(stream, seconds))

    # What the line gives.

    def _take(self, event: Envelope | AudioFrame | LinkChange) -> None:
        match event:
            case AudioFrame():
                self._perform(self._client_turn.hear_audio(event))
            case LinkChange():
                self._line(event)
            case Envelope():
                self._message(event)

    def _line(self, event: LinkChange) -> None:
        if self._desktop and event.state is not LinkState.UP:
            self._desktop.cut()
        if event.session == "anew":
            if self._desktop:
                self._desktop.moved_on((0, 0), anew=True)
            self._perform(self._client_turn.begin_anew())
        elif event.session in {"resumed", "snapshot"}:
            self._perform(self._client_turn.resumed())
        self._screen.show(event)
        if event.welcome is not None:
            self._features = event.welcome.features
        if event.welcome is not None and event.welcome.snapshot is not None:
            for missed in missed_messages(event.welcome.snapshot):
                if isinstance(missed.message, ApprovalRequest):
                    self._client_turn.asked(missed.message.id, _now())
                self._screen.show(missed)

    def _message(self, event: Envelope) -> None:
        listened = self._client_turn.listening
        effects = self._client_turn.hear(event, _now())
        if self._desktop:
            anew = isinstance(event.message, Conversation)
            self._desktop.moved_on(self._client_turn.newest, anew=anew)
        if effects is None:
            return  # Stale: it belongs to an attempt that is over.
        if isinstance(event.message, ActRequest):
            if self._desktop:
                self._desktop.asked(event.message, self._client_turn.newest)
            return
        if isinstance(event.message, ApprovalRequest):
            self._question = event
        self._perform(effects)
        if listened and not self._client_turn.listening:
            self._screen.show(MicReleased())
        self._chime(event.message)
        self._screen.show(event)

    def _perform(self, effects: Effects) -> None:
        for effect in effects:
            self._do(effect)

    def _sound_failed(self, error: AudioError) -> None:
        self._screen.show(Notice(str(error)))

    def _do(self, effect: Effect) -> None:
        match effect:
            case Send(message):
                self.send(message)
            case SendAudio(stream, pcm):
                self._link.send_audio(stream, pcm)
            case Hush(then):
                heard = self._player.hush()
                if then == "interrupt":
                    self.send(Interrupt(heard.stream, heard.samples))
                elif heard.stream is not None:
                    self.report(PlayState(heard.stream, heard.samples))
            case Duck(on):
                self._speaker.duck(on=on)
            case _:
                self._play(effect)

    def _play(self, effect: Open | Play | Finish | Drop) -> None:
        match effect:
            case Open(stream, rate):
                self._player.open(stream, rate)
            case Play(frame):
                self._first(frame)
                self._player.play(frame)
            case Finish(stream, samples):
                self._player.finish(stream, samples)
            case Drop(stream):
                self._player.drop(stream)

    def _chime(self, message: object) -> None:
        """Says without words what a person who does not look would miss."""
        name: Earcon
        match message:
            case SttFinal(text="") | ListenEnd(reason="timeout"):
                name = "done"
            case Error():
                name = "error"
            case _:
                return
        self.chime(name)

    def _first(self, frame: AudioFrame) -> None:
        if frame.stream != self._received and frame.payload:
            self._received = frame.stream
            self._screen.show(FirstAudioReceived(frame.stream))


def missed_messages(snapshot: Snapshot) -> Iterator[Envelope]:
    """Tells a snapshot in the messages that it stands for: the last turn, open requests, jobs.

    Fields may be missing, and what cannot be read is left out.
    """
    for turn in snapshot.turns[-1:]:
        number = turn.get("turn")
        place = number if isinstance(number, int) else None
        if isinstance(said := turn.get("said"), str):
            yield Envelope(SttFinal(said), turn=place)
        if isinstance(reply := turn.get("reply"), str):
            yield Envelope(ReplyDelta(f"{reply}\n\n"), turn=place)
    for approval in snapshot.approvals:
        with suppress(ProtocolError):
            yield decode(json.dumps({"t": "approval.request", **approval}))
    for job in snapshot.tasks:
        with suppress(ProtocolError):
            yield decode(json.dumps({"t": "task.update", **job}))


def _now() -> float:
    return asyncio.get_running_loop().time()


__all__ = ["Seen", "Session"]
