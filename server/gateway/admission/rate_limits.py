"""Limits the rate of a client's sound and requests by token buckets, which refill with time.

What comes too fast is not dropped but read more slowly, so that the sender's socket fills and it
waits: after a cut a client sends a minute of sound at once, and nobody can keep the server busy for
ever. Only requests beyond what a person asks are refused, with an error; and a client that goes on
sending messages without a pause is disconnected.
"""

import asyncio

from sayso.protocol import messages as m
from sayso.protocol.errors import Refused
from sayso.protocol.frames import is_picture
from sayso.server.gateway.limits import Limits
from sayso.server.trust.principal import THIS_MACHINE, Principal

SOUND_BYTES = 32_000
"""A second of what clients send: 16 kHz, 16 bits."""
MINUTE_S = 60.0

PICTURES_HELD = 8 * 2**20
"""Bytes of a device's pictures that are read at once: one answer's."""
PICTURES_A_SECOND = 2 * 2**20
"""In the long run: a few screens a second, and the event loop stays free for voices."""

REQUESTS = (m.Text, m.ListenStart, m.Command)
"""Messages that cost recognition or the model work."""


class Flood(Refused):
    """Messages without a pause."""

    def __init__(self) -> None:
        super().__init__("Messages came without a pause.", code="too_fast", fatal=True)


class TooFast(Refused):
    """More than a person asks."""

    def __init__(self, retry_s: float) -> None:
        sentence = "This device asks too much at once; try again in a moment."
        super().__init__(sentence, code="too_fast", fatal=False)
        self.retry_ms = int(retry_s * 1_000)


class Bucket:
    """Holds so much, and fills at so much a second."""

    def __init__(self, holds: float, a_second: float) -> None:
        self._holds = holds
        self._a_second = a_second
        self._level = holds
        self._at: float | None = None

    def wait_for(self, amount: float, now: float) -> float:
        """Take this much; returns the seconds after which it will have been there."""
        self._fill(now)
        self._level -= amount
        return max(0.0, -self._level / self._a_second)

    @property
    def is_drained(self) -> bool:
        """Nobody let it fill: less is in it than half of what it holds, or gets in a second."""
        return self._level < min(self._holds, self._a_second) / 2

    def take(self, amount: float, now: float) -> bool:
        """Take this much if it is there."""
        self._fill(now)
        if self._level < amount:
            return False
        self._level -= amount
        return True

    def _fill(self, now: float) -> None:
        passed = 0.0 if self._at is None else now - self._at
        self._at = now
        self._level = min(self._holds, self._level + passed * self._a_second)


class Rates:
    """Of what one client sends over its socket."""

    def __init__(self, limits: Limits, who: Principal) -> None:
        burst = limits.sound_burst_s * SOUND_BYTES
        self._sound = Bucket(burst, limits.sound_pace * SOUND_BYTES)
        self._pictures = Bucket(PICTURES_HELD, PICTURES_A_SECOND)
        self._messages = Bucket(limits.messages_burst, limits.messages_a_second)
        a_second = limits.requests_a_minute / MINUTE_S
        counted = who is not THIS_MACHINE
        self._requests = Bucket(limits.requests_a_minute, a_second) if counted else None
        self._between_s = 1 / a_second
        self._flood_s = limits.flood_s
        self._unpaused_since: float | None = None

    def wait_for(self, data: str | bytes, *, pictures: bool = False) -> float:
        """For how many seconds the next frame is not to be read. Raises Flood.

        `pictures`: it may send some, which are no sound.
        """
        now = asyncio.get_running_loop().time()
        if pictures and isinstance(data, bytes) and is_picture(data):
            return self._pictures.wait_for(len(data), now)
        if isinstance(data, bytes):
            return self._sound.wait_for(len(data), now)
        wait = self._messages.wait_for(1, now)
        if not self._messages.is_drained:
            self._unpaused_since = None
        elif self._unpaused_since is None:
            self._unpaused_since = now
        elif now - self._unpaused_since > self._flood_s:
            raise Flood
        return wait

    def check(self, message: m.FromClient) -> None:
        """Raise TooFast if this is a request too many."""
        if self._requests is None or not isinstance(message, REQUESTS):
            return
        if not self._requests.take(1, asyncio.get_running_loop().time()):
            raise TooFast(self._between_s)


class RequestRates:
    """How much each device asks over HTTP, and how much of it is being answered."""

    def __init__(self, limits: Limits) -> None:
        self._a_minute = limits.requests_a_minute
        self._at_once = limits.device_requests
        self._buckets: dict[str, Bucket] = {}
        self._answering: dict[str, int] = {}

    def begin(self, who: Principal) -> bool:
        """Whether one more is answered; then `end` is called. Programs of this machine are their
        owner's own, and not counted."""
        if who is THIS_MACHINE:
            return True
        bucket = self._buckets.setdefault(
            who.device, Bucket(self._a_minute, self._a_minute / MINUTE_S)
        )
        answering = self._answering.get(who.device, 0)
        now = asyncio.get_running_loop().time()
        if answering >= self._at_once or not bucket.take(1, now):
            return False
        self._answering[who.device] = answering + 1
        return True

    def end(self, who: Principal) -> None:
        """It was answered."""
        if who is THIS_MACHINE:
            return
        self._answering[who.device] -= 1
        if not self._answering[who.device]:
            del self._answering[who.device]
