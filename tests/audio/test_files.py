"""The microphone and the loudspeaker that are files, with an honest clock."""

import asyncio
import struct
import wave
from pathlib import Path

import pytest

from sayso.audio.devices.microphone import FileMicrophone
from sayso.audio.devices.speaker import FileSpeaker, ReopeningSpeaker, silent_speaker
from sayso.audio.errors import BadSound
from sayso.audio.pcm import FRAME_BYTES, FRAME_SAMPLES, RATE
from sayso.audio.wav import write

pytestmark = pytest.mark.virtual_time


def pcm(samples: int, value: int = 7) -> bytes:
    return struct.pack("<h", value) * samples


def written(path: Path) -> bytes:
    with wave.open(str(path)) as file:
        frames: bytes = file.readframes(10**6)
    return frames


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "q.wav"
    write(path, pcm(50 * FRAME_SAMPLES + 100), RATE)
    return path


async def test_a_file_is_spoken_in_frames_at_the_pace_of_speech(recording: Path) -> None:
    loop = asyncio.get_running_loop()
    arrivals = []
    frames = []
    async for frame in FileMicrophone(recording).frames():
        arrivals.append(loop.time())
        frames.append(frame)
    assert arrivals == pytest.approx([0.02 * (n + 1) for n in range(51)])
    assert all(isinstance(frame, bytes) and len(frame) == FRAME_BYTES for frame in frames[:-1])
    assert b"".join(f for f in frames if isinstance(f, bytes)) == pcm(50 * FRAME_SAMPLES + 100)


async def test_a_slow_listener_does_not_make_the_speech_longer(recording: Path) -> None:
    loop = asyncio.get_running_loop()
    async for _ in FileMicrophone(recording).frames():
        await asyncio.sleep(0.015)
    assert loop.time() == pytest.approx(1.02 + 0.015)


async def test_a_file_is_spoken_at_once_when_nobody_wants_to_wait(recording: Path) -> None:
    microphone = FileMicrophone(recording, "max")
    assert microphone.seconds == pytest.approx(1.00625)
    count = 0
    async for _ in microphone.frames():
        count += 1
    assert (count, asyncio.get_running_loop().time()) == (51, 0.0)


async def test_what_was_played_by_now_is_known_to_the_sample(tmp_path: Path) -> None:
    speaker = FileSpeaker(tmp_path / "a.wav")
    speaker.start(10_000)
    speaker.write(pcm(5_000))
    assert speaker.played() == 0
    await asyncio.sleep(0.1234)
    assert speaker.played() == 1_234
    await asyncio.sleep(10)
    assert speaker.played() == 5_000
    await speaker.close()


async def test_after_running_dry_the_clock_begins_with_the_next_sound(tmp_path: Path) -> None:
    speaker = FileSpeaker(tmp_path / "a.wav")
    speaker.start(10_000)
    speaker.write(pcm(1_000))
    await asyncio.sleep(5)
    speaker.write(pcm(1_000, 9))
    await asyncio.sleep(0.05)
    assert speaker.played() == 1_500
    speaker.write(pcm(1_000, 9))
    await asyncio.sleep(0.1)
    assert speaker.played() == 2_500
    await speaker.close()
    assert written(tmp_path / "a.wav") == pcm(1_000) + pcm(1_500, 9)


async def test_an_interruption_is_silent_at_once_and_the_file_holds_what_was_heard(
    tmp_path: Path,
) -> None:
    speaker = FileSpeaker(tmp_path / "a.wav")
    speaker.start(10_000)
    speaker.write(pcm(5_000))
    await asyncio.sleep(0.2)
    assert speaker.flush() == 2_000
    await asyncio.sleep(1)
    assert speaker.played() == 2_000
    speaker.write(pcm(100, 9))
    await asyncio.sleep(1)
    assert speaker.played() == 2_100
    await speaker.close()
    assert written(tmp_path / "a.wav") == pcm(2_000) + pcm(100, 9)


async def test_played_as_fast_as_possible_means_at_once(tmp_path: Path) -> None:
    speaker = FileSpeaker(tmp_path / "a.wav", "max")
    speaker.start(22_050)
    speaker.write(pcm(22_050))
    assert speaker.played() == 22_050
    await speaker.close()
    assert len(written(tmp_path / "a.wav")) == 44_100


async def test_a_silent_speaker_plays_everything_and_leaves_nothing() -> None:
    speaker = silent_speaker()
    speaker.start(22_050)
    speaker.write(pcm(500))
    assert (speaker.played(), speaker.flush()) == (500, 500)
    await speaker.close()


class FullDisk(FileSpeaker):
    """Breaks after so many samples, as a disk does that is full."""

    def __init__(self, room: int) -> None:
        super().__init__(None)
        self._room = room

    def played(self) -> int:
        if super().played() > self._room:
            raise BadSound("a.wav cannot be written: make room.")
        return super().played()


async def test_a_speaker_that_breaks_is_told_once_and_time_goes_on() -> None:
    told: list[str] = []
    speaker = ReopeningSpeaker(FullDisk(1_000), lambda error: told.append(str(error)))
    speaker.start(10_000)
    speaker.write(pcm(5_000))
    await asyncio.sleep(0.09)
    assert speaker.played() == 900
    await asyncio.sleep(0.05)
    reached = speaker.played()
    await asyncio.sleep(0.1)
    assert speaker.played() == reached + 1_000
    assert speaker.flush() == reached + 1_000
    speaker.write(pcm(100))
    await asyncio.sleep(1)
    assert speaker.played() == reached + 1_100
    await speaker.close()
    assert told == ["a.wav cannot be written: make room."]
