"""Short phrases that must be spoken at once are synthesised in advance."""

import asyncio

import pytest

from sayso.server.assembly.warm_up import prepare
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.synthesis.session import Chunk, Handed, SpeechSynthesis
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.speech.synthesis.voices import OneVoice
from sayso.server.turn.phrases import words
from tests.speech_doubles import ToneSynthesizer

pytestmark = pytest.mark.virtual_time


async def test_a_filler_is_heard_at_once() -> None:
    tone = ToneSynthesizer(takes=0.5)
    mouth = SpeechSynthesis(OneVoice(tone))
    await prepare(mouth)
    heard: asyncio.Queue[Handed] = asyncio.Queue()
    saying = mouth.speak(heard.put_nowait)
    began = asyncio.get_running_loop().time()
    saying.say(words("thinking", "en") + "\n\n")
    assert isinstance(await heard.get(), Chunk)
    assert asyncio.get_running_loop().time() == began
    saying.stop()


async def test_without_a_voice_nothing_is_prepared_and_nothing_breaks() -> None:
    class Mute:
        async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
            raise SpeechError("There is no voice here.")

    await prepare(SpeechSynthesis(OneVoice(Mute())))
