"""The recognition session asks the recognizer at the right times, to the millisecond."""

import asyncio
from itertools import pairwise

import pytest

from sayso.server.speech.errors import ModelMissing, WorkerFailed
from sayso.server.speech.recognition.agreement import Partial
from sayso.server.speech.recognition.recognizer import Transcript
from sayso.server.speech.recognition.session import (
    MAX_UTTERANCE,
    SpeechRecognition,
    UtteranceRecognition,
)
from tests.speech.sounds import FRAME, silence, voice
from tests.speech_doubles import ScriptedRecognizer

pytestmark = pytest.mark.virtual_time

FINAL = 0.3
DRAFT = 0.1


def by_length(seconds: float) -> str:
    """A text that tells how much audio it was made from."""
    return f"heard {seconds:.2f} seconds."


def recognizer() -> ScriptedRecognizer:
    return ScriptedRecognizer(by_length, final_takes=FINAL, draft_takes=DRAFT)


def ignore(_: Partial) -> None:
    pass


async def talk(hearing: UtteranceRecognition, audio: bytes) -> None:
    """Send it at the pace at which it is spoken."""
    for at in range(0, len(audio), FRAME):
        hearing.feed(audio[at : at + FRAME])
        await asyncio.sleep(0.02)


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_nothing_but_the_final_delays_the_final() -> None:
    hearing = SpeechRecognition(recognizer()).listen(ignore)
    await talk(hearing, voice(1.24))  # a draft has just begun
    released = now()
    assert (await hearing.finish()).text == "heard 1.24 seconds."
    assert now() - released == pytest.approx(FINAL)


async def test_while_one_speaks_a_draft_is_made_every_400_ms() -> None:
    whisper = recognizer()
    hearing = SpeechRecognition(whisper).listen(ignore)
    await talk(hearing, voice(2.0))
    drafts = [asked.seconds for asked in whisper.asked if asked.draft]
    assert drafts == pytest.approx([0.4, 0.9, 1.4, 1.9], abs=0.021)
    await hearing.finish()


async def test_partials_show_what_two_drafts_agree_on() -> None:
    whisper = ScriptedRecognizer(["open", "open the", "open the window", "open the window."])
    shown: list[Partial] = []
    hearing = SpeechRecognition(whisper).listen(shown.append)
    await talk(hearing, voice(1.6))
    await hearing.finish()
    assert shown == [Partial("", "open"), Partial("open", "the"), Partial("open the", "window")]


async def test_a_slow_machine_shows_less_but_is_not_later() -> None:
    whisper = ScriptedRecognizer(by_length, final_takes=2.0, draft_takes=1.0)
    hearing = SpeechRecognition(whisper).listen(ignore)
    await talk(hearing, voice(6.5))
    assert len(whisper.asked) == 3
    released = now()
    await hearing.finish()
    assert now() - released == pytest.approx(2.0)


async def test_a_release_after_a_pause_costs_nothing() -> None:
    whisper = recognizer()
    hearing = SpeechRecognition(whisper).listen(ignore)
    await talk(hearing, voice(1.0) + silence(0.6))
    asked = len(whisper.asked)
    released = now()
    heard = await hearing.finish()
    assert now() == released
    assert len(whisper.asked) == asked
    assert heard.text == "heard 1.12 seconds."  # the pause of 120 ms included


async def test_a_release_during_the_guess_waits_only_for_its_rest() -> None:
    hearing = SpeechRecognition(recognizer()).listen(ignore)
    await talk(hearing, voice(1.0) + silence(0.3))  # the guess began 180 ms ago
    released = now()
    await hearing.finish()
    assert now() - released == pytest.approx(FINAL - 0.18, abs=0.021)


async def test_a_guess_is_revoked_when_speech_goes_on() -> None:
    hearing = SpeechRecognition(recognizer()).listen(ignore)
    await talk(hearing, voice(1.0) + silence(0.5) + voice(0.5))
    assert (await hearing.finish()).text == "heard 2.00 seconds."


