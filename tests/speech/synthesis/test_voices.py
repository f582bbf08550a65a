"""Several voices: the device's choice, another language, missing voices, and the bound on them."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from sayso.server.speech.errors import ModelBroken, WorkerFailed
from sayso.server.speech.synthesis.session import (
    Chunk,
    Handed,
    MoreSound,
    SpeakingStyle,
    SpeechSynthesis,
)
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.speech.synthesis.voice_pool import VoicePool
from sayso.server.speech.synthesis.voices import Voice
from sayso.server.speech.workers.supervisor import Ready
from tests.speech_doubles import StreamingTone

pytestmark = pytest.mark.virtual_time

JOE = Voice("en_US-joe-medium", "en", Path("joe"))
AMY = Voice("en_GB-amy-low", "en", Path("amy"))
THORSTEN = Voice("de_DE-thorsten-medium", "de", Path("thorsten"))
SIWIS = Voice("fr_FR-siwis-low", "fr", Path("siwis"))

GERMAN = "Der Zug fährt um neun Uhr und ist pünktlich. "
FRENCH = "Le train part à neuf heures et il est à l'heure. "


class Tone(StreamingTone):
    """A voice that can be loaded, and closed."""

    def __init__(self, path: Path, *, broken: bool = False) -> None:
        super().__init__(rate=16_000 if path.name in {"amy", "siwis"} else 22_050)
        self.name = path.name
        self.broken = broken
        self.open = False

    @property
    def trouble(self) -> str:
        return "" if self.open else "It is closed."

    @property
    def restarts(self) -> int:
        return 0

    async def start(self) -> Ready:
        await asyncio.sleep(1.0)
        if self.broken:
            raise ModelBroken("The piper voice thorsten cannot be used.")
        self.open = True
        return Ready(self.name, 1.0, {})

    async def close(self) -> None:
        self.open = False

    async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
        if not self.open:
            raise WorkerFailed(f"{self.name} is closed.")
        return await super().synthesize(text, speed=speed)


def with_more(chunk: Handed, more: MoreSound) -> Chunk:
    assert isinstance(chunk, Chunk)
    sound = replace(chunk.sound, pcm=chunk.sound.pcm + more.pcm)
    return replace(chunk, sound=sound, more=more.more)


class VoiceRig:
    """A mouth whose voices are tones, and what it handed over."""

    def __init__(self, *installed: Voice, most: int = 2, broken: str = "") -> None:
        self.tones: dict[str, Tone] = {}
        self.most_open = 0
        self.installed = [JOE, *installed]

        def make(path: Path) -> Tone:
            tone = self.tones[path.name] = Tone(path, broken=path.name == broken)
            self.most_open = max(self.most_open, 1 + sum(t.open for t in self.tones.values()))
            return tone

        self.choir = VoicePool(lambda: self.installed, JOE, make=make, most=most)
        self.mouth = SpeechSynthesis(self.choir)
        self.remarks: list[str] = []

    async def say(self, texts: Iterable[str], style: SpeakingStyle | None = None) -> list[Handed]:
        handed: list[Handed] = []
        ended = asyncio.Event()

        def take(one: Handed) -> None:
            if isinstance(one, MoreSound):
                handed.append(with_more(handed.pop(), one))
                return
            handed.append(one)
            if not isinstance(one, Chunk):
                ended.set()

        saying = self.mouth.speak(take, style, self.remarks.append)
        for text in texts:
            saying.say(text)
        saying.finish()
        await ended.wait()
        return handed

    def asked(self, name: str) -> list[str]:
        return self.tones[name].asked if name in self.tones else []


async def voice_rig(*installed: Voice, most: int = 2, broken: str = "") -> VoiceRig:
    made = VoiceRig(*installed, most=most, broken=broken)
    await made.choir.start()
    return made


async def test_a_device_is_spoken_to_in_the_voice_that_it_wishes_for() -> None:
    h = await voice_rig(AMY)
    await h.say(["Hello there. "], SpeakingStyle(voice="amy"))
    assert (h.asked("joe"), h.asked("amy")) == ([], ["Hello there."])


async def test_another_voice_is_the_next_of_the_language_in_a_round() -> None:
    h = await voice_rig(THORSTEN, AMY)
    assert await h.mouth.another_voice("", "en-US") == "en_GB-amy-low"
    assert await h.mouth.another_voice("amy", "en") == "en_US-joe-medium"
    assert await h.mouth.another_voice("thorsten", "en") == "en_GB-amy-low"
    assert await h.mouth.another_voice("", "de") is None


async def test_a_device_is_spoken_to_at_its_own_speed() -> None:
    h = await voice_rig()
    [slow, _] = await h.say(["Count the seconds."])
    [fast, _] = await h.say(["Count the seconds."], SpeakingStyle(speed=2.0))
    assert isinstance(slow, Chunk)
    assert isinstance(fast, Chunk)
    assert len(fast.sound.pcm) == pytest.approx(len(slow.sound.pcm) / 2, abs=8)


async def test_a_reply_in_another_language_is_spoken_by_a_voice_of_that_language() -> None:
    h = await voice_rig(THORSTEN)
    await h.say([GERMAN, "Gute Reise! "])
    assert h.asked("thorsten") == [GERMAN.strip(), "Gute Reise!"]
    assert h.asked("joe") == []
    assert h.remarks == []


async def test_without_a_voice_for_the_language_a_screen_is_told_once() -> None:
    h = await voice_rig()
    await h.say([GERMAN, GERMAN])
    assert h.asked("joe") == ["This is on your screen."]
    await h.say([GERMAN])
    [remark] = h.remarks
    assert "German" in remark
    assert "sayso models get" in remark


async def test_a_device_of_a_language_without_a_voice_is_still_spoken_to() -> None:
    h = await voice_rig()
    await h.say(["Okay. "], SpeakingStyle(language="de-DE"))
    assert h.asked("joe") == ["Okay."]
    assert h.remarks == []


async def test_what_is_sayso_s_own_is_said_in_the_reply_s_language() -> None:
    h = await voice_rig(THORSTEN)
    await h.say([GERMAN, "\n```python\n1 + 1\n```\n"])
    assert h.asked("thorsten")[-1] == "Der Code steht auf deinem Bildschirm."


async def test_a_voice_that_does_not_exist_is_told_once_and_the_usual_one_speaks() -> None:
    h = await voice_rig()
    for _ in range(2):
        [chunk, _] = await h.say(["Hello there. "], SpeakingStyle(voice="nobody"))
        assert isinstance(chunk, Chunk)
    [remark] = h.remarks
    assert "no voice named nobody" in remark


async def test_a_voice_that_is_broken_is_told_and_the_usual_one_speaks() -> None:
    h = await voice_rig(AMY, broken="amy")
    await h.say(["Hello there. "], SpeakingStyle(voice="amy"))
    [remark] = h.remarks
    assert "cannot be used" in remark
    assert h.asked("joe") == ["Hello there."]


async def test_voices_of_different_rates_make_one_stream() -> None:
    h = await voice_rig(SIWIS)
    handed = await h.say(["This is said in English. ", FRENCH])
    chunks = [one for one in handed if isinstance(one, Chunk)]
    assert [chunk.sound.rate for chunk in chunks] == [22_050, 22_050]
    for chunk in chunks:
        assert chunk.sound.words[-1].end == len(chunk.sound.pcm) // 2


async def test_few_voices_are_in_memory_at_once() -> None:
    h = await voice_rig(THORSTEN, SIWIS, most=2)
    await h.say([GERMAN])
    await h.say([FRENCH])
    await h.say(["And now in English again. "])
    assert h.most_open <= 2
    assert set(h.choir.loaded) == {"fr_FR-siwis-low", "en_US-joe-medium"}


async def test_two_who_want_different_voices_both_get_them_in_the_space_of_one() -> None:
    h = await voice_rig(THORSTEN, most=1)
    german, english = await asyncio.gather(
        h.say([GERMAN] * 3), h.say(["One is here. ", "Two is there. ", "Three is gone. "])
    )
    assert len([one for one in german if isinstance(one, Chunk)]) == 3
    assert len([one for one in english if isinstance(one, Chunk)]) == 3
    assert h.most_open == 1


async def test_a_voice_that_was_installed_meanwhile_is_found() -> None:
    h = await voice_rig()
    await h.say([GERMAN])
    h.installed.append(THORSTEN)
    await h.say([GERMAN])
    assert h.asked("thorsten") == [GERMAN.strip()]


async def test_a_short_phrase_is_made_once() -> None:
    h = await voice_rig()
    await h.mouth.prepare(["One moment."])
    began = asyncio.get_running_loop().time()
    await h.say(["One moment. "])
    assert asyncio.get_running_loop().time() == began
    assert h.asked("joe") == ["One moment."]


@pytest.mark.parametrize(
    ("taken", "chosen"), [((), 22_050), ((16_000,), 16_000), ((8_000, 48_000), 48_000)]
)
async def test_a_loudspeaker_that_takes_certain_rates_gets_one_of_them(
    taken: tuple[int, ...], chosen: int
) -> None:
    h = await voice_rig()
    [usual, _] = await h.say(["Count the seconds."])
    [chunk, _] = await h.say(["Count the seconds."], SpeakingStyle(rates=taken))
    assert isinstance(usual, Chunk)
    assert isinstance(chunk, Chunk)
    seconds = len(usual.sound.pcm) / usual.sound.rate
    assert chunk.sound.rate == chosen
    assert len(chunk.sound.pcm) / chosen == pytest.approx(seconds, abs=0.01)
    assert chunk.sound.words[-1].end == len(chunk.sound.pcm) // 2
