"""Runs hands-free talking: the microphone stays open, and the wake gate decides what is sent.

    muted ◀─ key ─▶ waiting ── wake word ──▶ listening ── listen.end ──▶ working ──▶ speaking
                       ▲                         ▲                                      │
                       └──── after 6 s ───── inviting ◀─────────────────────────────────┘

Muting closes the microphone itself: the system's own sign that it is open goes out.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from sayso.audio.devices.microphone import DeviceChange, Microphone
from sayso.audio.pcm import FRAME_BYTES, FRAME_MS, silence
from sayso.audio.playback_reference import Heard, PlaybackReference
from sayso.client.errors import TurnFailed
from sayso.client.listening.wake_gate import Clean, EchoKind, Opening, WakeGate
from sayso.client.session.session import Session
from sayso.client.terminal.events import HandsFree as Seen
from sayso.client.terminal.events import HandsFreeState, Notice

NO_WORD = "none"
"""`--wake none`: any voice is listened to."""
TOO_OLD = "This server cannot listen without a key: update it, or talk with a key."
WORKING = frozenset({"thinking", "acting"})
"""States of the work in which nothing is waited for."""
REST_SECONDS = 30.0
"""A recording that has ended is followed by silence for as long as an end is looked for."""
SETTLED_FRAMES = 25
"""Half a second in which nothing goes on: what was said is answered, or was nothing."""


@dataclass(frozen=True, slots=True)
class Listening:
    """How to listen: what the person chose, and what this device can do."""

    wake: str
    echo: EchoKind
    follow_up_s: float
    """How long a person may go on without the wake word; 0: never."""
    playback_reference: PlaybackReference | None = None
    """What the loudspeaker plays; with `cancelled`."""


async def make_ear(listening: Listening) -> WakeGate:
    """Loads the models. Raises `AudioError` where one is missing."""

    # webrtcvad, numpy and the models: half a second that talking with a key does without.
    from sayso.audio.voice_gate import VoiceGate
    from sayso.audio.wake_word import find_wake_word, load

    def work() -> WakeGate:
        word = find_wake_word(listening.wake) if listening.wake != NO_WORD else None
        spotter = load(word) if word else None
        follow_up_ms = round(1000 * listening.follow_up_s)
        clean, forget_room = _cleaner(listening)
        return WakeGate(VoiceGate(), spotter, clean, listening.echo, follow_up_ms, forget_room)

    return await asyncio.to_thread(work)


def _cleaner(listening: Listening) -> tuple[Clean, Callable[[], None]]:
    """What takes the loudspeaker out, and what to call when the microphone was closed."""
    reference = listening.playback_reference
    if listening.echo != "cancelled" or reference is None:
        return lambda frame: Heard(frame, frame), lambda: None
    from sayso.audio.echo import EchoCanceller  # numpy

    canceller = EchoCanceller()

    def forget_room() -> None:
        reference.begin_anew()
        canceller.begin_anew()

    return lambda frame: canceller.take(frame, reference.frame()), forget_room


class HandsFree:
    """Keeps one microphone, unless it is muted."""

    def __init__(
        self,
        session: Session,
        wake_gate: WakeGate,
        changed: Callable[[HandsFreeState], None] | None = None,
    ) -> None:
        self._session = session
        self._wake_gate = wake_gate
        self._changed = changed or (lambda state: session.show(Seen(state)))
        self._state: HandsFreeState | None = None
        self._unmuted = asyncio.Event()
        self._unmuted.set()
        self._listening: asyncio.Task[None] | None = None
        self._opened = False
        """Somebody was listened to since the beginning."""

    @property
    def muted(self) -> bool:
        return not self._unmuted.is_set()

    def mute(self, *, on: bool) -> None:
        """Closes the microphone, or opens it again."""
        if on == self.muted:
            return
        if on:
            self._unmuted.clear()
            if self._session.client_turn.listening:
                self._session.cancel()
            if self._listening is not None:
                self._listening.cancel()
            self._tell("muted")
        else:
            self._unmuted.set()

    async def listen(self, microphone: Microphone) -> None:
        """Goes on until it is cancelled, or the microphone ends. Raises `AudioError`."""
        while True:
            await self._unmuted.wait()
            self._listening = asyncio.create_task(self._listen(microphone))
            try:
                await self._listening
            except asyncio.CancelledError:
                this = asyncio.current_task()
                if not self.muted or (this is not None and this.cancelling()):
                    raise
            else:
                return

    async def once(self, microphone: Microphone) -> None:
        """Listens to a recording, and to silence after it, until an utterance has ended."""
        await self._listen(microphone, until_ended=True)
        await self._until_ended()
        if not self._opened:
            raise TurnFailed("The wake word was not heard in the recording: say it clearly.")

    async def rest(self) -> None:
        """The microphone has ended, as a recording does: returns when what was said is answered."""
        await self._until_ended()
        quiet = 0
        while quiet < SETTLED_FRAMES:
            turn = self._session.client_turn.turn
            over = (turn.ears, turn.work, turn.mouth) == ("idle", "idle", "silent")
            quiet = quiet + 1 if over and self._session.silent else 0
            await asyncio.sleep(FRAME_MS / 1000)

    async def _until_ended(self) -> None:
        """Listens to silence, until the server has found the end of what was said."""
        loop = asyncio.get_running_loop()
        began, frame = loop.time(), silence(FRAME_BYTES // 2)
        while self._session.client_turn.listening:
            if loop.time() - began > REST_SECONDS:
                self._session.cancel()
                raise TurnFailed("The server found no end of what was said: try it again.")
            self._take(frame)
            await asyncio.sleep(FRAME_MS / 1000)

    async def _listen(self, microphone: Microphone, *, until_ended: bool = False) -> None:
        self._wake_gate.begin_anew()
        async with aclosing(microphone.frames()) as frames:
            async for frame in frames:
                if isinstance(frame, DeviceChange):
                    self._wake_gate.begin_anew()
                    self._session.show(frame)
                    continue
                self._take(frame)
                if until_ended and self._opened and not self._session.client_turn.listening:
                    return

    def _take(self, frame: bytes) -> None:
        session = self._session
        turn = session.client_turn.turn
        words, opening = self._wake_gate.take(
            frame,
            open_already=session.client_turn.listening,
            speaking=session.speaking,
            working=turn.work in WORKING,
            asks=session.client_turn.asks,
        )
        if words:
            session.pass_on(words)
        elif opening is not None and (opening.why == "wake word" or not session.announcing):
            self._open(opening)
        self._tell(self._now())

    def _open(self, opening: Opening) -> None:
        if not self._session.features:
            return  # The line is not up; the screen says so.
        if "hands_free" not in self._session.features:
            self._session.show(Notice(TOO_OLD))
            return
        self._opened = True
        if not opening.speaks:
            self._session.chime("listening")
        self._session.open(opening.pre_roll, opening.wait_ms, self._addressed(opening))

    def _addressed(self, opening: Opening) -> bool | None:
        """Whether it is certain that Sayso is meant; None: any voice is, and nothing goes on."""
        if opening.why == "wake word":
            return True
        busy = self._session.client_turn.turn.work in WORKING
        return None if opening.why == "voice" and not busy else False

    def _now(self) -> HandsFreeState:
        turn = self._session.client_turn.turn
        if self._session.client_turn.listening:
            return "listening"
        if self._session.speaking:
            return "speaking"
        if self._wake_gate.inviting:
            return "inviting"
        if turn.work in WORKING or turn.ears == "committed":
            return "working"
        return "waiting" if self._wake_gate.has_wake_word else "open"

    def _tell(self, state: HandsFreeState) -> None:
        if state != self._state:
            self._state = state
            self._changed(state)
