"""A conversation in virtual time: say what happens when, and see what the machine did and when."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.effects import Effect
from sayso.server.turn.events import Event, Ticket
from sayso.server.turn.machine import TurnMachine

RATE_IN = 16_000
RATE_OUT = 22_050
FRAME = 320
"""Samples of a frame of the microphone: 20 ms."""

T = TypeVar("T")


@dataclass
class Scene:
    """Drives a machine, and hands in TimePassed exactly at its deadlines."""

    machine: TurnMachine = field(default_factory=TurnMachine)
    now: float = 0.0
    done: list[tuple[float, Effect]] = field(default_factory=list)
    streams: int = 0

    # --- what happens ---

    def happens(self, event: Event) -> list[Effect]:
        did = self.machine.handle(event, self.now)
        self.done += [(self.now, effect) for effect in did]
        return did

    def wait(self, seconds: float) -> None:
        """Let time pass; deadlines on the way are met on the dot."""
        until = self.now + seconds
        while self.machine.deadline <= until:
            self.now = max(self.now, self.machine.deadline)
            self.happens(events.TimePassed())
        self.now = until

    def join(self, device: str = "laptop", **of: object) -> None:
        self.happens(events.Joined(device, **of))  # type: ignore[arg-type]

    def press(self, device: str = "laptop") -> int:
        self.streams += 1
        self.happens(events.ListenStarted(device, self.streams))
        return self.streams

    def open(self, device: str = "laptop", *, pre_roll_s: float = 0.5, wait_ms: int = 6000) -> int:
        """Hands-free: the device opens its microphone, and sends what it heard just before."""
        self.streams += 1
        pre_roll = round(pre_roll_s * RATE_IN)
        started = events.ListenStarted(device, self.streams, "hands_free", pre_roll, wait_ms)
        self.happens(started)
        if pre_roll:
            self.happens(events.AudioHeard(device, self.streams, 0, b"\1\0" * pre_roll))
        return self.the(effects.Listen).utterance

    def voice(self, device: str = "laptop", *, at_s: float = 0.0, pre_roll_s: float = 0.5) -> int:
        """Hands-free: the device opens, and somebody is heard to speak from `at_s` on."""
        utterance = self.open(device, pre_roll_s=pre_roll_s)
        self.happens(events.VoiceBegan(utterance, round(at_s * RATE_IN)))
        return utterance

    def partly(self, utterance: int, stable: str, tail: str = "", *, stop: bool = False) -> None:
        """Some words are understood while the person speaks on."""
        meaning: events.Meaning = "stop" if stop else "request"
        self.happens(events.PartlyHeard(utterance, stable, tail, meaning))

    def ends(self, utterance: int, reason: Literal["ended", "timeout"] = "ended") -> None:
        self.happens(events.VoiceEnded(utterance, reason))

    def hear(self, utterance: int, text: str, meaning: events.Meaning = "request") -> None:
        """Hands-free: the utterance is over, and understood at once."""
        self.ends(utterance)
        self.happens(events.Heard(utterance, text, meaning))

    def speak(self, seconds: float, device: str = "laptop", first: int = 0) -> int:
        """Send audio at real-time pace; returns the number of samples that it ends at."""
        samples = first
        for _ in range(round(seconds * RATE_IN / FRAME)):
            self.happens(events.AudioHeard(device, self.streams, samples, b"\1\0" * FRAME))
            samples += FRAME
            self.wait(FRAME / RATE_IN)
        return samples

    def release(self, samples: int, device: str = "laptop") -> None:
        self.happens(events.ListenStopped(device, self.streams, samples))

    def say(
        self,
        text: str,
        seconds: float = 1.0,
        device: str = "laptop",
        meaning: events.Meaning = "request",
    ) -> None:
        """A whole utterance: press, speak, release, and the ears understand it at once."""
        self.press(device)
        self.release(self.speak(seconds, device), device)
        self.understand(text, meaning)

    def understand(self, text: str, meaning: events.Meaning = "request") -> None:
        self.happens(events.Heard(self.the(effects.Finish).utterance, text, meaning))

    def reply(self, text: str, ticket: Ticket | None = None) -> None:
        self.happens(events.ReplyDelta(ticket or self.ticket, text))

    def end_work(self) -> None:
        self.happens(events.WorkDone(self.ticket))

    def synthesize(self, text: str, seconds: float, ticket: Ticket | None = None) -> None:
        samples = round(seconds * RATE_OUT)
        names = text.split()
        step = samples // len(names)
        words = tuple(m.Word(w, i * step, (i + 1) * step) for i, w in enumerate(names))
        owner = ticket or self.ticket
        self.happens(events.ChunkSpoken(owner, text, RATE_OUT, sound_of(owner) * samples, words))

    def end_mouth(self) -> None:
        self.happens(events.SynthesisDone(self.ticket))

    def play(self, seconds: float, device: str = "laptop", step: float = 0.1) -> None:
        """The device plays what it has at real-time pace, and reports every 100 ms."""
        stream = self.the(effects.Send).stream
        for _ in range(round(seconds / step)):
            self.wait(step)
            self.played += round(step * RATE_OUT)
            self.played = min(self.played, self.sent)
            self.happens(events.Played(device, stream, self.played, False))

    played: int = 0

    # --- what was done ---

    @property
    def ticket(self) -> Ticket:
        return self.machine.ticket

    @property
    def sent(self) -> int:
        """Samples of the latest stream that were sent."""
        stream = self.the(effects.Send).stream
        return sum(len(s.pcm) // 2 for s in self.all(effects.Send) if s.stream == stream)

    def all(self, kind: type[T]) -> list[T]:
        return [effect for _, effect in self.done if isinstance(effect, kind)]

    def the(self, kind: type[T]) -> T:
        """The latest of its kind."""
        return self.all(kind)[-1]

    def told(self, kind: type[T], device: str | None = None) -> list[T]:
        """The messages of a kind that went to a device."""
        tells = [t for t in self.all(effects.Tell) if t.device in (None, device or t.device)]
        return [t.message for t in tells if isinstance(t.message, kind)]

    def when(self, kind: type[object]) -> float:
        """When the latest effect, or message, of this kind came."""
        times = [
            at
            for at, effect in self.done
            if isinstance(effect, kind)
            or (isinstance(effect, effects.Tell) and isinstance(effect.message, kind))
        ]
        return times[-1]

    def when_told(self, wanted: object) -> float:
        """When the latest message that equals this went out."""
        tells = [(at, e.message) for at, e in self.done if isinstance(e, effects.Tell)]
        return [at for at, message in tells if message == wanted][-1]

    @property
    def state_of_work(self) -> str:
        return self.machine.state.work

    @property
    def states(self) -> list[tuple[str, str, str]]:
        return [(s.ears, s.work, s.mouth) for s in self.told(m.TurnState)]


def sound_of(ticket: Ticket) -> bytes:
    """A sample that tells whose it is."""
    return bytes((ticket.turn % 256, ticket.gen % 256))


def heard_bytes(done: Iterable[Effect]) -> int:
    """Bytes of audio that reached the ears."""
    return sum(len(effect.pcm) for effect in done if isinstance(effect, effects.Feed))
