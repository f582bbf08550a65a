"""Answers over lines that delay by chance, to loudspeakers whose clocks err: what is heard of them.

The client's player at one end, a whole server with a voice of exact length at the other.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import product
from pathlib import Path

import pytest

from sayso.audio.devices.speaker import FileSpeaker
from sayso.client.session.player import Player
from sayso.protocol import messages as m
from sayso.protocol.frames import AudioFrame
from sayso.server.agent.llm.model import ChatMessage, Delta, TextDelta, ToolDefinition
from sayso.server.conversations.participant import Participant
from sayso.server.turn import events
from sayso.server.turn.effects import Send
from sayso.server.turn.events import Joined, Ticket
from tests.server.running_server import Echo, running_server
from tests.speech_doubles import TONE_RATE, ToneSynthesizer

pytestmark = pytest.mark.virtual_time(limit_s=2 * 3_600)

TRAVELS_S = 0.005
SENTENCE_S = 69 * 0.06
"""A character takes 60 ms."""


def sentence(number: int) -> str:
    """One of many, all of the same length; what a model says over and over is not spoken."""
    syllables = ["".join(pair) for pair in product("bdklmnst", "aeiou")]
    name = "".join(syllables[number // 40**place % 40] for place in range(3))
    return f"The tale of {name} is as long as all of the others, and is told now. "


class Teller(Echo):
    """A language model that has much to say."""

    def __init__(self, sentences: int) -> None:
        super().__init__()
        self._sentences = sentences

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        for number in range(self._sentences):
            yield TextDelta(sentence(number))


class Line:
    """One direction. Each piece is late by chance; order is kept, as TCP keeps it."""

    def __init__(self, jitter_s: float, seed: int) -> None:
        self._jitter_s = jitter_s
        self._chance = random.Random(seed)
        self._due = 0.0

    def carry(self, arrives: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        late_s = TRAVELS_S + self._chance.uniform(0, self._jitter_s)
        self._due = max(self._due + 1e-6, loop.time() + late_s)
        loop.call_at(self._due, arrives)


class Listener:
    """A client with a loudspeaker, far from the server."""

    name = "desk"

    def __init__(self, seat: Participant, jitter_s: float, ppm: float, seed: int) -> None:
        clock = asyncio.get_running_loop().time
        speaker = FileSpeaker(None, "real", lambda: clock() * (1 + ppm / 1e6))
        self._seat = seat
        self._player = Player(speaker, self)
        self._down, self._up = Line(jitter_s, seed), Line(jitter_s, -seed)
        self.gaps: list[float] = []
        self.most_ahead_s = 0.0
        self.samples = 0
        self.done = asyncio.Event()
        self._sent = self._played = 0
        self._frames = 0
        seat.join(Joined(self.name, play_buffer_s=0.8), self)

    async def ask(self) -> None:
        playing = asyncio.create_task(self._player.run())
        self._seat.happened(events.Typed(self.name, "tell me"))
        await self.done.wait()
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)

    # What the server sends.

    def tell(self, message: m.FromServer, ticket: Ticket) -> None:
        match message:
            case m.SpeechStart(stream=stream, rate=rate):
                self._down.carry(lambda: self._player.open(stream, rate))
            case m.SpeechStop(stream=stream, samples=samples):
                self._down.carry(lambda: self._player.finish(stream, samples))
            case _:
                pass

    def send(self, speech: Send) -> None:
        self._sent = speech.first_sample + len(speech.pcm) // 2
        self.most_ahead_s = max(self.most_ahead_s, (self._sent - self._played) / TONE_RATE)
        self._frames += 1
        frame = AudioFrame(speech.stream, self._frames, speech.first_sample, speech.pcm)
        self._down.carry(lambda: self._player.play(frame))

    # What the player tells.

    def report(self, state: m.PlayState) -> None:
        self._played = state.samples
        played = events.Played(self.name, state.stream, state.samples, state.done)
        self._up.carry(lambda: self._seat.happened(played))

    def first_played(self, stream: int) -> None:
        pass

    def finished(self, stream: int, samples: int) -> None:
        self.samples = samples
        self.done.set()

    def ran_dry(self, stream: int, seconds: float) -> None:
        self.gaps.append(seconds)


async def hear(
    folder: Path, sentences: int, *, jitter_s: float = 0.0, ppm: float = 0.0, seed: int = 1
) -> Listener:
    async with running_server(folder, model=Teller(sentences), voice=ToneSynthesizer()) as server:
        seat = await Participant.take(server.conversations, server.commands)
        listener = Listener(seat, jitter_s, ppm, seed)
        await listener.ask()
        assert listener.samples == pytest.approx(sentences * SENTENCE_S * TONE_RATE, rel=0.02)
        return listener


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_fifty_milliseconds_of_jitter_are_not_heard(tmp_path: Path, seed: int) -> None:
    listener = await hear(tmp_path, 5, jitter_s=0.05, seed=seed)
    assert listener.gaps == []
    assert listener.most_ahead_s <= 0.42


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_hundred_and_fifty_are_heard_once_at_most(tmp_path: Path, seed: int) -> None:
    listener = await hear(tmp_path, 5, jitter_s=0.15, seed=seed)
    assert len(listener.gaps) <= 1


async def test_a_good_line_carries_little_ahead(tmp_path: Path) -> None:
    listener = await hear(tmp_path, 3)
    assert listener.gaps == []
    assert listener.most_ahead_s <= 0.31


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.parametrize("ppm", [-200.0, 200.0])
async def test_an_hour_is_heard_without_a_gap_whichever_way_the_clock_errs(
    tmp_path: Path, ppm: float
) -> None:
    listener = await hear(tmp_path, round(3_600 / SENTENCE_S), ppm=ppm)
    assert listener.gaps == []
    assert listener.most_ahead_s <= 0.8
