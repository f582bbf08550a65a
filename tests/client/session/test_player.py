"""The answer reaches the loudspeaker: without gaps, with true positions, silent when told."""

import asyncio
import random
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest

from sayso.audio.devices.speaker import FileSpeaker
from sayso.audio.earcons import earcon
from sayso.audio.pcm import silence
from sayso.client.session.player import PLAY_BUFFER_MS, PLAY_BUFFER_SLACK_MS, Heard, Player
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import PlayState

pytestmark = pytest.mark.virtual_time

RATE = 10_000
FRAME = RATE // 50


def now() -> float:
    return asyncio.get_running_loop().time()


class Notes:
    """Writes down what the player tells, and when."""

    def __init__(self) -> None:
        self.states: list[tuple[float, PlayState]] = []
        self.first: list[tuple[float, int]] = []
        self.ended: list[tuple[int, int]] = []
        self.gaps: list[float] = []

    def report(self, state: PlayState) -> None:
        self.states.append((now(), state))

    def first_played(self, stream: int) -> None:
        self.first.append((now(), stream))

    def finished(self, stream: int, samples: int) -> None:
        self.ended.append((stream, samples))

    def ran_dry(self, stream: int, seconds: float) -> None:
        self.gaps.append(seconds)


class Stage:
    def __init__(self, path: Path | None = None) -> None:
        self.notes = Notes()
        self.speaker = FileSpeaker(path)
        self.player = Player(self.speaker, self.notes)

    def send(self, stream: int, count: int, first: int = 0, *, last: bool = False) -> None:
        """Frames of 20 ms, `count` of them, from frame number `first` on."""
        for number in range(first, first + count):
            final = last and number == first + count - 1
            frame = AudioFrame(stream, number, number * FRAME, silence(FRAME), final)
            self.player.play(frame)

    @property
    def last_state(self) -> PlayState:
        return self.notes.states[-1][1]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    task = asyncio.create_task(stage.player.run())
    yield stage
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await stage.speaker.close()


async def test_a_stream_is_played_to_its_end_and_that_is_told_once(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 25, last=True)
    stage.player.finish(1, 25 * FRAME)
    await asyncio.sleep(2)
    assert stage.last_state == PlayState(1, 25 * FRAME, done=True)
    assert [state.done for _, state in stage.notes.states].count(True) == 1
    assert stage.notes.ended == [(1, 25 * FRAME)]
    assert stage.notes.gaps == []
    assert stage.player.idle


async def test_positions_are_true_and_come_at_least_every_100_ms(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 40, last=True)
    stage.player.finish(1, 40 * FRAME)
    await asyncio.sleep(2)
    playing = [(at, state.samples) for at, state in stage.notes.states]
    assert max(b - a for (a, _), (b, _) in pairwise(playing)) <= 0.1
    for at, samples in playing[:-1]:
        assert samples == pytest.approx(at * RATE, abs=1)


async def test_playing_starts_when_enough_is_there_for_jitter(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 2)
    await asyncio.sleep(0.01)
    stage.send(1, 1, 2)
    await asyncio.sleep(0.05)
    assert stage.notes.first[0][0] == pytest.approx(0.01 + 0.02, abs=0.02)


async def test_playing_starts_within_60_ms_even_if_little_arrives(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 1)
    await asyncio.sleep(0.2)
    assert stage.notes.first[0][0] <= 0.0801
    assert stage.speaker.played() == FRAME


async def test_50_ms_of_jitter_are_not_heard(stage: Stage) -> None:
    jitter = random.Random(7)
    stage.player.open(1, RATE)
    began = now()
    arrivals = sorted(began + n * 0.02 + jitter.uniform(0, 0.05) for n in range(150))
    for number, arrival in enumerate(arrivals):
        await asyncio.sleep(max(0.0, arrival - now()))
        stage.send(1, 1, number, last=number == 149)
    await asyncio.sleep(1)
    assert stage.notes.gaps == []
    assert stage.notes.ended == [(1, 150 * FRAME)]


async def test_a_gap_in_the_line_is_noticed_and_playing_goes_on(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 5)
    await asyncio.sleep(1)
    assert stage.last_state == PlayState(1, 5 * FRAME)
    stage.send(1, 5, 5, last=True)
    await asyncio.sleep(1)
    assert stage.notes.gaps == [pytest.approx(0.9, abs=0.02)]
    assert stage.last_state == PlayState(1, 10 * FRAME, done=True)