async def test_a_pause_after_a_sound_that_was_no_word_is_told_until_the_voice_goes_on() -> None:
    wordless: list[bool] = []
    whisper = ScriptedRecognizer(["", "Hello."], final_takes=FINAL)
    hearing = SpeechRecognition(whisper).listen(ignore, on_wordless=wordless.append)
    await talk(hearing, voice(0.3) + silence(0.6))
    assert wordless == [True]
    await talk(hearing, voice(0.3) + silence(0.6))
    assert wordless == [True, False]
    assert (await hearing.finish()).text == "Hello."


async def test_no_draft_is_in_the_way_of_what_a_pause_is_for() -> None:
    whisper = recognizer()
    hearing = SpeechRecognition(whisper).listen(ignore)
    await talk(hearing, voice(0.37) + silence(0.08) + voice(0.2))
    assert [asked.seconds for asked in whisper.asked] == pytest.approx([0.51], abs=0.041)
    hearing.drop()


async def test_silence_before_the_first_word_makes_no_passes() -> None:
    whisper = recognizer()
    hearing = SpeechRecognition(whisper).listen(ignore)
    await talk(hearing, silence(2.0))
    assert whisper.asked == []
    await hearing.finish()


async def test_two_who_talk_at_once_are_both_heard_one_pass_at_a_time() -> None:
    whisper = recognizer()
    ears = SpeechRecognition(whisper)
    one, other = ears.listen(ignore), ears.listen(ignore)
    await asyncio.gather(talk(one, voice(2.0)), talk(other, voice(1.5) + silence(0.22)))
    first, second = await asyncio.gather(one.finish(), other.finish())
    assert first.text == "heard 2.00 seconds."
    assert second.text in {"heard 1.72 seconds.", "heard 1.62 seconds."}
    assert whisper.most_in_flight == 1


async def test_the_final_of_one_overtakes_the_drafts_and_guesses_of_another() -> None:
    whisper = recognizer()
    ears = SpeechRecognition(whisper)
    talker, done = ears.listen(ignore), ears.listen(ignore)
    done.feed(voice(0.3))
    await talk(talker, voice(1.0) + silence(0.2))  # the talker's guess is in flight
    released = now()
    assert (await done.finish()).text == "heard 0.30 seconds."
    assert now() - released == pytest.approx(FINAL)
    talker.feed(silence(0.02))
    assert (await talker.finish()).text.startswith("heard 1.2")


async def test_a_recognizer_that_dies_is_asked_again_and_nothing_is_lost() -> None:
    whisper = recognizer()
    told: list[str] = []
    hearing = SpeechRecognition(whisper).listen(ignore, on_trouble=told.append)
    await talk(hearing, voice(0.3))
    whisper.deaths = 1
    assert (await hearing.finish()).text == "heard 0.30 seconds."
    [remark] = told
    assert "what you said is kept" in remark.lower()


async def test_a_recognizer_that_dies_again_is_told_in_one_sentence() -> None:
    whisper = recognizer()
    hearing = SpeechRecognition(whisper).listen(ignore)
    await talk(hearing, voice(0.3))
    whisper.deaths = 2
    with pytest.raises(WorkerFailed, match="Please say it again"):
        await hearing.finish()


async def test_a_guess_that_dies_is_made_again() -> None:
    whisper = recognizer()
    hearing = SpeechRecognition(whisper).listen(ignore)
    whisper.deaths = 1
    await talk(hearing, voice(0.3) + silence(2.0))
    released = now()
    assert (await hearing.finish()).text.startswith("heard")
    assert now() == released


async def test_a_missing_model_is_told_in_its_own_words() -> None:
    class Deaf:
        async def transcribe(
            self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
        ) -> Transcript:
            raise ModelMissing("There is no model here.")

    hearing = SpeechRecognition(Deaf()).listen(ignore)
    await talk(hearing, voice(1.0) + silence(0.3))
    with pytest.raises(ModelMissing, match=r"There is no model here\."):
        await hearing.finish()


