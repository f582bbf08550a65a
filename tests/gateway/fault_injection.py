"""A client and a server that tell each other numbered things over a bad line.

Both ends are the product's own: `Link` calls, `Listener` answers. Only what lies behind them is
made for counting. For tests and for the benchmark.
"""

import asyncio
import hashlib
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Self

from sayso.audio.pcm import FRAME_SAMPLES
from sayso.client.session.link import Link
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.listener import Listener
from sayso.server.turn import events
from sayso.server.turn.events import Event, Ticket
from sayso.server.turn.utterance import Utterance
from tests.fault_proxy import FaultProxy, faults
from tests.gateway.running_gateway import TOKEN, RunningGateway

DEVICE = "far"
PIECES = 3
"""Of an answer, to each request."""
UTTERANCE_FRAMES = 12
PATIENCE_S = 60.0
"""For anything more to arrive, on a busy machine; however long it takes, it goes on till then."""


@dataclass
class CountingGateway(RunningGateway):
    """Answers a request with numbered pieces and a run, an utterance with what it heard."""

    requests: list[str] = field(default_factory=list)
    utterances: dict[int, Utterance] = field(default_factory=dict)
    sounds: dict[int, bytearray] = field(default_factory=dict)
    announced: int = 0

    def happened(self, event: Event) -> None:
        match event:
            case events.Typed(text=text):
                self.requests.append(text)
                for piece in range(PIECES):
                    self._tell(m.ReplyDelta(f"{text}.{piece} "))
                self._tell(m.CodeStart(text, "python", f"print({text})"))
                self._tell(m.CodeEnd(text, "ok"))
            case events.ListenStarted(stream=stream):
                self.utterances[stream] = Utterance(stream, event, 0.0)
                self.sounds[stream] = bytearray()
            case events.AudioHeard(stream=stream, first_sample=first, pcm=pcm):
                self.sounds[stream] += self.utterances[stream].take(first, pcm, 0.0)
                self._advance(stream)
            case events.ListenStopped(stream=stream, samples=samples):
                self.utterances[stream].release(samples, 0.0)
                self._advance(stream)
            case _:
                pass

    def announce(self) -> None:
        """Something that nobody asked for."""
        self.announced += 1
        self._tell(m.Announce(str(self.announced)))

    def _advance(self, stream: int) -> None:
        utterance = self.utterances[stream]
        if (samples := utterance.acknowledgement()) is not None:
            self._tell(m.AudioAck(stream, samples))
        if utterance.is_whole and utterance.state != "committed":
            utterance.commit(0.0)
            self._tell(m.SttFinal(_digest(self.sounds[stream])))

    def _tell(self, message: m.FromServer) -> None:
        # A first welcome that never arrived leaves a session behind that nobody comes back to.
        self.outlets[self.joined[-1].device].tell(message, Ticket(1, 0))


@dataclass
class Toll:
    """What became of it all."""

    cuts: int = 0
    lost: int = 0
    doubled: int = 0
    rerun: int = 0
    """Requests that were carried out more than once."""
    misplaced: int = 0
    """Things that came out of order."""
    anew: int = 0
    """Sessions that were not taken up."""
    resumed_s: list[float] = field(default_factory=list)
    """From each cut to the moment when the line was up again."""

    def __iadd__(self, other: "Toll") -> Self:
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))
        return self


async def endure(seed: int, requests: int, limits: Limits | None = None) -> Toll:
    """So many requests and a third as many utterances, over a line that keeps breaking."""
    async with FaultProxy(faults(seed)) as proxy:
        gateway, name = CountingGateway(), f"127.0.0.1:{proxy.port}"
        listener = Listener(gateway, TOKEN, limits, also=[name])
        proxy.target = await listener.open("127.0.0.1", 0)
        try:
            caller = _Caller(f"ws://{name}/ws", random.Random(seed))
            toll = await caller.call(gateway, requests)
        finally:
            await listener.close()
        toll.cuts = proxy.cuts
    return toll


