"""Piper itself: sound, and the time of every word in it."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest

from sayso.server.speech.engines.piper.engine import PiperEngine
from sayso.server.speech.engines.piper.synthesizer import PiperSynthesizer
from sayso.server.speech.errors import ModelBroken, ModelMissing
from sayso.server.speech.synthesis.session import Chunk, Handed, MoreSound, SpeechSynthesis
from sayso.server.speech.synthesis.voices import OneVoice


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_the_first_sound_is_a_small_part_and_has_all_words(piper: PiperEngine) -> None:
    text = "The weather will be nice today, with some clouds in the evening, and a light wind."
    first, *others = piper.stream(text)
    samples = sum(len(each.pcm) // 2 for each in (first, *others))
    assert len(first.pcm) // 2 < 0.2 * samples
    assert [word.text for word in first.words] == text.split()
    assert first.words[-1].end == samples
    assert not any(each.words for each in others)


@pytest.mark.slow
def test_the_same_seed_says_it_alike_piece_by_piece_and_whole(voice_file: Path) -> None:
    text = "One, two, three: this is said in pieces, and once more in one."
    whole = PiperEngine(voice_file, threads=2, seed=5).speak(text)
    pieces = list(PiperEngine(voice_file, threads=2, seed=5).stream(text))
    assert b"".join(each.pcm for each in pieces) == whole.pcm


def test_all_sentences_of_a_chunk_are_there_and_their_words_fill_it(piper: PiperEngine) -> None:
    sound = piper.speak("This is one. This is two! Is this three?")
    assert len(sound.words) == 9
    assert sound.words[-1].end == len(sound.pcm) // 2


def test_every_sentence_is_about_as_loud(piper: PiperEngine) -> None:
    texts = ("Okay.", "What time is it in Tokyo?", "The third got nothing but the cat.", "Stop!")
    loudness = [_loudness(piper.speak(text).pcm) for text in texts for _ in range(3)]
    assert np.std(loudness) < 2.5
    assert -24 < np.mean(loudness) < -12


def _loudness(pcm: bytes) -> float:
    """Decibels below full scale, of where it speaks."""
    samples = np.frombuffer(pcm, "<i2").astype(float) / 32_768
    frames = samples[: len(samples) // 441 * 441].reshape(-1, 441)
    power = (frames**2).mean(axis=1)
    return float(10 * np.log10(power[power > 0.01 * power.max()].mean()))


@pytest.fixture
async def synthesizer(voice_file: Path) -> AsyncIterator[PiperSynthesizer]:
    synthesizer = PiperSynthesizer(voice_file, threads=2)
    await synthesizer.start()
    yield synthesizer
    await synthesizer.close()


@pytest.mark.slow
async def test_killed_in_mid_reply_it_goes_on_speaking(synthesizer: PiperSynthesizer) -> None:
    heard: list[str] = []
    ended = asyncio.Event()

    def on_chunk(chunk: Handed) -> None:
        if isinstance(chunk, MoreSound):
            return
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


@pytest.mark.slow
async def test_what_is_given_up_makes_way_after_a_window(synthesizer: PiperSynthesizer) -> None:
    long = "The miller had three sons, a mill, and an old donkey, and when he became very old " * 12
    clock = asyncio.get_running_loop().time
    began = clock()
    async with aclosing(synthesizer.stream(long)) as sounds:
        await anext(sounds)  # before it, all of the text is encoded
    given_up = clock()
    await synthesizer.synthesize("Stop.")
    assert clock() - given_up < given_up - began


@pytest.mark.slow
async def test_who_takes_its_sound_slowly_holds_up_nobody_else(
    synthesizer: PiperSynthesizer,
) -> None:
    async with aclosing(synthesizer.stream("This one is taken slowly, word by word.")) as slow:
        await anext(slow)
        other = await synthesizer.synthesize("This one is not.")
        rest = [sound async for sound in slow]
    assert other.words
    assert rest


@pytest.mark.slow
async def test_a_second_speaker_waits_for_a_window_of_the_first_and_not_for_its_chunk(
    synthesizer: PiperSynthesizer,
) -> None:
    long = "The miller had three sons, a mill, and an old donkey, and when he became very old " * 3
    came: list[str] = []

    async def speak(who: str, text: str) -> None:
        async with aclosing(synthesizer.stream(text)) as sounds:
            async for _ in sounds:
                came.append(who)
                if came == ["first"]:
                    others.append(asyncio.create_task(speak("second", "It is Friday.")))

    others: list[asyncio.Task[None]] = []
    await speak("first", long)
    await asyncio.gather(*others)
    assert came.index("second") < 6
    assert came.count("first") > 12


@pytest.mark.slow
async def test_killed_between_windows_it_goes_on_with_the_word_it_was_at(
    synthesizer: PiperSynthesizer,
) -> None:
    handed: list[Handed] = []
    ended = asyncio.Event()
    text = "When he became very old, he gave the mill to the first son of the three that he had."

    def take(each: Handed) -> None:
        handed.append(each)
        if isinstance(each, Chunk) and synthesizer.pid is not None:
            os.kill(synthesizer.pid, signal.SIGKILL)
        if not isinstance(each, Chunk | MoreSound):
            ended.set()

    saying = SpeechSynthesis(OneVoice(synthesizer)).speak(take)
    saying.say(text)
    saying.finish()
    await ended.wait()
    [chunk] = [each for each in handed if isinstance(each, Chunk)]
    rest = [each.pcm for each in handed if isinstance(each, MoreSound)]
    made = len(chunk.sound.pcm + b"".join(rest)) // 2
    assert handed[-1] is None
    assert made / chunk.samples == pytest.approx(1.0, abs=0.4)


async def test_a_voice_that_can_not_be_cut_speaks_whole(tmp_path: Path, voice_file: Path) -> None:
    model = onnx.load(str(voice_file))
    last = model.graph.node[-1]  # what it does with samples that lie beside each other nobody knows
    mixed = onnx.helper.make_node("Dropout", [last.input[0]], ["mixed"])
    last.input[0] = "mixed"
    model.graph.node.insert(len(model.graph.node) - 1, mixed)
    onnx.save(model, str(tmp_path / "voice.onnx"))
    shutil.copy(f"{voice_file}.json", tmp_path / "voice.onnx.json")
    whole = PiperEngine(tmp_path / "voice.onnx", threads=1, seed=0, parts=tmp_path / "parts")
    [sound] = whole.stream("Open the window, please.")
    assert [word.text for word in sound.words] == ["Open", "the", "window,", "please."]


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
