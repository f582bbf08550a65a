"""A client and a server that bytes tell when to speak, to send, to read, and when the line breaks.

Both ends' own outboxes, as the link and the session use them, with a line between them that holds
what is on its way. Whatever the bytes say, all that was told and said arrives once and in order; or
a snapshot stands for what the client missed, and then nothing of what it replaces.
"""

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass, field

from sayso.audio.pcm import FRAME_SAMPLES
from sayso.client.session.outbox import MOST_UTTERANCES
from sayso.client.session.outbox import Outbox as Clients
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, decode
from sayso.protocol.frames import unpack
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.socket.outbox import Outbox as Servers
from sayso.server.turn.events import ListenStarted
from sayso.server.turn.utterance import Utterance

LIMITS = Limits(replay_messages=24)
"""Few enough that a fuzzer can miss more than is kept."""
MISSED = (0, 0, 0, 3, 3, 3, 40)
"""What is told while the line is away: seldom more than is kept, since a snapshot forgives much."""
MOST_ASKED = 200
"""Requests: a client remembers 256 that are not known to have arrived."""


@dataclass
class Ends:
    """Both ends, the line between them, and what each has told and got."""

    server: Servers = field(default_factory=lambda: Servers(LIMITS))
    client: Clients = field(default_factory=Clients)
    down: deque[str] = field(default_factory=deque)
    up: deque[str | bytes] = field(default_factory=deque)
    told: list[str] = field(default_factory=list)
    """By the server, since the last snapshot."""
    got: list[str] = field(default_factory=list)
    seen: int = 0
    """The client's cursor: the last `seq` of the server's that it has."""
    asked: list[str] = field(default_factory=list)
    carried_out: list[str] = field(default_factory=list)
    known: int = 0
    """The server's cursor."""
    sounds: list[bytes] = field(default_factory=list)
    """Of each utterance that the client ended, from stream 1 on."""
    heard: dict[int, bytearray] = field(default_factory=dict)
    utterances: dict[int, Utterance] = field(default_factory=dict)
    understood: int = 0
    numbers: int = 0

    # --- what bytes can tell them to do ---

    def tell(self, *, joined: bool) -> None:
        """The server has something to say; pieces of a text may be joined on their way."""
        self.numbers += 1
        word = f"{self.numbers} "
        self.told.append(word.strip())
        self.server.put(Envelope(m.ReplyDelta(word) if joined else m.Announce(word)))

    def send_down(self) -> None:
        taking = self.server.take()
        try:
            taking.send(None)
        except StopIteration as taken:
            self.down.append(taken.value)
        else:
            taking.close()

    def read_down(self) -> None:
        if not self.down:
            return
        envelope = decode(self.down.popleft())
        if envelope.seq is not None and envelope.seq <= self.seen:
            return
        self.seen = envelope.seq or self.seen
        match envelope.message:
            case m.ReplyDelta(text=text) | m.Announce(text=text):
                self.got += text.split()
                assert self.got == self.told[: len(self.got)], "something is missing, or twice"
            case m.AudioAck(stream=stream, samples=samples):
                self.client.acknowledge(stream, samples)
            case m.SttFinal():
                self.client.understood()
                self.understood += 1

    def ask(self) -> None:
        if len(self.asked) < MOST_ASKED:
            self.asked.append(str(len(self.asked)))
            self.client.put(m.Text(self.asked[-1]))

    def speak(self, length: int) -> None:
        """One utterance; more than a client keeps nobody speaks."""
        if len(self.sounds) - self.understood >= MOST_UTTERANCES:
            return
        stream = len(self.sounds) + 1
        pcm = bytes([stream % 250 + 1]) * (2 * (FRAME_SAMPLES * (length % 4) + length))
        self.sounds.append(pcm)
        self.client.put(m.ListenStart("ptt", stream))
        self.client.put_audio(stream, pcm)
        self.client.put(m.ListenStop(stream, len(pcm) // 2))

    def send_up(self) -> None:
        if (taken := self.client.take()) is not None:
            self.up.append(taken)

    def read_up(self) -> None:
        if not self.up:
            return
        data = self.up.popleft()
        if isinstance(data, bytes):
            frame = unpack(data)
            utterance = self.utterances[frame.stream]
            self.heard[frame.stream] += utterance.take(frame.first_sample, frame.payload, 0.0)
            self._advance(utterance)
            return
        envelope = decode(data)
        if envelope.seq is not None and envelope.seq <= self.known:
            return
        self.known = envelope.seq or self.known
        match envelope.message:
            case m.Text(text=text):
                self.carried_out.append(text)
            case m.ListenStart(stream=stream):
                assert stream not in self.utterances
                self.utterances[stream] = Utterance(stream, ListenStarted("far", stream), 0.0)
                self.heard[stream] = bytearray()
            case m.ListenStop(stream=stream, samples=samples):
                self.utterances[stream].release(samples, 0.0)
                self._advance(self.utterances[stream])

    def _advance(self, utterance: Utterance) -> None:
        if (samples := utterance.acknowledgement()) is not None:
            self.server.put(Envelope(m.AudioAck(utterance.stream, samples)))
        if utterance.is_whole and utterance.state == "waiting_for_rest":
            utterance.commit(0.0)
            self.server.put(Envelope(m.SttFinal(str(utterance.stream))))

    def cut(self, on_the_way: int) -> None:
        """The line breaks; of what is on its way up, so much still arrives. Then it is up again."""
        for _ in range(on_the_way):
            self.read_up()
        self.up.clear()
        self.down.clear()
        self.server.cut()
        self.client.cut()

    def come_back(self) -> None:
        missed = self.server.back(self.seen)
        self.client.resume(self.known)
        if missed is not None:
            self.down.extend(missed)
            return
        # A snapshot says how things stand; the finals that it stands for are in its turns.
        self.told.clear()
        self.got.clear()

    def settle(self) -> None:
        """All that waits is sent and read."""
        while True:
            before = len(self.down), len(self.up)
            self.send_down()
            self.send_up()
            if before == (0, 0) and not self.down and not self.up:
                return
            self.read_down()
            self.read_up()


def play(data: bytes) -> None:
    """Do what the bytes say, then see that nothing is missing."""
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        loop.run_until_complete(_play(data))


async def _play(data: bytes) -> None:
    ends = Ends()
    for byte in data:
        value = byte >> 3
        match byte & 7:
            case 0:
                ends.tell(joined=value % 2 == 0)
            case 1:
                ends.send_down()
            case 2:
                ends.read_down()
            case 3:
                ends.ask()
            case 4:
                ends.send_up()
            case 5:
                ends.read_up()
            case 6:
                ends.speak(value)
            case _:
                ends.cut(value // 4)
                for _ in range(MISSED[value % len(MISSED)]):
                    ends.tell(joined=False)
                ends.come_back()
    ends.settle()
    assert ends.got == ends.told
    assert ends.carried_out == ends.asked
    assert [bytes(ends.heard[one + 1]) for one in range(len(ends.sounds))] == ends.sounds
    assert all(one.state == "committed" for one in ends.utterances.values())