class _Caller:
    def __init__(self, url: str, chance: random.Random) -> None:
        hello = m.Hello(SPOKEN, "hardship 1", DEVICE, ("resume",))
        self._link = Link(url, hello, lambda: TOKEN)
        self._chance = chance
        self._heard: list[m.Message] = []
        self._toll = Toll()
        self._cut_at: float | None = None
        self._changed = asyncio.Event()
        self._was_up = False
        self._patience: asyncio.Timeout | None = None
        self._said: list[str] = []
        """What each utterance should be heard as."""

    async def call(self, gateway: CountingGateway, requests: int) -> Toll:
        tasks = [asyncio.create_task(self._link.run()), asyncio.create_task(self._follow())]
        try:
            async with asyncio.timeout(PATIENCE_S) as self._patience:
                for number in range(requests):
                    await self._ask(gateway, number)
                await self._until(lambda: self._is_complete(gateway, requests))
        except TimeoutError:
            pass  # What is missing is counted as lost.
        finally:
            self._patience = None
            await self._link.close()
            await asyncio.gather(*tasks)
        return self._count(gateway, requests)

    async def _ask(self, gateway: CountingGateway, number: int) -> None:
        self._link.send(m.Text(str(number)))
        if number % 3 == 0:
            self._speak(number // 3 + 1)
        # Who was never welcomed has no session yet in which anything could wait.
        if self._was_up and DEVICE in gateway.outlets and self._chance.random() < 0.3:
            gateway.announce()
        # No person is further ahead, and the client keeps no more utterances than these.
        await self._until(lambda: self._count_of(m.CodeEnd) >= number - 20)
        await self._until(lambda: self._count_of(m.SttFinal) > len(self._said) - 6)
        await asyncio.sleep(self._chance.choice((0, 0, 0.001, 0.004)))

    def _speak(self, stream: int) -> None:
        pcm = self._chance.randbytes(UTTERANCE_FRAMES * FRAME_SAMPLES * 2)
        self._said.append(_digest(pcm))
        self._link.send(m.ListenStart("ptt", stream))
        middle = len(pcm) // 2
        self._link.send_audio(stream, pcm[:middle])
        self._link.send_audio(stream, pcm[middle:])
        self._link.send(m.ListenStop(stream, UTTERANCE_FRAMES * FRAME_SAMPLES))

    async def _follow(self) -> None:
        now = asyncio.get_running_loop().time
        async for event in self._link.events():
            if isinstance(event, LinkChange):
                if event.state is LinkState.WAITING and self._cut_at is None:
                    self._cut_at = now()
                if event.session in ("resumed", "snapshot", "anew") and self._cut_at is not None:
                    self._toll.resumed_s.append(now() - self._cut_at)
                    self._cut_at = None
                self._was_up = self._was_up or event.state is LinkState.UP
                self._toll.anew += event.session in ("snapshot", "anew")
            elif isinstance(event, Envelope) and not isinstance(event.message, str):
                self._heard.append(event.message)  # type: ignore[arg-type]
                if self._patience and not self._patience.expired():
                    self._patience.reschedule(now() + PATIENCE_S)
            self._changed.set()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    def _count_of(self, kind: type[m.Message]) -> int:
        return sum(isinstance(message, kind) for message in self._heard)

    def _is_complete(self, gateway: CountingGateway, requests: int) -> bool:
        return (
            self._count_of(m.CodeEnd) >= requests
            and self._count_of(m.SttFinal) >= len(self._said)
            and self._count_of(m.Announce) >= gateway.announced
        )

    def _count(self, gateway: CountingGateway, requests: int) -> Toll:
        numbers = [str(number) for number in range(requests)]
        replies = "".join(one.text for one in self._heard if isinstance(one, m.ReplyDelta))
        told = (
            (gateway.requests, numbers),
            (replies.split(), [f"{n}.{piece}" for n in numbers for piece in range(PIECES)]),
            ([one.id for one in self._heard if isinstance(one, m.CodeStart)], numbers),
            ([one.id for one in self._heard if isinstance(one, m.CodeEnd)], numbers),
            ([one.text for one in self._heard if isinstance(one, m.SttFinal)], self._said),
            (
                [one.text for one in self._heard if isinstance(one, m.Announce)],
                [str(number + 1) for number in range(gateway.announced)],
            ),
        )
        for came, meant in told:
            missing, beyond = Counter(meant) - Counter(came), Counter(came) - Counter(meant)
            self._toll.lost += missing.total()
            self._toll.doubled += beyond.total()
            self._toll.misplaced += sum(a != b for a, b in zip(came, meant, strict=False))
        self._toll.rerun = (Counter(gateway.requests) - Counter(numbers)).total()
        return self._toll


def _digest(pcm: bytes | bytearray) -> str:
    return hashlib.sha256(pcm).hexdigest()
