"""Text goes in as it is written, speech comes out chunk by chunk, to the millisecond."""

import asyncio
from collections.abc import Iterable

import pytest

from sayso.server.speech.errors import ModelMissing
from sayso.server.speech.synthesis.session import Chunk, Handed, SpeechSynthesis, SynthesisFailed
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.speech.synthesis.voices import OneVoice
from tests.speech_doubles import TONE_RATE, ToneSynthesizer

pytestmark = pytest.mark.virtual_time


class Listener:
    """Keeps what it is handed, and when."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, Handed]] = []
        self.ended = asyncio.Event()

    def __call__(self, chunk: Handed) -> None:
        self.heard.append((asyncio.get_running_loop().time(), chunk))
        if not isinstance(chunk, Chunk):
            self.ended.set()

    @property
    def chunks(self) -> list[Chunk]:
        return [chunk for _, chunk in self.heard if isinstance(chunk, Chunk)]

    @property
    def texts(self) -> list[str]:
        return [chunk.text for chunk in self.chunks]


def in_words(text: str) -> list[str]:
    return [f"{word} " for word in text.split()]


async def say(mouth: SpeechSynthesis, deltas: Iterable[str], *, every: float = 0.0) -> Listener:
    listener = Listener()
    saying = mouth.speak(listener)
    for delta in deltas:
        saying.say(delta)
        await asyncio.sleep(every)
    saying.finish()
    await listener.ended.wait()
    return listener


async def test_the_first_clause_is_spoken_while_the_sentence_is_still_written() -> None:
    words = in_words("Well, if you ask me, it will rain the whole day.")
    listener = await say(SpeechSynthesis(OneVoice(ToneSynthesizer(takes=0.05))), words, every=1.0)
    # The fifth word closes the clause at 4 s; making its sound takes 50 ms.
    assert (listener.heard[0][0], listener.texts[0]) == (4.05, "Well, if you ask me,")


async def test_chunks_come_in_order_and_then_the_end() -> None:
    listener = await say(
        SpeechSynthesis(OneVoice(ToneSynthesizer())), ["One is here. Two is there. ", "Three."]
    )
    assert listener.texts == ["One is here.", "Two is there.", "Three."]
    assert listener.heard[-1][1] is None


async def test_code_is_never_spoken() -> None:
    tone = ToneSynthesizer()
    await say(
        SpeechSynthesis(OneVoice(tone)), list("Try this:\n```python\nimport os\n```\nIt works.")
    )
    assert tone.asked == ["Try this:", "The code is on your screen.", "It works."]


async def test_words_are_the_written_ones_and_fill_the_sound() -> None:
    listener = await say(
        SpeechSynthesis(OneVoice(ToneSynthesizer())),
        ["It's 25 km \U0001f600 to the caf\u00e9 or $5."],
    )
    [chunk] = listener.chunks
    assert [word.text for word in chunk.sound.words] == [
        "It's", "25 km \U0001f600", "to", "the", "caf\u00e9", "or", "$5."]  # fmt: skip
    assert chunk.sound.words[0].start == 0
    assert chunk.sound.words[-1].end * 2 == len(chunk.sound.pcm)


async def test_after_a_stop_nothing_more_is_made_or_handed_over() -> None:
    tone = ToneSynthesizer(takes=0.5)
    listener = Listener()
    saying = SpeechSynthesis(OneVoice(tone)).speak(listener)
    saying.say("One is here. Two is there. Three is gone. ")
    await asyncio.sleep(0.75)
    saying.stop()
    saying.say("Four comes late. ")
    saying.finish()
    await asyncio.sleep(5)
    assert listener.texts == ["One is here."]
    assert tone.asked == ["One is here.", "Two is there."]


async def test_one_chunk_is_made_ahead_and_no_more() -> None:
    tone = ToneSynthesizer(takes=0.01)
    made: list[int] = []

    async def play(chunk: Handed) -> None:
        if isinstance(chunk, Chunk):
            await asyncio.sleep(len(chunk.sound.pcm) / 2 / TONE_RATE)
            made.append(len(tone.asked))

    saying = SpeechSynthesis(OneVoice(tone)).speak(play)
    saying.say("One is here. Two is there. Three is gone. Four is back. Five is new. Six is all. ")
    saying.finish()
    await asyncio.sleep(60)
    # While a chunk plays, the next lies ready and the one after it has just been made.
    assert made == [3, 4, 5, 6, 6, 6]


async def test_a_synthesizer_that_dies_is_asked_again() -> None:
    tone = ToneSynthesizer()
    tone.deaths = 1
    remarks: list[str] = []
    listener = Listener()
    saying = SpeechSynthesis(OneVoice(tone)).speak(listener, on_remark=remarks.append)
    saying.say("Nothing is lost.")
    saying.finish()
    await listener.ended.wait()
    assert listener.texts == ["Nothing is lost."]
    [remark] = remarks
    assert "started again" in remark


async def test_a_synthesizer_that_dies_again_is_told_in_one_sentence() -> None:
    tone = ToneSynthesizer()
    tone.deaths = 2
    listener = await say(SpeechSynthesis(OneVoice(tone)), ["This kills it. Not this. "])
    assert listener.chunks == []
    assert isinstance(listener.heard[-1][1], SynthesisFailed)


async def test_a_missing_voice_is_told_in_its_own_words() -> None:
    class Mute:
        async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
            raise ModelMissing("There is no voice here.")

    listener = await say(SpeechSynthesis(OneVoice(Mute())), ["Hello there."])
    assert listener.heard[-1][1] == SynthesisFailed("There is no voice here.")


async def test_a_voice_with_a_defect_ends_the_answer_in_one_sentence() -> None:
    class Odd:
        async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
            raise ValueError("it cannot be packed")

    listener = await say(SpeechSynthesis(OneVoice(Odd())), ["Hello there."])
    (failed,) = (handed for _, handed in listener.heard)
    assert isinstance(failed, SynthesisFailed)
    assert "packed" not in failed.message


async def test_halves_of_characters_are_not_spoken() -> None:
    """A model whose deltas cut an emoji in two sends them, and no voice's process takes them."""
    tone = ToneSynthesizer()
    listener = await say(SpeechSynthesis(OneVoice(tone)), ["Hello \ud83d", "\ude00 there, friend."])
    assert [word.text for chunk in listener.chunks for word in chunk.sound.words] == [
        "Hello", "there,", "friend.",
    ]  # fmt: skip


