"""Whisper transcribes fast and whole, and gives no text when nobody speaks."""

import asyncio
import os
import shutil
import signal
import statistics
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import numpy as np
import pytest
from faster_whisper import WhisperModel

from sayso.server.speech.engines.piper.engine import PiperEngine
from sayso.server.speech.engines.whisper.engine import WhisperEngine
from sayso.server.speech.engines.whisper.recognizer import WhisperRecognizer
from sayso.server.speech.errors import ModelBroken, ModelMissing
from sayso.server.speech.recognition.hallucinations import plain
from sayso.server.speech.recognition.loudness import Samples, from_pcm
from sayso.server.speech.recognition.recognizer import HEARING_RATE, RecognizerLost
from sayso.server.speech.recognition.session import SpeechRecognition
from sayso.server.speech.workers.worker import GivenUp
from tests.speech import sounds
from tests.speech.spoken_recordings import spoken

COMMANDS = (
    "What is the weather like today?",
    "Please open the window in the kitchen, and then close the door.",
    "Set a timer for ten minutes.",
    "Show me all the files that are larger than a hundred megabytes.",
    "Stop the music.",
)


def errors(said: str, heard: str) -> int:
    """How many words differ, added or lost words included."""
    ours, theirs = plain(said).split(), plain(heard).split()
    row = list(range(len(theirs) + 1))
    for at, word in enumerate(ours, 1):
        before, row[0] = row[0], at
        for other, their in enumerate(theirs, 1):
            change = before + (word != their)
            before, row[other] = row[other], min(row[other] + 1, row[other - 1] + 1, change)
    return row[-1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["final", "draft"])
def test_commands_are_understood(whisper: WhisperEngine, piper: PiperEngine, kind: str) -> None:
    wrong = sum(
        errors(
            command.replace("ten", "10").replace("a hundred", "100"),
            whisper.transcribe(spoken(piper, command), draft=kind == "draft")
            .text.replace(" ten ", " 10 ")
            .replace("a hundred", "100"),
        )
        for command in COMMANDS
    )
    assert wrong <= 0.15 * sum(len(command.split()) for command in COMMANDS)


@pytest.mark.slow
def test_it_takes_well_under_what_faster_whisper_takes(
    whisper: WhisperEngine, whisper_model: Path, piper: PiperEngine
) -> None:
    plain_whisper = WhisperModel(str(whisper_model), "cpu", compute_type="int8", cpu_threads=2)
    audio = [spoken(piper, command) for command in (COMMANDS[1], COMMANDS[3])]

    def measure(run: Callable[[Samples], object]) -> float:
        times = []
        for samples in audio * 3:
            began = time.process_time()  # of all threads: a busy machine does not change it much
            run(samples)
            times.append(time.process_time() - began)
        return statistics.median(times)

    ours = measure(whisper.transcribe)
    theirs = measure(lambda samples: list(plain_whisper.transcribe(samples, beam_size=1)[0]))
    assert ours < 0.65 * theirs


@pytest.mark.parametrize(
    "noise",
    [
        b"",
        b"\x01\x00" * 100,
        sounds.silence(0.05),
        sounds.silence(3.0),
        sounds.voice(0.05),
        sounds.white_noise(2.0, 0.001),
        sounds.white_noise(5.0, 0.05),
        sounds.white_noise(12.0, 0.1),
        sounds.fan(4.0),
        sounds.fan(12.0, 0.3),
        sounds.keyboard(4.0),
        sounds.keyboard(12.0),
        sounds.keyboard(25.0),
        sounds.music(3.0),
        sounds.music(12.0),
    ],
    ids=lambda noise: f"{len(noise)} bytes",
)
def test_where_nobody_speaks_nothing_is_heard(whisper: WhisperEngine, noise: bytes) -> None:
    assert whisper.transcribe(from_pcm(noise)).text == ""


