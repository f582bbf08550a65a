"""Piper itself: sound, and the time of every word in it."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from sayso.server.speech.engines.piper.engine import PiperEngine
from sayso.server.speech.engines.piper.synthesizer import PiperSynthesizer
from sayso.server.speech.errors import ModelBroken, ModelMissing
from sayso.server.speech.synthesis.session import Chunk, Handed, SpeechSynthesis
from sayso.server.speech.synthesis.voices import OneVoice


@pytest.mark.parametrize(
    "text",
    [
        "Hello.",
        "Open the window, please, and tell me what twenty-five times three is.",
        "One of the best. It is from the NASA website, i.e. the third of May!",
        "a.m. p.m. I.O, A.I?",
        "Stop \u2014 don't!",
        "The quick brown fox jumps over the lazy dog of one of the men in the house by the sea.",
    ],
)
def test_every_word_has_its_time_and_the_times_fill_the_sound(
    piper: PiperEngine, text: str
) -> None:
    sound = piper.speak(text)
    assert [word.text for word in sound.words] == text.split()
    assert sound.words[0].start == 0
    assert sound.words[-1].end == len(sound.pcm) // 2
    assert all(word.end == after.start for word, after in pairwise(sound.words))


def test_speech_begins_at_once(piper: PiperEngine) -> None:
    for _ in range(4):  # piper's pauses are drawn at random
        sound = piper.speak("Open the window, please.")
        samples = np.abs(np.frombuffer(sound.pcm, "<i2").astype(np.int32))
        assert np.flatnonzero(samples > 300)[0] < 0.12 * sound.rate
        assert sound.words[-1].end == len(sound.pcm) // 2


def test_longer_words_take_longer(piper: PiperEngine) -> None:
    words = piper.speak("I particularly like extraordinary tea.").words
    length = {word.text: word.end - word.start for word in words}
    assert length["extraordinary"] > 2 * length["like"]
    assert length["particularly"] > length["I"]


def test_twice_the_speed_takes_about_half_the_time(piper: PiperEngine) -> None:
    text = "Please count the seconds that it takes to say all of this without a pause."
    slow = sum(len(piper.speak(text).pcm) for _ in range(3))  # piper draws lengths at random
    fast = sum(len(piper.speak(text, speed=2.0).pcm) for _ in range(3))
    assert 0.43 < fast / slow < 0.57


@pytest.mark.parametrize("text", ["", " ", "...", "- \u2014"])
def test_what_has_no_sound_makes_none(piper: PiperEngine, text: str) -> None:
    sound = piper.speak(text)
    assert sound.words == () or len(sound.words) == len(text.split())
    assert len(sound.pcm) < sound.rate  # not half a second


def test_from_the_same_seed_it_says_all_in_the_same_way_again(voice_file: Path) -> None:
    def takes(seed: int) -> list[bytes]:
        piper = PiperEngine(voice_file, threads=2, seed=seed)
        return [piper.speak("Ready when you are.").pcm for _ in range(2)]

    first, second = takes(1)
    assert first != second
    assert takes(1) == [first, second]
    assert takes(2)[0] != first


def test_brackets_do_not_make_it_read_raw_phonemes(piper: PiperEngine) -> None:
    assert len(piper.speak("a [[list]] of lists").words) == 4


@pytest.fixture
async def synthesizer(voice_file: Path) -> AsyncIterator[PiperSynthesizer]:
    synthesizer = PiperSynthesizer(voice_file, threads=2)
    await synthesizer.start()
    yield synthesizer
    await synthesizer.close()


async def test_killed_in_mid_reply_it_goes_on_speaking(synthesizer: PiperSynthesizer) -> None:
    heard: list[str] = []
    ended = asyncio.Event()

    def on_chunk(chunk: Handed) -> None:
        if not isinstance(chunk, Chunk):
            ended.set()
            return
        heard.append(chunk.text)
        if len(heard) == 1 and synthesizer.pid is not None:
            os.kill(synthesizer.pid, signal.SIGKILL)

    saying = SpeechSynthesis(OneVoice(synthesizer)).speak(on_chunk)
    saying.say("This is said first. This is said after it died. And this at last.")
    saying.finish()
    await ended.wait()
    assert heard == ["This is said first.", "This is said after it died.", "And this at last."]


async def test_a_voice_that_does_not_exist_is_told(tmp_path: Path) -> None:
    synthesizer = PiperSynthesizer(tmp_path / "nobody.onnx")
    with pytest.raises(ModelMissing, match="sayso models"):
        await synthesizer.start()
    await synthesizer.close()


@pytest.mark.parametrize("damaged", ["voice.onnx", "voice.onnx.json"])
async def test_a_damaged_voice_is_told(tmp_path: Path, voice_file: Path, damaged: str) -> None:
    shutil.copy(voice_file, tmp_path / "voice.onnx")
    shutil.copy(f"{voice_file}.json", tmp_path / "voice.onnx.json")
    (tmp_path / damaged).write_bytes(b"\x00not a voice" * 100)
    synthesizer = PiperSynthesizer(tmp_path / "voice.onnx")
    with pytest.raises(ModelBroken, match="Fetch it again"):
        await synthesizer.start()
    await synthesizer.close()
