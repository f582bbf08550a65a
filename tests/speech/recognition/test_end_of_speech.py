"""The end of an utterance that no key ends, with scripted voices and with real ones."""

import asyncio
from collections.abc import Iterable
from typing import Literal

import pytest

from sayso.audio.errors import NotInstalled
from sayso.audio.voice_gate import VoiceGate
from sayso.server.speech.recognition.end_of_speech import FRAME_SAMPLES, EndOfSpeech, Gate
from sayso.server.speech.recognition.endpointing import AdaptiveSilence
from tests.speech.sounds import fan, keyboard, white_noise

pytestmark = pytest.mark.virtual_time

FRAME = b"\1\0" * FRAME_SAMPLES
SECOND = 50
"""Frames."""


class Script:
    """A gate that hears a voice in the frames that it is told."""

    def __init__(self, *spans: range) -> None:
        self._voiced = {frame for span in spans for frame in span}
        self._at = 0

    def hears(self, frame: bytes) -> bool:
        assert len(frame) == len(FRAME)
        self._at += 1
        return self._at - 1 in self._voiced


class Heard:
    """Takes what is told."""

    def __init__(self, gate: Gate | None = None, *, patience_ms: int = 3_000) -> None:
        self.began: list[int] = []
        self.over: list[Literal["ended", "timeout"]] = []
        self.ended = asyncio.Event()
        self.understood_until: int | None = None
        judge = AdaptiveSilence(patience_ms=patience_ms)
        self.ending = EndOfSpeech(
            lambda: gate or VoiceGate(),
            judge,
            self.began.append,
            self._end,
            lambda: self.understood_until,
        )

    def _end(self, reason: Literal["ended", "timeout"]) -> None:
        self.over.append(reason)
        self.ended.set()

    async def feed(self, pieces: Iterable[bytes]) -> None:
        for piece in pieces:
            self.ending.feed(piece)
            await asyncio.sleep(0)

    async def wait(self) -> None:
        async with asyncio.timeout(20):
            await self.ended.wait()


async def test_a_voice_and_the_silence_after_it_are_told_once_each() -> None:
    heard = Heard(Script(range(25, 75)))
    await heard.feed([FRAME] * 4 * SECOND)
    await heard.wait()
    assert heard.began == [25 * FRAME_SAMPLES]
    assert heard.over == ["ended"]


async def test_sound_may_come_in_one_burst_or_in_odd_pieces() -> None:
    sound = FRAME * 4 * SECOND
    for size in (len(sound), 641, 7):
        heard = Heard(Script(range(25, 75)))
        await heard.feed(sound[at : at + size] for at in range(0, len(sound), size))
        await heard.wait()
        assert (heard.began, heard.over) == ([25 * FRAME_SAMPLES], ["ended"])


async def test_nobody_who_speaks_is_waited_for_as_long_as_was_asked() -> None:
    heard = Heard(Script(), patience_ms=1_000)
    await heard.feed([FRAME] * (SECOND - 1))
    await asyncio.sleep(0.1)
    assert not heard.over
    await heard.feed([FRAME])
    await heard.wait()
    assert heard.over == ["timeout"]
    assert not heard.began


async def test_words_that_are_not_finished_are_waited_for_longer() -> None:
    heard = Heard(Script(range(25, 75)))
    heard.ending.understood("what is the weather in")
    await heard.feed([FRAME] * (75 + 44))
    await asyncio.sleep(0.1)
    assert not heard.over
    await heard.feed([FRAME] * 2)
    await heard.wait()
    assert heard.over == ["ended"]


async def test_words_count_once_they_reach_up_to_the_latest_voice() -> None:
    heard = Heard(Script(range(75)))
    heard.ending.understood("Remind me.")
    heard.understood_until = 75 * FRAME_SAMPLES - 1
    await heard.feed([FRAME] * (75 + 2 * SECOND))
    await asyncio.sleep(0.1)
    assert not heard.over
    heard.understood_until = 75 * FRAME_SAMPLES
    await heard.feed([FRAME])
    await heard.wait()
    assert heard.over == ["ended"]


async def test_a_cough_is_no_end_once_it_is_known_to_hold_no_word() -> None:
    heard = Heard(Script(range(25, 40), range(125, 175)))
    await heard.feed([FRAME] * 50)
    heard.ending.understood("")
    await heard.feed([FRAME] * 75)
    await asyncio.sleep(0.1)
    assert not heard.over
    heard.ending.understood(None)
    await heard.feed([FRAME] * 100)
    await heard.wait()
    assert heard.began == [25 * FRAME_SAMPLES, 125 * FRAME_SAMPLES]
    assert heard.over == ["ended"]


async def test_nothing_is_told_once_nobody_wants_to_know() -> None:
    heard = Heard(Script(range(25, 75)))
    heard.ending.feed(FRAME * 4 * SECOND)
    heard.ending.stop()
    heard.ending.feed(FRAME * 4 * SECOND)
    await asyncio.sleep(0.2)
    assert not heard.began
    assert not heard.over


async def test_a_machine_without_a_voice_detector_hears_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def none_here() -> Gate:
        raise NotInstalled("Listening without a key needs a package.")

    heard = Heard()
    heard.ending = EndOfSpeech(none_here, AdaptiveSilence(), heard.began.append, heard.over.append)
    heard.ending.feed(FRAME * SECOND)
    await asyncio.sleep(0.1)
    assert "needs a package" in caplog.text
    assert not heard.over


@pytest.mark.parametrize("noise", [white_noise(3.0, 0.05), fan(3.0), keyboard(3.0)])
async def test_steady_noise_does_not_hold_the_microphone_open(noise: bytes) -> None:
    heard = Heard(patience_ms=2_000)
    heard.ending.feed(noise)
    await heard.wait()
    assert heard.over == ["timeout"]