async def test_a_minute_is_whole_and_its_end_is_quick() -> None:
    whisper = recognizer()
    hearing = SpeechRecognition(whisper).listen(ignore)
    await talk(hearing, (voice(4.0) + silence(0.4)) * 13)
    await talk(hearing, voice(2.0))
    released = now()
    heard = await hearing.finish()
    assert now() - released == pytest.approx(FINAL)
    told = [float(word) for word in heard.text.split() if word[0].isdigit()]
    assert sum(told) == pytest.approx(59.2, abs=0.01)
    assert whisper.asked[-1].seconds < 20
    assert whisper.asked[-1].prompt == heard.text[: len(whisper.asked[-1].prompt)]
    assert max(asked.seconds for asked in whisper.asked) < 28


async def test_a_minute_without_a_breath_is_cut_and_whole_all_the_same() -> None:
    whisper = recognizer()
    hearing = SpeechRecognition(whisper).listen(ignore)
    await talk(hearing, voice(59.0))
    heard = await hearing.finish()
    told = [float(word) for word in heard.text.split() if word[0].isdigit()]
    assert sum(told) == pytest.approx(59.0, abs=0.02)
    assert max(asked.seconds for asked in whisper.asked) < 28


async def test_a_long_utterance_is_not_parted_at_the_shortest_of_pauses() -> None:
    said = (voice(2.0) + silence(0.1)) * 10 + voice(0.5)
    hearing = SpeechRecognition(recognizer()).listen(ignore)
    await talk(hearing, said + silence(0.16) + voice(0.5))
    assert (await hearing.finish()).text == "heard 22.16 seconds."
    hearing = SpeechRecognition(recognizer()).listen(ignore)
    await talk(hearing, said + silence(0.3) + voice(0.5))
    assert (await hearing.finish()).text == "heard 21.62 seconds. heard 0.68 seconds."


async def test_a_settled_part_stays_stable_in_the_partials() -> None:
    shown: list[Partial] = []
    hearing = SpeechRecognition(recognizer()).listen(shown.append)
    await talk(hearing, voice(16.0) + silence(0.6) + voice(2.0))
    assert shown[-1].stable.startswith("heard 16.")
    for before, after in pairwise(shown):
        assert after.stable.startswith(before.stable)
    hearing.drop()


async def test_no_more_than_a_minute_is_kept() -> None:
    hearing = SpeechRecognition(recognizer()).listen(ignore)
    hearing.feed(voice(59.0))
    before = hearing.full
    hearing.feed(voice(5.0))
    assert (before, hearing.full) == (False, True)
    assert hearing.seconds == MAX_UTTERANCE
    hearing.drop()


async def test_audio_in_a_burst_makes_one_draft() -> None:
    whisper = recognizer()
    hearing = SpeechRecognition(whisper).listen(ignore)
    hearing.feed(voice(5.0))
    await asyncio.sleep(1.0)
    assert [asked.seconds for asked in whisper.asked] == [5.0]
    hearing.drop()


async def test_a_whole_utterance_with_pauses_in_one_burst_is_heard() -> None:
    hearing = SpeechRecognition(recognizer()).listen(ignore)
    audio = (voice(0.5) + silence(0.3)) * 3
    for at in range(0, len(audio), FRAME):
        hearing.feed(audio[at : at + FRAME])  # guesses are revoked before they have begun
    heard = await asyncio.wait_for(hearing.finish(), 5)
    assert heard.text == "heard 2.22 seconds."  # up to the last pause; only silence follows


async def test_odd_pieces_and_no_audio_at_all() -> None:
    whisper = recognizer()
    hearing = SpeechRecognition(whisper).listen(ignore)
    audio = voice(0.3)
    for at in range(0, len(audio), 7):
        hearing.feed(audio[at : at + 7])
    hearing.feed(b"\x01")
    assert (await hearing.finish()).text == "heard 0.30 seconds."
    empty = await SpeechRecognition(ScriptedRecognizer([""])).listen(ignore).finish()
    assert empty.text == ""


