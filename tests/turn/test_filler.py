"""A few words in a long silence: when they come, how often, and when they don't."""

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.machine import TurnMachine
from sayso.server.turn.phrases import FILLERS, PHRASES, is_aside, is_filler, words
from tests.turn.scene import Scene

RUN = m.CodeStart("1", "python", "…")


def asked(**of: object) -> Scene:
    """A request was made aloud, and released at one second."""
    s = Scene()
    s.join("laptop", **of)
    s.say("sort my files")
    return s


def fillers(s: Scene) -> list[tuple[float, str]]:
    spoken = ((at, e) for at, e in s.done if isinstance(e, effects.Speak))
    return [(round(at, 6), e.text.strip()) for at, e in spoken if is_filler(e.text)]


def test_after_1200_ms_of_silence_a_few_words_say_that_work_goes_on() -> None:
    s = asked()
    s.wait(5.0)
    assert fillers(s) == [(2.2, "One moment.")]


def test_the_silence_begins_at_the_release_however_long_understanding_takes() -> None:
    s = Scene()
    s.join()
    s.press()
    s.release(s.speak(1.0))
    s.wait(0.7)
    s.understand("sort my files")
    s.wait(5.0)
    assert [at for at, _ in fillers(s)] == [2.2]


def test_understanding_that_takes_longer_than_the_silence_is_followed_by_words_at_once() -> None:
    s = Scene()
    s.join()
    s.press()
    s.release(s.speak(1.0))
    s.wait(2.0)
    s.understand("sort my files")
    s.wait(5.0)
    assert [at for at, _ in fillers(s)] == [3.0]


@pytest.mark.parametrize("after", [0.3, 1.19])
def test_an_answer_that_begins_in_time_needs_none(after: float) -> None:
    s = asked()
    s.wait(after)
    s.reply("They are sorted.")
    s.wait(5.0)
    assert not fillers(s)


def test_it_is_said_once_in_a_turn() -> None:
    s = asked()
    s.wait(1.5)
    s.synthesize("One moment.", 0.8)
    s.play(1.0)
    s.happens(events.AgentMessage(s.ticket, "acting", RUN))
    s.wait(60.0)
    assert len(fillers(s)) == 1


def test_a_next_turn_has_other_words() -> None:
    s = asked()
    s.wait(1.5)
    s.happens(events.Interrupted("laptop", None, 0))
    s.say("sort them again")
    s.wait(1.5)
    assert [text for _, text in fillers(s)] == ["One moment.", "Let me think."]


def test_the_answer_follows_the_words_without_a_hole() -> None:
    s = asked()
    s.wait(1.3)
    s.synthesize("One moment.", 0.5)
    s.reply("They are sorted.")
    s.synthesize("They are sorted.", 1.0)
    starts = s.told(m.SpeechStart)
    assert [start.first_sample for start in starts] == [0, 11_025]
    assert len({start.stream for start in starts}) == 1


def test_it_is_no_part_of_what_is_remembered() -> None:
    s = asked()
    s.wait(1.3)
    s.synthesize("One moment.", 0.5)
    s.reply("They are sorted.")
    s.synthesize("They are sorted.", 1.0)
    s.play(1.2)
    s.press()
    assert s.the(effects.HeardOnly).text == "They are"


def test_words_that_follow_it_still_go_on_with_the_request() -> None:
    s = asked()
    s.wait(1.3)
    s.synthesize("One moment.", 0.5)
    s.play(0.2)
    s.say("by name")
    assert s.the(effects.Think).text == "sort my files by name"
    assert s.told(m.SpeechStop)[-1].reason == "interrupted"
    assert not s.all(effects.HeardOnly)


def test_it_does_not_count_as_the_first_sound_of_the_answer() -> None:
    s = asked()
    s.wait(1.3)
    s.synthesize("One moment.", 0.5)
    s.play(0.6)
    s.reply("They are sorted.")
    s.synthesize("They are sorted.", 0.5)
    s.end_work()
    s.end_mouth()
    s.play(0.8)
    marks = s.told(m.Metrics)[-1].marks
    assert marks["first_audio_sent"] == pytest.approx(1900.0)
    assert marks["first_chunk"] == pytest.approx(1900.0)


