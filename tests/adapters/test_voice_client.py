"""A client that listens and speaks by another protocol, as the conversation sees it."""

import asyncio
from typing import Any, cast

import pytest

from sayso.protocol.messages import FromServer, SpeechStart, SpeechStop
from sayso.server.adapters.playback_clock import PlaybackClock
from sayso.server.adapters.voice_client import VoiceClient
from sayso.server.gateway.host import Conversation, Outlet
from sayso.server.trust.principal import Principal
from sayso.server.turn.effects import Send
from sayso.server.turn.events import (
    AudioHeard,
    Event,
    Interrupted,
    Joined,
    ListenCancelled,
    ListenStarted,
    ListenStopped,
    Played,
    Ticket,
)

RATE = 24_000
WHO = Principal("key", "", frozenset({"talk"}), "A program")

pytestmark = pytest.mark.virtual_time


class Place:
    """A conversation that notes what happens in it."""

    id = "one"

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.here: dict[str, Joined] = {}

    def join(self, device: Joined, outlet: Outlet) -> None:
        self.here[device.device] = device

    def leave(self, device: str) -> None:
        del self.here[device]

    def happened(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


class Rig:
    def __init__(self) -> None:
        self.place = Place()
        self.told: list[FromServer] = []
        self.sound = b""
        self.client = VoiceClient(
            cast(Conversation, self.place),
            WHO,
            "A program",
            lambda message, _: self.told.append(message),
            self.take,
            hears_at=RATE,
            speaks_at=RATE,
        )
        self.client.join()

    def plays(self) -> bool:
        return self.client.plays

    def take(self, pcm: bytes) -> None:
        self.sound += pcm

    def speak(self, seconds: float, *, first: int = 0, stream: int = 3) -> None:
        if first == 0:
            self.client.tell(SpeechStart(stream, RATE, "Words."), Ticket(1, 0))
        pcm = bytes(int(seconds * RATE) * 2)
        self.client.send(Send("A program", stream, first, pcm, last=False))

    def stop(self, samples: int) -> None:
        self.client.tell(SpeechStop(3, "done", samples), Ticket(1, 0))


def test_a_clock_plays_what_is_there_and_stands_still_where_nothing_is() -> None:
    clock = PlaybackClock(1_000)
    clock.sent(500, now=10.0)
    assert clock.played(10.2) == 200
    assert clock.played(12.0) == 500
    assert clock.is_done
    clock.sent(100, now=13.0)
    assert (clock.played(13.05), clock.is_done) == (550, False)


async def test_it_joins_with_the_rights_of_its_key_and_asks_for_sound_at_its_rate() -> None:
    rig = Rig()
    joined = rig.place.here["A program"]
    assert (joined.speaks, joined.rates, joined.may_approve) == (True, (RATE,), False)
    rig.client.leave()
    rig.client.leave()
    assert list(rig.place.here) == []


async def test_what_is_said_arrives_at_16_khz_in_order_and_whole() -> None:
    rig = Rig()
    rig.client.listen("ptt", "")
    for _ in range(10):
        rig.client.hear(bytes(RATE // 10 * 2))
    rig.client.listened()
    (started,), (stopped,) = rig.place.of(ListenStarted), rig.place.of(ListenStopped)
    pieces = rig.place.of(AudioHeard)
    assert (started.mode, started.question) == ("ptt", "")
    at = 0
    for piece in pieces:
        assert (piece.stream, piece.first_sample) == (started.stream, at)
        at += len(piece.pcm) // 2
    assert stopped.samples == at
    assert abs(at - 16_000) < 200


async def test_what_is_forgotten_is_cancelled_once_and_later_sound_belongs_to_nothing() -> None:
    rig = Rig()
    rig.client.listen("hands_free")
    rig.client.unheard()
    rig.client.unheard()
    rig.client.hear(bytes(4_800))
    assert len(rig.place.of(ListenCancelled)) == 1
    assert not rig.place.of(AudioHeard)


async def test_the_clock_reports_how_far_it_plays_until_all_was_played() -> None:
    rig = Rig()
    rig.speak(0.3)
    await asyncio.sleep(0.2)
    assert rig.plays()
    assert 0.1 * RATE < rig.place.of(Played)[-1].samples <= 0.2 * RATE
    rig.speak(0.3, first=7_200)
    rig.stop(14_400)
    await asyncio.sleep(1.0)
    last = rig.place.of(Played)[-1]
    assert (last.stream, last.samples, last.done) == (3, 14_400, True)
    assert not rig.plays()
    count = len(rig.place.events)
    await asyncio.sleep(5.0)
    assert len(rig.place.events) == count
    assert len(rig.sound) == 14_400 * 2


async def test_an_interruption_counts_as_the_client_says_or_as_the_clock_does() -> None:
    rig = Rig()
    rig.speak(1.0)
    await asyncio.sleep(0.5)
    rig.client.interrupt(0.25)
    rig.speak(1.0, stream=4)
    await asyncio.sleep(0.5)
    rig.client.interrupt()
    exact, guessed = rig.place.of(Interrupted)
    assert (exact.stream, exact.heard_samples) == (3, 6_000)
    assert (guessed.stream, guessed.heard_samples) == (4, 12_000)
    count = len(rig.place.events)
    await asyncio.sleep(1.0)
    assert len(rig.place.events) == count
