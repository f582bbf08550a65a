"""A chunk is announced whole with its first sound, and the rest of it follows as it is made."""

import asyncio
from collections.abc import AsyncGenerator

import numpy as np
import pytest

from sayso.server.speech.synthesis.session import (
    Chunk,
    Handed,
    MoreSound,
    SpeakingStyle,
    SpeechSynthesis,
    SynthesisFailed,
)
from sayso.server.speech.synthesis.synthesizer import Sound, SynthesizerLost
from sayso.server.speech.synthesis.voices import OneVoice
from tests.speech_doubles import TONE_RATE, StreamingTone

pytestmark = pytest.mark.virtual_time

TEXT = "The sea is deep and very cold today, they say."


class Listener:
    """Keeps what it is handed, and when."""

    def __init__(self) -> None:
        self.handed: list[tuple[float, Handed]] = []
        self.ended = asyncio.Event()
        self.remarks: list[str] = []

    def __call__(self, handed: Handed) -> None:
        self.handed.append((asyncio.get_running_loop().time(), handed))
        if not isinstance(handed, Chunk | MoreSound):
            self.ended.set()

    @property
    def chunks(self) -> list[Chunk]:
        return [each for _, each in self.handed if isinstance(each, Chunk)]

    @property
    def pcm(self) -> bytes:
        parts = [
            each.sound.pcm if isinstance(each, Chunk) else each.pcm
            for _, each in self.handed
            if isinstance(each, Chunk | MoreSound)
        ]
        return b"".join(parts)

    @property
    def more(self) -> list[bool]:
        return [each.more for _, each in self.handed if isinstance(each, Chunk | MoreSound)]


async def say(
    mouth: SpeechSynthesis, text: str = TEXT, style: SpeakingStyle | None = None
) -> Listener:
    listener = Listener()
    saying = mouth.speak(listener, style, listener.remarks.append)
    saying.say(text)
    saying.finish()
    await listener.ended.wait()
    return listener


def mouth_of(voice: StreamingTone) -> SpeechSynthesis:
    return SpeechSynthesis(OneVoice(voice))


async def test_the_first_sound_is_there_as_soon_as_it_is_made() -> None:
    listener = await say(mouth_of(StreamingTone(takes=0.03)))
    assert listener.handed[0][0] == 0.03
    assert listener.handed[1][0] == 0.06


async def test_all_words_are_told_with_the_first_sound_and_fill_all_of_it() -> None:
    listener = await say(mouth_of(StreamingTone()))
    [chunk] = listener.chunks
    assert [word.text for word in chunk.sound.words] == TEXT.split()
    assert chunk.sound.words[-1].end == chunk.samples == len(listener.pcm) // 2
    assert len(chunk.sound.pcm) < len(listener.pcm)


async def test_the_last_of_its_sound_is_told_to_be_the_last() -> None:
    listener = await say(mouth_of(StreamingTone()))
    assert listener.more == [True] * (len(listener.more) - 1) + [False]


async def test_the_sound_is_the_one_that_is_made_whole() -> None:
    whole = await StreamingTone().synthesize(TEXT)
    assert (await say(mouth_of(StreamingTone()))).pcm == whole.pcm


@pytest.mark.parametrize("rate", [16_000, 24_000, 48_000])
async def test_another_rate_has_no_seams_and_the_announced_length(rate: int) -> None:
    listener = await say(mouth_of(StreamingTone()), style=SpeakingStyle(rates=(rate,)))
    [chunk] = listener.chunks
    sound = np.frombuffer(listener.pcm, "<i2").astype(float)
    assert len(sound) == chunk.samples == chunk.sound.words[-1].end
    assert len(sound) == round(
        rate / TONE_RATE * len((await StreamingTone().synthesize(TEXT)).pcm) / 2
    )
    middle = sound[rate // 10 : -rate // 10]  # a pure tone: what is not it was made by seams
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle)))) ** 2
    peak = int(spectrum.argmax())
    assert 10 * np.log10(spectrum[peak - 9 : peak + 10].sum() / spectrum.sum()) > -0.001


async def test_what_was_said_before_is_said_at_once() -> None:
    voice = StreamingTone()
    mouth = mouth_of(voice)
    first = await say(mouth, "Okay, one moment.")
    made = voice.pieces
    again = await say(mouth, "Okay, one moment.")
    assert voice.pieces == made
    assert again.pcm == first.pcm
    assert again.more == [False]


async def test_who_is_stopped_has_no_further_piece_made() -> None:
    voice = StreamingTone(takes=0.1)
    listener = Listener()
    saying = mouth_of(voice).speak(listener)
    saying.say(TEXT + " ")
    await asyncio.sleep(0.35)
    saying.stop()
    await asyncio.sleep(5)
    assert voice.pieces == 3