async def test_silence_is_at_once_and_exact_and_nothing_more_is_reported(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "a.wav")
    task = asyncio.create_task(stage.player.run())
    stage.player.open(1, RATE)
    stage.send(1, 15)
    await asyncio.sleep(0.1234)
    assert stage.player.hush() == Heard(1, 1_234)
    told = len(stage.notes.states)
    stage.send(1, 5, 15)
    await asyncio.sleep(1)
    assert len(stage.notes.states) == told
    assert stage.player.idle
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await stage.speaker.close()
    assert (tmp_path / "a.wav").stat().st_size == 44 + 2 * 1_234


async def test_hush_when_nothing_plays_is_nothing(stage: Stage) -> None:
    assert stage.player.hush() == Heard(None, 0)


async def test_the_next_stream_counts_from_its_own_beginning(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 15)
    await asyncio.sleep(0.1)
    stage.player.hush()
    stage.player.open(2, RATE)
    stage.send(2, 10, last=True)
    await asyncio.sleep(0.05)
    assert stage.player.hush().samples == pytest.approx(0.05 * RATE, abs=1)


async def test_streams_follow_one_another_also_at_another_rate(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 10, last=True)
    stage.player.open(2, 2 * RATE)
    stage.send(2, 10, last=True)
    await asyncio.sleep(1)
    assert stage.notes.ended == [(1, 10 * FRAME), (2, 10 * FRAME)]
    assert stage.notes.first[1][0] == pytest.approx(0.2, abs=0.03)


async def test_a_stream_that_waits_can_be_dropped_without_a_sound(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 10, last=True)
    stage.player.open(2, RATE)
    stage.send(2, 10, last=True)
    stage.player.drop(2)
    await asyncio.sleep(1)
    assert stage.notes.ended == [(2, 0), (1, 10 * FRAME)]


async def test_sound_of_no_open_stream_is_not_played(stage: Stage) -> None:
    stage.send(9, 10)
    await asyncio.sleep(1)
    assert stage.notes.first == []


async def test_frames_that_come_twice_are_heard_once(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 10)
    stage.send(1, 10)
    stage.player.finish(1, 10 * FRAME)
    await asyncio.sleep(1)
    assert stage.notes.ended == [(1, 10 * FRAME)]


async def test_a_small_hole_is_silence_so_that_positions_stay_true(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 5)
    stage.send(1, 5, 7, last=True)
    await asyncio.sleep(1)
    assert stage.notes.ended == [(1, 12 * FRAME)]


async def test_the_declared_buffer_bounds_what_is_held(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 500)
    await asyncio.sleep(60)
    bound = (PLAY_BUFFER_MS + PLAY_BUFFER_SLACK_MS) * RATE // 1000
    assert bound <= stage.speaker.played() <= bound + 2 * FRAME


async def test_a_stop_that_overtakes_the_last_sound_waits_for_it(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 5)
    stage.player.finish(1, 10 * FRAME)
    await asyncio.sleep(0.09)
    stage.send(1, 5, 5)
    await asyncio.sleep(1)
    assert stage.notes.ended == [(1, 10 * FRAME)]


async def test_promised_sound_that_never_comes_does_not_hold_the_turn(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.send(1, 5)
    stage.player.finish(1, 10 * FRAME)
    await asyncio.sleep(2)
    assert stage.notes.ended == [(1, 5 * FRAME)]


async def test_an_empty_stream_is_over_at_once(stage: Stage) -> None:
    stage.player.open(1, RATE)
    stage.player.finish(1, 0)
    assert stage.notes.ended == [(1, 0)]


async def test_an_earcon_sounds_only_when_nothing_is_said(stage: Stage) -> None:
    stage.player.chime(lambda rate: earcon("error", rate), RATE)
    await asyncio.sleep(1)
    chimed = stage.speaker.played()
    assert chimed > 0
    stage.player.open(1, RATE)
    stage.player.chime(lambda rate: earcon("error", rate), RATE)
    stage.send(1, 10, last=True)
    await asyncio.sleep(1)
    assert stage.notes.ended == [(1, 10 * FRAME)]
    assert stage.speaker.played() == chimed + 10 * FRAME
