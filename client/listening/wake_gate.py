"""Decides, frame by frame, when a microphone without a key is listened to. Pure: no clock, no line.

    nothing goes on      the wake word opens
    after an answer      for some seconds a voice opens, so that a person may just go on
    after a question     the same, while work goes on, too
    over an answer       a voice opens, if the device can't hear itself; the wake word always
    while work goes on   the wake word opens
    without a wake word  a voice opens

Where no seconds are given for going on, the wake word alone opens, over an answer, too.

Sound that comes before an opening stays here, but for the pre-roll.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from sayso.audio.pcm import FRAME_MS
from sayso.audio.playback_reference import Heard
from sayso.audio.wake_word import Woken

PRE_ROLL_FRAMES = 25
"""500 ms: a gate is sure of a voice 0.1 to 0.3 s after it began, and words begin softly."""
VOICE_FRAMES = 4
"""80 ms of voice within the window below are somebody who speaks."""
OVER_FRAMES = 6
"""Over an answer it takes 120 ms: what is left of the answer is shorter."""
WINDOW_FRAMES = 10
FOLLOW_UP_MS = 6_000
"""How long after an answer or a question a person may go on without the wake word, unless they
chose otherwise."""
AFTERGLOW_FRAMES = 20
"""A room rings on for 400 ms after the loudspeaker; a device that hears itself waits for that."""
WAIT_MS = 6_000
"""How long the server waits for the first word after the wake word."""
SPEAKS_MS = 1_500
"""The same where a voice opened: words come at once, or it was a cough."""


class Gate(Protocol):
    """Tells whether a frame holds a voice."""

    def hears(self, frame: bytes) -> bool: ...


class WordSpotter(Protocol):
    """Tells when the wake word has been said."""

    def take(self, frame: bytes, *, voice: bool) -> Woken | None: ...

    def reset(self) -> None: ...


EchoKind = Literal["cancelled", "half_duplex", "headphones"]
"""How the device keeps its own voice out of its microphone: what `hello` declares."""
Clean = Callable[[bytes], Heard]
"""Takes the loudspeaker's sound out of a frame."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Somebody is to be listened to."""

    why: Literal["wake word", "voice", "follow-up", "over the answer"]
    pre_roll: bytes
    speaks: bool
    """The person is already speaking."""
    wait_ms: int = SPEAKS_MS
    """How long a first word may be waited for; a cough is none."""


class WakeGate:
    """`spotter` None: there is no wake word, and any voice opens."""

    def __init__(
        self,
        gate: Gate,
        spotter: WordSpotter | None,
        clean: Clean,
        echo: EchoKind,
        follow_up_ms: int = FOLLOW_UP_MS,
        forget_room: Callable[[], None] = lambda: None,
    ) -> None:
        """`forget_room` tells `clean` that the microphone was closed meanwhile."""
        self._forget_room = forget_room
        self._follow_up_ms = follow_up_ms
        self._word_alone = spotter is not None and follow_up_ms == 0
        self._gate = gate
        self._spotter = spotter
        self.has_wake_word = spotter is not None
        self._clean = clean
        self._deaf_over_answers = echo == "half_duplex"
        self._before: deque[bytes] = deque(maxlen=PRE_ROLL_FRAMES)
        self._window: deque[bool] = deque(maxlen=WINDOW_FRAMES)
        self._ringing = 0
        self._invited_ms = 0
        self._spoke = False
        self._worked = False

    @property
    def inviting(self) -> bool:
        """A person may go on without the wake word."""
        return self._invited_ms > 0

    def begin_anew(self) -> None:
        """The microphone opens: what was heard before it was closed has nothing to do with it."""
        self._forget()
        self._invited_ms = 0
        self._spoke = False
        if self._spotter is not None:
            self._spotter.reset()
        self._forget_room()

    def take(
        self,
        frame: bytes,
        *,
        open_already: bool,
        speaking: bool,
        working: bool,
        asks: bool = False,
    ) -> tuple[bytes, Opening | None]:
        """Takes the next frame of the microphone; gives what is to be sent of it, if anything is,
        and whether somebody is to be listened to from here on. `asks`: what is spoken, or was
        last, is a question."""
        cleaned = self._clean(frame)
        voice = self._gate.hears(cleaned.gate)
        self._follow(speaking=speaking, working=working, asks=asks, open_already=open_already)
        if open_already:
            self._forget()
            return cleaned.words, None
        opening = self._judge(cleaned, voice=voice, speaking=speaking)
        if opening is not None:
            self._forget()
            self._invited_ms = 0
            if self._spotter is not None:
                self._spotter.reset()
        return b"", opening

    def _judge(self, cleaned: Heard, *, voice: bool, speaking: bool) -> Opening | None:
        self._before.append(cleaned.words)
        self._window.append(voice)
        if self._spotter is not None:
            woken = self._spotter.take(cleaned.words, voice=voice)
            if woken is not None:
                return Opening("wake word", woken.sound, woken.goes_on, WAIT_MS)
        if self._ringing and self._deaf_over_answers:
            self._window.clear()
            return None
        if self._word_alone:
            return None
        if sum(self._window) < (OVER_FRAMES if speaking else VOICE_FRAMES):
            return None
        pre_roll = b"".join(self._before)
        if speaking:
            return Opening("over the answer", pre_roll, speaks=True)
        if self._spotter is None:
            return Opening("voice", pre_roll, speaks=True)
        if not self.inviting:
            return None
        # After a cough the invitation still holds.
        rest = max(SPEAKS_MS, self._invited_ms)
        return Opening("follow-up", pre_roll, speaks=True, wait_ms=rest)

    def _follow(self, *, speaking: bool, working: bool, asks: bool, open_already: bool) -> None:
        """Keeps the time in which a person is invited to go on: it begins when an answer or a
        question was heard out, and ends by itself, or when new work begins."""
        self._ringing = AFTERGLOW_FRAMES if speaking else max(0, self._ringing - 1)
        if speaking:
            self._spoke, self._invited_ms = True, 0
        elif open_already:
            pass  # What is said is not counted.
        elif self._spoke and (asks or not working):
            self._spoke, self._invited_ms = False, self._follow_up_ms
        elif working and not self._worked:
            self._invited_ms = 0
        else:
            self._invited_ms = max(0, self._invited_ms - FRAME_MS)
        self._worked = working

    def _forget(self) -> None:
        self._before.clear()
        self._window.clear()
