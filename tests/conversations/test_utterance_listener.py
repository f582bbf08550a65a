"""What listens to an utterance without a key: a sound that is no word is not the end of it."""

import asyncio
from collections.abc import Callable
from typing import Literal

import pytest

from sayso.audio.pcm import quieter
from sayso.server.conversations.utterance_listener import (
    ENGLISH_ONLY,
    HEARD_BETTER,
    UtteranceListener,
)
from sayso.server.speech.recognition.recognizer import Recognizer, Transcript
from sayso.server.speech.recognition.rival_devices import RivalDevices
from sayso.server.speech.recognition.session import SpeechRecognition
from sayso.server.speech.recognition.voice_activity import VoiceActivity
from sayso.server.turn import events
from sayso.server.turn.effects import Listen
from sayso.server.turn.events import Event
from tests.speech.sounds import FRAME, silence, voice
from tests.speech_doubles import ScriptedRecognizer

pytestmark = pytest.mark.virtual_time


class Gate:
    """Takes for a voice what the ears take for speech."""

    def __init__(self) -> None:
        self._gate = VoiceActivity()

    def hears(self, frame: bytes) -> bool:
        self._gate.feed(frame)
        return self._gate.spoken > 0 and self._gate.quiet_for == 0


async def told(
    sound: bytes, *texts: str, wait_ms: int = 6_000, recognizer: Recognizer | None = None
) -> list[Event]:
    """All that happens while this is heard."""
    happened: list[Event] = []
    attention = UtteranceListener(
        Listen(1, "shelf", "hands_free", wait_ms),
        SpeechRecognition(recognizer or ScriptedRecognizer(texts)),
        happened.append,
        lambda _: "request",
        RivalDevices().of("", "main"),
        language="en",
        make_gate=Gate,
    )
    for at in range(0, len(sound), FRAME):
        attention.feed(sound[at : at + FRAME])
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.2)
    attention.drop()
    return happened


def ends(happened: list[Event]) -> list[str]:
    return [event.reason for event in happened if isinstance(event, events.VoiceEnded)]


COUGH = voice(0.3)


async def test_after_a_cough_the_words_are_still_waited_for() -> None:
    sound = COUGH + silence(1.5) + voice(0.8)
    assert not ends(await told(sound, "", "What time is it?"))
    happened = await told(sound + silence(0.8), "", "What time is it?")
    assert ends(happened) == ["ended"]
    assert any(isinstance(event, events.PartlyHeard) for event in happened)


async def test_after_a_cough_and_nothing_more_the_patience_ends_as_without_it() -> None:
    assert not ends(await told(COUGH + silence(5.5), ""))
    assert ends(await told(COUGH + silence(6.0), "")) == ["timeout"]


async def test_where_a_voice_opened_the_microphone_a_cough_closes_it_soon() -> None:
    assert ends(await told(COUGH + silence(1.4), "", wait_ms=1_500)) == ["timeout"]


def reminder(seconds: float) -> str:
    """What is understood of the first seconds of a reminder with a pause in it."""
    if seconds < 1.5:
        return "Remind me."
    return "Remind me in 20 minutes to." if seconds < 4.0 else "Remind me to take out the bread."


BEGUN = voice(2.4)
"""Until the pause."""


def busy(script: Callable[[float], str]) -> ScriptedRecognizer:
    """The first draft hears half a second, and a pass takes longer than any usual silence."""
    return ScriptedRecognizer(script, final_takes=1.5, draft_takes=1.2)


async def test_words_older_than_the_latest_voice_end_nothing() -> None:
    happened = await told(BEGUN + silence(1.4), recognizer=busy(reminder))
    assert [event.tail for event in happened if isinstance(event, events.PartlyHeard)] == [
        "Remind me."
    ]
    assert not ends(happened)
    sound = BEGUN + silence(1.8) + voice(1.0)
    assert not ends(await told(sound + silence(1.4), recognizer=busy(reminder)))
    assert ends(await told(sound + silence(2.0), recognizer=busy(reminder))) == ["ended"]


async def test_a_voice_of_which_nothing_is_understood_yet_is_not_cut_off() -> None:
    slow = ScriptedRecognizer(reminder, final_takes=1.5, draft_takes=9.0)
    assert not ends(await told(BEGUN + silence(1.5), recognizer=slow))


async def test_a_machine_that_never_catches_up_holds_the_microphone_open_no_longer() -> None:
    stuck = ScriptedRecognizer(reminder, final_takes=60.0, draft_takes=1.2)
    assert not ends(await told(BEGUN + silence(3.1), recognizer=stuck))
    assert ends(await told(BEGUN + silence(3.3), recognizer=stuck)) == ["ended"]


async def test_a_short_command_ends_as_soon_as_it_is_understood() -> None:
    def lights(_: float) -> str:
        return "Turn off the light."

    quick = ScriptedRecognizer(lights)
    assert not ends(await told(voice(0.8) + silence(0.3), recognizer=quick))
    assert ends(await told(voice(0.8) + silence(0.44), recognizer=quick)) == ["ended"]
    assert not ends(await told(voice(0.8) + silence(1.5), recognizer=busy(lights)))
    assert ends(await told(voice(0.8) + silence(1.7), recognizer=busy(lights))) == ["ended"]


class UnsureRecognizer:
    """Hears nonsense, and knows it."""

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        return Transcript("tanced to meet zoggin baked in cake", "en", 0.3)


@pytest.mark.parametrize("mode", ["ptt", "hands_free"])
async def test_speech_in_another_language_is_no_nonsense_but_told_with_the_remedy(
    mode: Literal["ptt", "hands_free"],
) -> None:
    happened: list[Event] = []
    attention = UtteranceListener(
        Listen(1, "shelf", mode),
        SpeechRecognition(UnsureRecognizer(), only_language="en"),
        happened.append,
        lambda _: "request",
        RivalDevices().of("", "main"),
        language="en",
        make_gate=Gate,
    )
    attention.feed(voice(1.0))
    transcript = await attention.finish()
    assert transcript.text == ""
    told = happened[-1]
    assert told == (
        events.Announced(ENGLISH_ONLY, "shelf")
        if mode == "ptt"
        else events.RecognitionRemarked(1, ENGLISH_ONLY)
    )
    assert "sayso models get" in ENGLISH_ONLY


async def heard_in_two_rooms() -> tuple[list[Event], str, str]:
    """What a kitchen and, from farther away, a hall make of one voice."""
    everywhere, told_in_hall = RivalDevices(), list[Event]()

    def listener(device: str, happened: list[Event]) -> UtteranceListener:
        return UtteranceListener(
            Listen(1, device, "hands_free", 6_000),
            SpeechRecognition(ScriptedRecognizer(["What time is it?"])),
            happened.append,
            lambda _: "request",
            everywhere.of("", device),
            language="en",
            make_gate=Gate,
        )

    kitchen = listener("kitchen", [])
    hall = listener("hall", told_in_hall)
    sound = silence(0.3) + voice(0.8) + silence(0.3)
    for at in range(0, len(sound), FRAME):
        kitchen.feed(sound[at : at + FRAME])
        hall.feed(quieter(sound[at : at + FRAME], 0.2))
        await asyncio.sleep(0.02)
    near, far = await asyncio.gather(kitchen.finish(), hall.finish())
    return told_in_hall, near.text, far.text


async def test_of_two_devices_that_hear_one_voice_one_acts_and_the_other_says_why_not() -> None:
    told_in_hall, near, far = await heard_in_two_rooms()
    assert (near, far) == ("What time is it?", "")
    assert events.RecognitionRemarked(1, HEARD_BETTER) in told_in_hall
