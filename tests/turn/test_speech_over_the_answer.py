"""A voice over the answer: a cough does not kill it, and words do."""

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.relevance.backchannel import is_backchannel
from tests.turn.scene import RATE_OUT, Scene

TEXT = "one two three four five six"


def speaking(played: float = 1.0) -> Scene:
    """An answer of three seconds, half a second a word, is being played."""
    s = Scene()
    s.join()
    s.say("count to six")
    s.reply(TEXT)
    s.synthesize(TEXT, 3.0)
    s.end_work()
    s.end_mouth()
    s.play(played)
    return s


def mouths(s: Scene) -> list[str]:
    return [state[2] for state in s.states]


def test_an_open_microphone_alone_does_not_touch_the_answer() -> None:
    s = speaking()
    s.open()
    assert mouths(s)[-1] == "speaking"
    assert not s.told(m.SpeechStop)


def test_a_voice_holds_the_answer_at_once() -> None:
    s = speaking()
    began = s.now
    s.voice()
    assert mouths(s)[-1] == "ducked"
    assert s.when(m.TurnState) == began
    sent = s.sent
    s.play(0.3)
    assert s.sent == sent


def test_it_goes_on_where_it_stopped_when_no_words_come_in_two_seconds() -> None:
    s = speaking()
    began = s.now
    s.voice()
    sent = s.sent
    s.speak(3.0, first=8_000)
    assert s.when_told(m.TurnState("listening", "idle", "speaking")) == pytest.approx(began + 2.0)
    assert s.sent == sent
    s.play(0.3)
    assert s.sent > sent
    assert not s.told(m.SpeechStop)