def test_nobody_is_talked_over() -> None:
    s = asked()
    s.wait(1.0)
    s.join("phone")
    s.press("phone")
    samples = s.speak(1.0, "phone")
    assert not fillers(s)
    s.release(samples, "phone")
    s.happens(events.Heard(2, ""))
    s.wait(5.0)
    assert [at for at, _ in fillers(s)] == [pytest.approx(1.0 + 1.0 + 1.0 + 1.2)]


def test_an_open_microphone_into_which_nobody_speaks_is_no_hindrance() -> None:
    s = asked()
    s.open()
    s.speak(1.5, first=8_000)
    assert [at for at, _ in fillers(s)] == [pytest.approx(2.2)]


def test_a_voice_puts_it_off() -> None:
    s = asked()
    s.wait(1.0)
    utterance = s.voice()
    s.speak(1.0, first=8_000)
    assert not fillers(s)
    s.hear(utterance, "")
    s.wait(5.0)
    assert [at for at, _ in fillers(s)] == [pytest.approx(1.0 + 1.0 + 1.0 + 1.2)]


def test_typed_requests_are_waited_for_in_silence() -> None:
    s = Scene()
    s.join()
    s.happens(events.Typed("laptop", "sort my files"))
    s.wait(10.0)
    assert not fillers(s)


def test_a_device_without_a_loudspeaker_is_told_nothing() -> None:
    s = asked(speaks=False)
    s.wait(10.0)
    assert not s.all(effects.Speak)


def test_while_a_question_waits_for_an_answer_there_is_silence() -> None:
    s = asked()
    ask = m.ApprovalRequest("1", "n", "python", "…", "/work")
    s.wait(0.2)
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", ask))
    s.synthesize("May I run this?", 1.0)
    s.play(1.2)
    s.wait(20.0)
    assert not fillers(s)


def test_code_that_runs_long_after_words_were_spoken_is_spoken_of() -> None:
    s = asked()
    s.wait(0.3)
    s.reply("I sort them.")
    s.synthesize("I sort them.", 1.0)
    s.happens(events.AgentMessage(s.ticket, "acting", RUN))
    s.play(1.0)
    silent = s.now
    s.wait(5.0)
    assert fillers(s) == [(round(silent + 1.2, 6), "I'm on it.")]


def test_it_is_said_in_the_language_of_the_device() -> None:
    s = asked(language="de-DE")
    s.wait(1.5)
    assert fillers(s)[0][1] == "Einen Moment."


def test_a_device_that_changes_its_language_is_spoken_to_in_it_when_there_is_a_voice() -> None:
    s = asked()
    s.happens(events.Preferred("laptop", language="fr"))
    assert s.the(effects.Prefer).preferred.language == "fr"
    s.happens(events.LanguageFound("laptop", "fr"))
    s.wait(1.5)
    assert fillers(s)[0][1] == "Un instant."


def test_who_does_not_want_them_waits_in_silence() -> None:
    s = Scene(TurnMachine(fillers="off"))
    s.join()
    s.say("sort my files")
    s.wait(5.0)
    assert not fillers(s)


def test_a_person_whose_language_no_voice_speaks_is_not_spoken_to_in_another() -> None:
    s = asked()
    s.happens(events.LanguageFound("laptop", ""))
    s.wait(5.0)
    assert not fillers(s)


def test_each_language_has_several_for_both_kinds_of_work() -> None:
    for phrases in PHRASES.values():
        assert len(set(phrases["thinking"])) >= 3
        assert len(set(phrases["acting"])) >= 3
    assert words("thinking", "xx") in FILLERS
    assert is_aside("May I run it, yes or no?")
    assert not is_aside("no")