@pytest.mark.parametrize("size", [331, 333, 335, 337])
async def test_odd_pieces_never_tear_a_sample_in_two(size: int) -> None:
    class Keeping(ScriptedRecognizer):
        last = b""

        async def transcribe(
            self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
        ) -> Transcript:
            self.last = pcm
            return await super().transcribe(pcm, draft=draft, prompt=prompt)

    whisper = Keeping(by_length)
    hearing = SpeechRecognition(whisper).listen(ignore)
    audio = voice(16.0) + silence(0.6) + voice(1.0)
    for at in range(0, len(audio), size):
        hearing.feed(audio[at : at + size])
        await asyncio.sleep(size / 32_000)
    await hearing.finish()
    assert len(whisper.last) < len(voice(3.0)), "the first part was settled"
    assert audio.endswith(whisper.last)
    assert len(whisper.last) % 2 == 0


async def test_what_comes_after_the_end_changes_nothing() -> None:
    hearing = SpeechRecognition(recognizer()).listen(ignore)
    hearing.feed(voice(0.3))
    finishing = asyncio.create_task(hearing.finish())
    await asyncio.sleep(0.01)
    hearing.feed(voice(1.0))
    assert (await finishing).text == "heard 0.30 seconds."


async def test_dropping_gives_up_the_pass_and_frees_the_way() -> None:
    whisper = recognizer()
    ears = SpeechRecognition(whisper)
    hearing = ears.listen(ignore)
    await talk(hearing, voice(1.0) + silence(0.2))
    hearing.drop()
    other = ears.listen(ignore)
    other.feed(voice(0.3))
    released = now()
    await other.finish()
    assert now() - released == pytest.approx(FINAL)
    assert whisper.given_up >= 1


async def test_a_finish_that_is_cancelled_gives_up_its_pass() -> None:
    whisper = recognizer()
    hearing = SpeechRecognition(whisper).listen(ignore)
    hearing.feed(voice(0.3))
    finishing = asyncio.create_task(hearing.finish())
    await asyncio.sleep(0.1)
    finishing.cancel()
    await asyncio.wait([finishing])
    await asyncio.sleep(0)
    assert whisper.in_flight == 0
    assert whisper.given_up == 1


class Polyglot(ScriptedRecognizer):
    """Hears German, unless it is told what to expect."""

    confidence = 0.8
    language_sure = 0.9

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        heard = await super().transcribe(pcm, draft=draft, prompt=prompt, language=language)
        return Transcript(heard.text, language or "de", self.confidence, self.language_sure)


async def hear(ears: SpeechRecognition, device: str) -> Transcript:
    hearing = ears.listen(ignore, device)
    hearing.feed(voice(0.3))
    return await hearing.finish()


async def test_a_language_is_found_out_once_and_remembered_per_device() -> None:
    whisper = Polyglot(by_length)
    ears = SpeechRecognition(whisper)
    for device in ("desk", "desk", "kitchen"):
        assert (await hear(ears, device)).language == "de"
    assert [asked.language for asked in whisper.asked] == ["", "de", ""]
    assert ears.language_of("desk") == "de"


async def test_a_language_that_is_not_certain_is_not_remembered() -> None:
    whisper = Polyglot(by_length)
    whisper.language_sure = 0.3
    ears = SpeechRecognition(whisper)
    await hear(ears, "desk")
    assert ears.language_of("desk") == ""


async def test_a_language_that_no_longer_fits_is_found_out_again() -> None:
    whisper = Polyglot(by_length)
    ears = SpeechRecognition(whisper)
    await hear(ears, "desk")
    whisper.confidence = 0.3
    await hear(ears, "desk")
    await hear(ears, "desk")
    assert [asked.language for asked in whisper.asked] == ["", "de", ""]


async def test_the_rest_of_a_long_utterance_stays_in_its_language() -> None:
    whisper = Polyglot(by_length)
    hearing = SpeechRecognition(whisper).listen(ignore, "desk")
    await talk(hearing, voice(16.0) + silence(0.6) + voice(1.0))
    await hearing.finish()
    assert whisper.asked[-1].language == "de"
