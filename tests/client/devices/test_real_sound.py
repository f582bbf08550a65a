"""Push-to-talk through a real microphone and a real loudspeaker, as far as PortAudio can tell."""

import asyncio
import json
from pathlib import Path

import pytest

from sayso.audio.pcm import level
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import ListenStop, PlayState
from tests.client.programs import SOON, give_token, sayso, window
from tests.client.server_double import RATE, Answer, Conversation, ServerDouble
from tests.pulse import SoundCard, loudness, write_tone

pytestmark = [pytest.mark.sound, pytest.mark.slow]

SPOKEN, ANSWERED = 1_000, 440
"""Hertz of the tones that stand for the person's voice and for Sayso's."""


@pytest.fixture(autouse=True)
def _token() -> None:
    give_token()


async def heard_by_somebody(sound_card: SoundCard) -> None:
    """Waits until the microphone is open."""
    async with asyncio.timeout(SOON):
        while True:
            if await asyncio.to_thread(sound_card.listened_to):
                return
            await asyncio.sleep(0.2)


async def played_to_its_end(conversation: Conversation) -> None:
    """Waits until the client has told that the answer was played."""
    async with asyncio.timeout(SOON):
        while True:
            if any(isinstance(told, PlayState) and told.done for told in conversation.heard):
                return
            await asyncio.sleep(0.2)


async def test_what_is_said_goes_out_and_the_answer_is_heard(
    sound_card: SoundCard, tmp_path: Path
) -> None:
    said, heard = tmp_path / "said.wav", tmp_path / "heard.wav"
    write_tone(said, SPOKEN, 1.0)
    conversation = Conversation(Answer(seconds=1.0))
    with sound_card.recording(heard):
        async with (
            ServerDouble(conversation) as server,
            window("talk", "--server", server.url, environment=sound_card.environment) as seen,
        ):
            await seen.sees("space to talk, space to send")
            seen.type(" ")
            await seen.sees("listening")
            await asyncio.to_thread(sound_card.speak_into_microphone, said)
            seen.type(" ")
            await seen.sees("Two and two is four.")
            await played_to_its_end(conversation)
            seen.type("\x04")
            assert await seen.ends() == 0
    frames = [message for message in conversation.heard if isinstance(message, AudioFrame)]
    (stop,) = (message for message in conversation.heard if isinstance(message, ListenStop))
    assert sum(len(frame.payload) // 2 for frame in frames) == stop.samples
    assert 0.8 < stop.samples / 16_000 < 4
    assert max(level(frame.payload).rms for frame in frames) > -20
    played = [message for message in conversation.heard if isinstance(message, PlayState)]
    assert played[-1] == PlayState(1, RATE, done=True)
    assert loudness(heard, ANSWERED) > 0.1
    assert loudness(heard, SPOKEN) < 0.05


async def test_a_card_that_is_pulled_out_is_told_and_typing_goes_on(sound_card: SoundCard) -> None:
    async with (
        ServerDouble(Conversation(Answer(seconds=0.2))) as server,
        window("talk", "--server", server.url, environment=sound_card.environment) as seen,
    ):
        await seen.sees("space to talk, space to send")
        await heard_by_somebody(sound_card)
        await asyncio.to_thread(sound_card.unplug)
        await seen.sees("is gone: plug it in again")
        seen.type("what is two and two\r")
        await seen.sees("Two and two is four.")
        await seen.sees("ready")


@pytest.mark.thorough
async def test_a_card_that_is_plugged_in_again_is_used_again(
    sound_card: SoundCard, tmp_path: Path
) -> None:
    said, heard = tmp_path / "said.wav", tmp_path / "heard.wav"
    write_tone(said, SPOKEN, 1.0)
    conversation = Conversation(Answer(seconds=0.5))
    async with (
        ServerDouble(conversation) as server,
        window("talk", "--server", server.url, environment=sound_card.environment) as seen,
    ):
        await seen.sees("space to talk, space to send")
        await heard_by_somebody(sound_card)
        await asyncio.to_thread(sound_card.unplug)
        await seen.sees("is gone: plug it in again")
        await seen.sees("type, and press Enter")
        await asyncio.to_thread(sound_card.plug_in)
        await seen.sees("is in use.")
        await seen.sees("space to talk, space to send")
        with sound_card.recording(heard):
            seen.type(" ")
            await seen.sees("listening")
            await asyncio.to_thread(sound_card.speak_into_microphone, said)
            seen.type(" ")
            await seen.sees("Two and two is four.")
            await seen.sees("ready")
    frames = [message for message in conversation.heard if isinstance(message, AudioFrame)]
    assert max(level(frame.payload).rms for frame in frames) > -20
    assert loudness(heard, ANSWERED) > 0.1


@pytest.mark.thorough
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "screen"])
async def test_a_microphone_and_a_loudspeaker_that_are_plugged_in_later_are_used(
    plain: bool, sound_card: SoundCard, tmp_path: Path
) -> None:
    heard = tmp_path / "heard.wav"
    conversation = Conversation(Answer(seconds=0.5))
    sound_card.unplug()
    flags = ["--plain"] if plain else []
    async with (
        ServerDouble(conversation) as server,
        window("talk", "--server", server.url, *flags, environment=sound_card.environment) as seen,
    ):
        await seen.sees("This machine has no microphone")
        await seen.sees("Type a question" if plain else "type, and press Enter")
        seen.type("what is two and two\r")
        await seen.sees("Two and two is four.")
        await asyncio.to_thread(sound_card.plug_in)
        await seen.sees("The microphone default is in use.")
        await seen.sees("The loudspeaker default is in use.")
        with sound_card.recording(heard):
            seen.type("\r" if plain else " ")
            await seen.sees("Listening." if plain else "Esc to drop")
            await asyncio.sleep(1)  # what is said
            seen.type("\r" if plain else " ")
            await seen.sees("Two and two is four.")
            await played_to_its_end(conversation)
    assert any(isinstance(told, AudioFrame) for told in conversation.heard)
    assert [bool(hello.wants) for hello in server.hellos] == [True, False]
    assert loudness(heard, ANSWERED) > 0.1


async def test_doctor_listens_and_plays(sound_card: SoundCard) -> None:
    ended = await sayso("doctor", "--json", environment=sound_card.environment)
    states = {finding["part"]: finding["state"] for finding in json.loads(ended.out)}
    assert states["PortAudio"] == states["loudspeaker"] == "good"
    assert states["microphone"] == "poor"