def test_no_sample_is_lost_or_said_twice_around_a_cough() -> None:
    s = speaking()
    utterance = s.voice()
    s.play(0.4)
    s.hear(utterance, "")
    s.play(3.0)
    sends = s.all(effects.Send)
    ends = [send.first_sample + len(send.pcm) // 2 for send in sends]
    assert [send.first_sample for send in sends[1:]] == ends[:-1]
    assert ends[-1] == 3 * RATE_OUT
    assert s.told(m.SpeechStop)[-1].reason == "done"
    assert not s.all(effects.HeardOnly)


@pytest.mark.parametrize("said", ["", "Mm-hm.", "Yeah, okay.", "(coughs)", "Aha!"])
def test_the_sounds_of_a_listener_ask_for_nothing(said: str) -> None:
    s = speaking()
    utterance = s.voice()
    s.speak(0.6, first=8_000)
    s.hear(utterance, said)
    assert mouths(s)[-1] == "speaking"
    assert s.told(m.SttFinal)[-1] == m.SttFinal("")
    assert len(s.all(effects.Think)) == 1
    assert not s.told(m.SpeechStop)


@pytest.mark.parametrize("said", ["Start.", "Star"])
def test_a_hurried_stop_that_was_taken_for_another_word_ends_the_answer(said: str) -> None:
    s = speaking()
    utterance = s.voice()
    s.speak(0.6, first=8_000)
    s.hear(utterance, said)
    assert s.told(m.SpeechStop)[-1].reason == "interrupted"
    assert len(s.all(effects.Think)) == 1


@pytest.mark.parametrize("said", ["Start the timer.", "Okay, start.", "The star."])
def test_words_that_only_begin_like_a_hurried_stop_are_a_request(said: str) -> None:
    s = speaking()
    s.hear(s.voice(), said)
    assert s.all(effects.Think)[-1].text == said


def test_when_nothing_is_said_start_is_a_request() -> None:
    s = Scene()
    s.join()
    s.hear(s.voice(), "Start.")
    assert s.the(effects.Think).text == "Start."


def test_start_over_a_question_is_no_hurried_stop() -> None:
    s = Scene()
    s.join()
    s.say("what about my backup")
    s.reply("It is old. Shall I start it, or wait?")
    s.synthesize("It is old.", 1.0)
    s.synthesize("Shall I start it, or wait?", 1.0)
    s.end_work()
    s.end_mouth()
    s.play(1.9)
    s.hear(s.voice(), "Start.")
    assert s.all(effects.Think)[-1].text == "Start."


def test_when_nothing_is_said_a_murmur_is_words_like_any() -> None:
    s = Scene()
    s.join()
    s.hear(s.voice(), "Okay.")
    assert s.the(effects.Think).text == "Okay."


def test_words_hold_the_answer_until_they_are_understood() -> None:
    s = speaking()
    utterance = s.voice()
    samples = s.speak(1.0, first=8_000)
    s.partly(utterance, "", "what about")
    s.speak(4.0, first=samples)
    assert mouths(s)[-1] == "ducked"
    s.hear(utterance, "what about seven")
    assert s.told(m.SpeechStop)[-1].reason == "interrupted"
    assert s.the(effects.Think).text == "what about seven"


def test_words_that_are_certain_end_the_answer_before_the_sentence_is_over() -> None:
    s = speaking()
    utterance = s.voice()
    samples = s.speak(0.8, first=8_000)
    s.partly(utterance, "", "what about")
    assert not s.told(m.SpeechStop)
    s.speak(0.4, first=samples)
    s.partly(utterance, "what about", " seven")
    assert s.when(m.SpeechStop) == s.now
    assert mouths(s)[-1] == "silent"


def test_a_spoken_stop_ends_the_answer_before_it_is_certain() -> None:
    s = speaking()
    utterance = s.voice()
    s.speak(0.4, first=8_000)
    s.partly(utterance, "", "Stop.", stop=True)
    assert s.when(m.SpeechStop) == s.now
    s.hear(utterance, "Stop.", "stop")
    assert len(s.all(effects.Think)) == 1
    assert s.states[-1] == ("idle", "idle", "silent")


def test_a_spoken_stop_ends_the_work_too() -> None:
    s = Scene()
    s.join()
    s.say("sort my files")
    s.reply("I sort them.")
    s.happens(events.AgentMessage(s.ticket, "acting", m.CodeStart("1", "python", "…")))
    s.synthesize("I sort them.", 2.0)
    s.play(0.5)
    ticket = s.ticket
    s.hear(s.voice(), "stop", "stop")
    assert s.the(effects.StopThinking).ticket == ticket
    assert s.states[-1] == ("idle", "idle", "silent")


def test_what_was_heard_before_the_voice_is_what_is_remembered() -> None:
    s = speaking(1.0)
    utterance = s.voice()
    s.play(0.2)
    s.speak(0.5, first=8_000)
    s.hear(utterance, "and then what")
    assert s.the(effects.HeardOnly).text == "one two"


def test_what_is_played_while_it_is_held_was_heard() -> None:
    s = speaking(1.0)
    utterance = s.voice()
    s.play(0.3)
    s.speak(0.5, first=8_000)
    s.hear(utterance, "and then what")
    assert s.the(effects.HeardOnly).text == "one two three"


def test_it_is_remembered_before_the_next_request_begins() -> None:
    s = speaking()
    s.hear(s.voice(), "and then what")
    kinds = [type(effect) for _, effect in s.done]
    assert kinds.index(effects.HeardOnly) < len(kinds) - 1 - kinds[::-1].index(effects.Think)


def test_a_device_that_plays_nothing_while_it_is_held_has_not_lost_its_loudspeaker() -> None:
    s = speaking()
    utterance = s.voice()
    samples = 8_000
    for _ in range(6):
        s.partly(utterance, "", f"words {samples}")
        samples = s.speak(2.0, first=samples)
    s.hear(utterance, "yeah")
    s.wait(9.0)
    assert not s.told(m.SpeechStop)
    s.wait(2.0)
    assert s.told(m.SpeechStop)[-1].reason == "failed"


def test_a_voice_at_another_device_does_not_hold_the_answer() -> None:
    s = speaking()
    s.join("phone")
    s.voice("phone")
    assert mouths(s)[-1] == "speaking"


def test_words_at_another_device_wait_for_the_end_of_the_answer() -> None:
    s = speaking()
    s.join("phone")
    utterance = s.voice("phone")
    s.hear(utterance, "what time is it")
    assert s.the(effects.Think).text == "count to six"
    s.play(3.0, device="laptop")
    assert s.the(effects.Think).text == "what time is it"


def test_a_voice_over_running_code_lets_it_run_until_words_come() -> None:
    s = Scene()
    s.join()
    s.say("sort my files")
    s.happens(events.AgentMessage(s.ticket, "acting", m.CodeStart("1", "python", "…")))
    utterance = s.voice()
    s.speak(1.0, first=8_000)
    assert not s.all(effects.StopThinking)
    s.hear(utterance, "never mind the old ones")
    assert s.all(effects.StopThinking)


def test_a_timeout_lets_the_answer_go_on() -> None:
    s = speaking()
    utterance = s.voice()
    s.speak(1.0, first=8_000)
    s.ends(utterance, "timeout")
    assert mouths(s)[-1] == "speaking"


def test_ears_that_fail_let_the_answer_go_on() -> None:
    s = speaking()
    utterance = s.voice()
    s.ends(utterance)
    s.happens(events.RecognitionFailed(utterance, "I could not hear that."))
    assert mouths(s)[-1] == "speaking"


def test_a_press_silences_what_a_voice_only_held() -> None:
    s = speaking()
    s.voice()
    s.press()
    assert s.told(m.SpeechStop)[-1].reason == "interrupted"


@pytest.mark.parametrize("text", ["", "mm-hm", "Mm-hmm.", "uh huh", "Okay, yeah!", "[laughter]"])
def test_a_murmur(text: str) -> None:
    assert is_backchannel(text)


@pytest.mark.parametrize("text", ["stop", "yes do it", "no", "what", "okay stop", "wait", "nein"])
def test_no_murmur(text: str) -> None:
    assert not is_backchannel(text)