async def test_a_voice_that_dies_in_a_chunk_goes_on_with_the_word_it_was_at() -> None:
    voice = StreamingTone()
    voice.dies_after = [11]
    listener = await say(mouth_of(voice))
    # After 1.1 s "The sea is" (0.66 s) was said, and "deep" (0.96 s); "and" lasts until 1.2 s.
    assert voice.asked == [TEXT, "and very cold today, they say."]
    assert len(listener.chunks) == 1
    assert listener.more[-1] is False
    assert "started again" in listener.remarks[0]
    assert listener.handed[-1][1] is None


async def test_what_was_said_by_two_is_not_kept_as_one() -> None:
    voice = StreamingTone()
    voice.dies_after = [3]
    mouth = mouth_of(voice)
    await say(mouth, "Okay, one moment.")
    asked = len(voice.asked)
    await say(mouth, "Okay, one moment.")
    assert len(voice.asked) == asked + 1


async def test_a_voice_that_dies_again_in_a_chunk_is_told_in_one_sentence() -> None:
    voice = StreamingTone()
    voice.dies_after = [2, 2]
    listener = await say(mouth_of(voice))
    last = listener.handed[-1][1]
    assert isinstance(last, SynthesisFailed)
    assert "screen" in last.message


async def test_without_word_times_nobody_knows_where_it_died() -> None:
    class Wordless(StreamingTone):
        async def stream(self, text: str, *, speed: float = 1.0) -> AsyncGenerator[Sound, None]:
            yield Sound(bytes(TONE_RATE), TONE_RATE)
            raise SynthesizerLost

    listener = await say(mouth_of(Wordless()))
    assert isinstance(listener.handed[-1][1], SynthesisFailed)


async def test_while_it_is_open_whether_a_sentence_is_over_its_sound_is_made_already() -> None:
    listener = Listener()
    saying = mouth_of(StreamingTone(takes=0.05)).speak(listener)
    saying.say("It rains.")
    await asyncio.sleep(0.2)
    assert listener.handed == []
    saying.say(" And")
    await asyncio.sleep(0)
    await asyncio.sleep(0.001)
    assert listener.handed[0][0] == 0.2
    assert listener.chunks[0].text == "It rains."
    saying.stop()


async def test_what_turned_out_not_to_be_over_is_not_heard() -> None:
    voice = StreamingTone(takes=0.05)
    listener = Listener()
    saying = mouth_of(voice).speak(listener)
    for delta in ("It costs 3.", "14 coins,", " or more.", " That"):
        saying.say(delta)
        await asyncio.sleep(0.2)
    saying.say(" is all.")
    saying.finish()
    await listener.ended.wait()
    assert [chunk.text for chunk in listener.chunks] == [
        "It costs 3.14 coins, or more.",
        "That is all.",
    ]
    assert voice.asked[0] == "It costs three."


async def test_what_is_made_ahead_ends_with_the_reply() -> None:
    voice = StreamingTone(takes=0.05)
    listener = Listener()
    saying = mouth_of(voice).speak(listener)
    saying.say("It rains, and it rains, and it rains.")
    await asyncio.sleep(0.12)
    saying.stop()
    await asyncio.sleep(5)
    assert (voice.pieces, listener.handed) == (2, [])


async def test_a_guess_that_fails_is_told_only_if_it_was_right() -> None:
    voice = StreamingTone(takes=0.05)
    voice.dies_after = [0, 0]
    listener = Listener()
    saying = mouth_of(voice).speak(listener)
    saying.say("It costs 3.")
    await asyncio.sleep(1)
    saying.say("14 coins. ")
    saying.finish()
    await listener.ended.wait()
    assert [chunk.text for chunk in listener.chunks] == ["It costs 3.14 coins."]
    assert listener.handed[-1][1] is None


async def test_a_guess_that_is_dropped_leaves_to_the_next_chunk_what_it_was_finding_out() -> None:
    class Slow(OneVoice):
        async def language_of(self, name: str) -> str | None:
            await asyncio.sleep(0.05)
            return await super().language_of(name)

    listener = Listener()
    style = SpeakingStyle(voice="nobody")
    saying = SpeechSynthesis(Slow(StreamingTone())).speak(listener, style, listener.remarks.append)
    saying.say("This is version 3.")
    await asyncio.sleep(0.02)
    saying.say("2 of it.")
    saying.finish()
    await listener.ended.wait()
    (remark,) = listener.remarks
    assert "There is no voice named nobody" in remark