async def test_what_has_nothing_to_be_said_ends_at_once() -> None:
    tone = ToneSynthesizer()
    listener = await say(SpeechSynthesis(OneVoice(tone)), ["\U0001f600 ", "\n\n***\n"])
    assert listener.heard[-1][1] is None
    assert tone.asked == []


@pytest.mark.parametrize("takes", [0.02, 0.15, 0.6])
async def test_the_voice_never_pauses_while_the_model_writes_four_words_a_second(
    takes: float,
) -> None:
    reply = (
        "The weather will be nice, with some clouds in the evening, and a light wind from a lake "
        "that gets a little stronger in the evening, so take a jacket with you, just in case, when "
        "you go out and walk by the sea, where the wind is always a bit stronger than in the town."
    )
    words = in_words(reply)
    listener = await say(SpeechSynthesis(OneVoice(ToneSynthesizer(takes=takes))), words, every=0.25)
    assert " ".join(listener.texts) == reply
    dry = listener.heard[0][0]
    for at, chunk in listener.heard:
        if isinstance(chunk, Chunk):
            assert at <= dry, f"silence before {chunk.text!r}"
            dry += len(chunk.sound.pcm) / 2 / chunk.sound.rate


async def test_twice_the_speed_takes_half_the_time() -> None:
    slow = await say(SpeechSynthesis(OneVoice(ToneSynthesizer())), ["Count the seconds."])
    fast = await say(
        SpeechSynthesis(OneVoice(ToneSynthesizer()), speed=2.0), ["Count the seconds."]
    )
    assert len(fast.chunks[0].sound.pcm) == pytest.approx(len(slow.chunks[0].sound.pcm) / 2, abs=8)
