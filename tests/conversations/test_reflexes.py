"""What needs no language model, in conversations of a running server: languages, voice, alarms."""

import asyncio
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.server.speech.recognition.recognizer import Transcript
from sayso.server.speech.synthesis.loudness import FULL, KNEE, TONE_S
from sayso.server.turn import events
from tests.conversations.test_spoken_turns import hear_out, reply, say
from tests.server.running_server import Device, running_server, until
from tests.speech_doubles import TONE_RATE, ScriptedRecognizer, ToneSynthesizer

pytestmark = pytest.mark.virtual_time


class Polyglot(ScriptedRecognizer):
    """Hears German in utterances of two seconds, English in those of one."""

    def __init__(self) -> None:
        super().__init__(lambda seconds: "Wie spät ist es?" if seconds > 1.5 else "Who are you?")

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        heard = await super().transcribe(pcm, draft=draft, prompt=prompt, language=language)
        german = heard.text.startswith("Wie")
        return Transcript(heard.text, "de" if german else "en", 0.9, 0.9)


async def prefer(device: Device, language: str) -> None:
    device.seat.happened(events.Preferred(device.name, language=language))
    await asyncio.sleep(0)


async def test_a_device_is_answered_in_the_language_that_it_says_it_speaks(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk, phone = await server.device("desk"), await server.device("phone")
        await prefer(phone, "de-AT")
        assert await phone.ask("Danke schön!") == "Gern geschehen."
        assert await desk.ask("Thank you.") == "You're welcome."
        assert await phone.ask("Was sind 15 Prozent von 80?") == "15 Prozent von 80 ist 12."


async def test_a_household_speaks_more_than_one_language_and_each_is_answered_in_its_own(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        assert await desk.ask("Danke schön!") == "Gern geschehen."
        assert await desk.ask("Thank you.") == "You're welcome."


async def test_each_utterance_is_answered_in_the_language_that_it_was_heard_in(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path, ears=Polyglot(), voice=ToneSynthesizer()) as server:
        desk = await server.device(speaks=True)
        say(desk, 1, 2)
        await until(lambda: reply(desk).startswith("Es ist "))
        await hear_out(desk)
        desk.told.clear()
        say(desk, 2, 1)
        await until(lambda: reply(desk).startswith("I'm Sayso"))


async def test_the_last_answer_is_said_again_and_the_model_is_not_asked(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        assert await desk.ask("Say that again.") == "I haven't said anything yet."
        await desk.ask("Who are you?")
        assert (await desk.ask("What was that?")).startswith("I'm Sayso")
        assert (await desk.ask("Say that again.")).startswith("I'm Sayso")


async def test_louder_slower_and_another_voice_count_for_this_device_and_last(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        assert await desk.ask("Volume fifty percent.") == "Volume 50 percent."
        assert await desk.ask("Louder.") == "Louder now."
        assert await desk.ask("Speak slower.") == "I speak slower now."
        assert await desk.ask("Use the voice of Nobody.") == (
            "There is no voice called Nobody here; the command sayso models lists those that are."
        )
        assert await desk.ask("Use a different voice.") == (
            "There is no other voice here; the command sayso models lists those that can be"
            " fetched."
        )
        assert await desk.ask("Whisper.") == "Volume 20 percent."
        assert await desk.ask("Full volume.") == "Volume 100 percent."
        assert (await desk.ask("Louder.")).startswith("I can't speak any louder")
    async with running_server(tmp_path) as server:
        desk, phone = await server.device(), await server.device("phone")
        assert (await desk.ask("Louder.")).startswith("I can't speak any louder")
        assert await phone.ask("Louder.") == "Louder now."


async def test_speech_is_as_loud_as_its_device_wants_it(tmp_path: Path) -> None:
    async with running_server(tmp_path, voice=ToneSynthesizer()) as server:
        desk = await server.device(speaks=True)
        usual = await loudness(desk, "Thank you.")
        await loudness(desk, "Volume ten percent.")
        assert await loudness(desk, "Thank you.") == pytest.approx(usual / 10, rel=0.1)


async def loudness(desk: Device, text: str) -> int:
    """Type something and play the answer to its end; returns its highest sample."""
    desk.pcm.clear()
    desk.seat.happened(events.Typed(desk.name, text))
    await hear_out(desk)
    return max(abs(sample) for sample in memoryview(desk.pcm).cast("h"))


async def test_lists_are_kept_for_the_household_across_its_conversations(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        assert await desk.ask("Add milk, eggs and bread to the shopping list.") == (
            "I put milk, eggs and bread on your shopping list."
        )
        assert await desk.ask("What's on it?") == "On your shopping list: milk, eggs and bread."
        assert await desk.ask("Take the eggs off it.") == "I took eggs off your shopping list."
    async with running_server(tmp_path) as server:
        await server.conversations.begin("work")
        phone = await server.device("phone", "work")
        guest = await server.device("guest", person="Anna")
        assert await phone.ask("What's on my shopping list?") == (
            "On your shopping list: milk and bread."
        )
        assert await guest.ask("What's on my shopping list?") == (
            "There is nothing on your shopping list."
        )
        assert await phone.ask("Clear the shopping list.") == (
            "There is nothing on your shopping list any more."
        )
    async with running_server(tmp_path) as server:
        desk = await server.device()
        assert await desk.ask("Is milk on the list?") == "No, milk: not on your shopping list."


async def test_an_alarm_waits_for_a_loudspeaker_and_its_tone_comes_before_its_words(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path, voice=ToneSynthesizer()) as server:
        script = await server.device("script")
        rings = asyncio.create_task(
            server.conversations.tell(lambda: "This is your alarm.", "script", "main", lambda: 1.0)
        )
        await asyncio.sleep(5)
        assert not rings.done()
        assert not script.all(m.Announce)
        phone = await server.device("phone", speaks=True)
        await rings
        await hear_out(phone)
        samples = memoryview(phone.pcm).cast("h")
        assert len(samples) > TONE_S * TONE_RATE
        assert max(samples[: TONE_RATE // 4]) > KNEE * FULL
        assert m.Announce("This is your alarm.") in phone.told


async def test_an_alarm_that_rings_is_silent_at_a_word(tmp_path: Path) -> None:
    async with running_server(tmp_path, voice=ToneSynthesizer()) as server:
        phone = await server.device("phone", speaks=True)
        await server.conversations.tell(lambda: "This is your alarm.", "phone", "main", lambda: 1.0)
        await until(lambda: phone.sounds)
        phone.seat.happened(events.Typed(phone.name, "Stop."))
        await until(lambda: phone.all(m.SpeechStop))
        sent = len(phone.pcm)
        await asyncio.sleep(TONE_S)
        assert len(phone.pcm) == sent