def test_a_real_thank_you_is_heard(whisper: WhisperEngine, piper: PiperEngine) -> None:
    heard = whisper.transcribe(spoken(piper, "Thank you."))
    assert plain(heard.text) == "thank you"


def test_what_is_said_after_a_long_pause_is_heard(
    whisper: WhisperEngine, piper: PiperEngine
) -> None:
    pause = np.zeros(10 * HEARING_RATE, dtype=np.float32)
    both = [spoken(piper, COMMANDS[0]), pause, spoken(piper, COMMANDS[1])]
    heard = plain(whisper.transcribe(np.concatenate(both)).text)
    assert "weather" in heard
    assert "kitchen" in heard


@pytest.mark.slow
def test_a_monologue_is_whole_and_nothing_is_doubled(
    whisper: WhisperEngine, piper: PiperEngine
) -> None:
    things = ["window", "garden", "mother", "summer", "village", "morning"]
    things += ["doctor", "market", "river", "kitchen", "winter", "school"]
    sentences = [f"On day {n} we talked about the {thing}." for n, thing in enumerate(things, 1)]
    breath = np.zeros(HEARING_RATE * 2, dtype=np.float32)
    parts = [part for sentence in sentences for part in (spoken(piper, sentence), breath)]
    whole = np.concatenate(parts)
    assert len(whole) > 45 * HEARING_RATE
    heard = plain(whisper.transcribe(whole).text).split()
    found = [word for word in heard if word in things]
    # What piper says differs a little each time: one word may be heard as another one.
    assert found == [thing for thing in things if thing in found]
    assert len(found) >= len(things) - 1


def test_work_that_nobody_wants_any_more_is_given_up(
    whisper: WhisperEngine, piper: PiperEngine
) -> None:
    with pytest.raises(GivenUp):
        whisper.transcribe(spoken(piper, COMMANDS[4]), wanted=lambda: False)


@pytest.fixture
async def recognizer(whisper_model: Path) -> AsyncIterator[WhisperRecognizer]:
    recognizer = WhisperRecognizer(whisper_model, threads=2)
    await recognizer.start()
    yield recognizer
    await recognizer.close()


@pytest.mark.slow
async def test_killed_under_a_request_it_comes_back_and_nothing_is_lost(
    recognizer: WhisperRecognizer, piper: PiperEngine
) -> None:
    audio = sounds.pcm(spoken(piper, COMMANDS[1]))
    hearing = SpeechRecognition(recognizer).listen(lambda _: None)
    hearing.feed(audio)  # a draft is on its way
    assert recognizer.pid is not None
    os.kill(recognizer.pid, signal.SIGKILL)
    heard = await hearing.finish()
    assert "kitchen" in heard.text
    assert not recognizer.trouble


async def test_whoever_asks_the_recognizer_itself_is_told_that_it_died(
    recognizer: WhisperRecognizer,
) -> None:
    assert recognizer.pid is not None
    os.kill(recognizer.pid, signal.SIGSTOP)  # so that it can't answer first
    asking = asyncio.create_task(recognizer.transcribe(sounds.voice(1.0)))
    await asyncio.sleep(0)
    os.kill(recognizer.pid, signal.SIGKILL)
    with pytest.raises(RecognizerLost):
        await asking


async def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    recognizer = WhisperRecognizer(tmp_path / "nowhere")
    with pytest.raises(ModelMissing, match="sayso models"):
        await recognizer.start()
    assert "sayso models" in recognizer.trouble
    await recognizer.close()


async def test_damaged_weights_are_told(tmp_path: Path, whisper_model: Path) -> None:
    shutil.copytree(whisper_model, tmp_path / "model")
    (tmp_path / "model/model.bin").write_bytes(b"not a model" * 1000)
    recognizer = WhisperRecognizer(tmp_path / "model")
    with pytest.raises(ModelBroken, match="Fetch it again"):
        await recognizer.start()
    await recognizer.close()
