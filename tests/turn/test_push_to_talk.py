"""Hold-to-talk where it is not a plain press and release; and two devices."""

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from tests.turn.scene import FRAME, RATE_OUT, Scene

RUN = m.CodeStart("1", "python", "…")
QUESTION = m.ApprovalRequest("1", "n", "python", "…", "/work")


def scene(*devices: str) -> Scene:
    s = Scene()
    for device in devices or ("laptop",):
        s.join(device)
    return s


def answering(seconds: float = 3.0, text: str = "one two three four five six") -> Scene:
    s = scene()
    s.say("count to six")
    s.reply(text)
    s.synthesize(text, seconds)
    return s


# --- taps ---


def test_a_tap_of_149_ms_is_no_utterance_and_one_of_150_is() -> None:
    for samples, finishes in ((2_399, 0), (2_400, 1)):
        s = scene()
        s.press()
        s.happens(events.AudioHeard("laptop", 1, 0, bytes(2 * samples)))
        s.release(samples)
        assert len(s.all(effects.Finish)) == finishes


def test_a_tap_over_the_answer_silences_it_and_nothing_follows() -> None:
    s = answering()
    s.end_work()
    s.play(0.5)
    s.press()
    assert s.when(m.SpeechStop) == s.now
    s.release(s.speak(0.1))
    s.wait(10.0)
    assert len(s.all(effects.Think)) == 1
    assert s.states[-1] == ("idle", "idle", "silent")


def test_a_tap_while_it_thinks_changes_nothing_in_the_end() -> None:
    s = scene()
    s.say("what is the weather")
    s.press()
    s.release(s.speak(0.1))
    assert [think.text for think in s.all(effects.Think)] == ["what is the weather"] * 2
    assert s.states[-1] == ("idle", "thinking", "silent")


# --- pressing again ---


def test_a_press_after_text_and_before_sound_goes_on_with_the_request() -> None:
    s = scene()
    s.say("what is the weather")
    s.reply("It is sunny.")
    s.say("in Paris")
    assert s.the(effects.Think).text == "what is the weather in Paris"
    assert s.all(effects.Withdraw)
    assert not s.all(effects.HeardOnly)


def test_a_press_after_the_work_and_before_sound_goes_on_with_the_request() -> None:
    s = scene()
    s.say("what is the weather")
    s.reply("It is sunny.")
    s.end_work()
    s.say("in Paris")
    assert s.the(effects.Think).text == "what is the weather in Paris"


def test_a_press_after_the_first_sound_is_a_new_request() -> None:
    s = scene()
    s.say("what is the weather")
    s.reply("It is sunny.")
    s.synthesize("It is sunny.", 1.0)
    s.say("in Paris")
    assert s.the(effects.Think).text == "in Paris"
    assert not s.all(effects.Withdraw)


def test_a_request_may_be_said_in_three_pieces() -> None:
    s = scene()
    s.say("what is")
    s.say("the weather")
    s.say("in Paris")
    assert s.the(effects.Think).text == "what is the weather in Paris"
    assert [w.text for w in s.all(effects.Withdraw)] == ["what is", "what is the weather"]
    assert s.ticket.turn == 1


def test_words_long_after_an_unanswered_request_are_not_joined_to_it() -> None:
    s = scene()
    s.say("write a poem")
    s.wait(20.0)
    s.say("what time is it")
    assert s.all(effects.Think)[-1].text == "what time is it"


def test_a_press_while_the_words_before_are_worked_out_joins_them() -> None:
    s = scene()
    s.press()
    s.release(s.speak(1.0))
    s.press()
    s.happens(events.Heard(1, "what is the weather"))
    assert not s.all(effects.Think)
    s.release(s.speak(1.0))
    s.happens(events.Heard(2, "in Paris"))
    assert [think.text for think in s.all(effects.Think)] == ["what is the weather in Paris"]


def test_a_press_with_nothing_said_after_words_lets_them_count() -> None:
    s = scene()
    s.press()
    s.release(s.speak(1.0))
    s.press()
    s.happens(events.Heard(1, "what is the weather"))
    s.happens(events.ListenCancelled("laptop", 2))
    assert s.the(effects.Think).text == "what is the weather"


def test_a_taken_back_request_is_not_joined_to_another_persons_turn() -> None:
    s = scene("laptop", "phone")
    s.say("what is the weather")
    s.press()
    samples = s.speak(1.0)
    stream = s.streams
    s.happens(events.Typed("phone", "hello"))
    s.reply("Hello.")
    s.end_work()
    s.end_mouth()
    s.happens(events.ListenStopped("laptop", stream, samples))
    s.understand("in Paris")
    thinks = s.all(effects.Think)
    assert thinks[-1].text == "what is the weather in Paris"
    assert len({think.ticket for think in thinks}) == len(thinks)


# --- pressing over speech ---


def test_code_that_runs_goes_on_while_the_key_is_held_and_is_not_talked_of() -> None:
    s = scene()
    s.say("sort my files")
    s.happens(events.AgentMessage(s.ticket, "acting", RUN))
    s.press()
    s.reply("They are sorted.")
    s.synthesize("They are sorted.", 1.0)
    samples = s.speak(1.0)
    assert not s.all(effects.Send)
    s.release(samples)
    s.understand("")
    assert s.when(effects.Send) == s.now


def test_what_follows_a_press_without_words_is_spoken_again() -> None:
    s = scene()
    s.say("sort my files")
    s.reply("I sort them now.")
    s.synthesize("I sort them now.", 2.0)
    s.happens(events.AgentMessage(s.ticket, "acting", RUN))
    s.play(0.5)
    s.say("")
    s.reply("They are sorted.")
    s.synthesize("They are sorted.", 1.0)
    assert s.told(m.SpeechStart)[-1].stream == 2
    s.end_work()
    s.end_mouth()
    s.played = 0
    s.play(1.2)
    assert s.states[-1] == ("idle", "idle", "silent")
    assert not s.all(effects.HeardOnly), "its end was heard"


def test_what_was_heard_before_and_after_a_press_without_words_is_remembered() -> None:
    s = scene()
    s.say("sort my files")
    s.reply("I sort them now.")
    s.synthesize("I sort them now.", 2.0)
    s.happens(events.AgentMessage(s.ticket, "acting", RUN))
    s.play(1.0)
    s.say("")
    s.reply("They are sorted.")
    s.synthesize("They are sorted.", 3.0)
    s.played = 0
    s.play(1.0)
    s.happens(events.Interrupted("laptop", 2, RATE_OUT))
    assert s.the(effects.HeardOnly).text == "I sort They"


def test_speech_that_the_person_did_not_wait_for_was_not_heard() -> None:
    s = scene()
    s.say("hello")
    s.reply("Hello there.")
    s.end_work()
    s.happens(events.Interrupted("laptop", None, 0))
    assert s.the(effects.HeardOnly).text == ""


def test_typing_over_the_answer_remembers_what_was_heard() -> None:
    s = answering()
    s.play(1.2)
    s.happens(events.Typed("laptop", "and now?"))
    assert s.the(effects.HeardOnly).text == "one two"
    assert s.the(effects.Think).text == "and now?"


def test_a_device_that_vanishes_over_the_answer_has_heard_what_it_reported() -> None:
    s = answering()
    s.end_work()
    s.play(1.2)
    s.happens(events.Left("laptop"))
    assert s.the(effects.HeardOnly).text == "one two"
    assert s.states[-1] == ("idle", "idle", "silent")


def test_a_device_that_comes_back_hears_the_rest_of_a_long_work() -> None:
    s = answering()
    s.happens(events.Left("laptop"))
    s.join()
    s.reply(" seven")
    assert s.the(effects.Speak).text == " seven"
    assert s.the(effects.Speak).device == "laptop"


# --- the link ---


def test_a_link_that_is_back_while_the_key_is_held_costs_nothing() -> None:
    s = scene()
    s.press()
    samples = s.speak(1.0)
    s.happens(events.Left("laptop"))
    s.wait(4.0)
    s.join(returns=True)
    s.happens(events.AudioHeard("laptop", 1, samples, bytes(2 * FRAME)))
    s.wait(30.0)
    assert not s.all(effects.Finish)
    s.release(samples + FRAME)
    assert s.when(effects.Finish) == s.now


# --- two devices ---


def test_two_people_may_speak_at_once_and_both_are_answered() -> None:
    s = scene("laptop", "phone")
    s.happens(events.ListenStarted("laptop", 1))
    s.happens(events.ListenStarted("phone", 1))
    for device in ("laptop", "phone"):
        s.happens(events.AudioHeard(device, 1, 0, bytes(32_000)))
        s.happens(events.ListenStopped(device, 1, 16_000))
    s.happens(events.Heard(2, "from the phone"))
    s.happens(events.Heard(1, "from the laptop"))
    assert s.the(effects.Think).device == "phone"
    s.end_work()
    s.end_mouth()
    assert s.the(effects.Think).device == "laptop"


def test_a_stop_ends_the_answer_whoever_says_it() -> None:
    s = answering()
    s.join("phone")
    s.say("stop", device="phone", meaning="stop")
    assert s.told(m.SpeechStop)[-1].reason == "interrupted"
    assert s.all(effects.StopThinking)


def test_a_stop_does_not_take_another_persons_turn() -> None:
    s = answering()
    s.join("phone")
    s.happens(events.Typed("phone", "what time is it"))
    s.happens(events.Interrupted("laptop", None, 0))
    assert s.the(effects.Think).text == "what time is it"


def test_a_stop_takes_ones_own_request_that_waits() -> None:
    s = answering()
    s.join("phone")
    s.happens(events.Typed("phone", "what time is it"))
    s.happens(events.Interrupted("phone", None, 0))
    s.wait(1.0)
    assert [think.text for think in s.all(effects.Think)] == ["count to six"]


def test_a_machine_that_rests_drops_all_that_waits() -> None:
    s = answering()
    s.join("phone")
    s.happens(events.Typed("phone", "what time is it"))
    s.happens(events.Interrupted("", None, 0))
    assert len(s.all(effects.Think)) == 1
    assert s.states[-1] == ("idle", "idle", "silent")


# --- yes and no ---


def ask(s: Scene) -> None:
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", QUESTION))
    s.happens(events.QuestionShown("laptop", QUESTION.id))


def asked(*, spoken: bool = True) -> Scene:
    """Code waits for a say-so; the question was heard out at 2.2 s."""
    s = scene()
    if spoken:
        s.say("sort my files")
    else:
        s.happens(events.Typed("laptop", "sort my files"))
    ask(s)
    if spoken:
        s.synthesize("May I run this?", 1.0)
        s.play(1.2)
    return s


def test_a_yes_without_a_key_counts_when_it_began_after_the_question() -> None:
    s = asked()
    s.wait(0.4)
    utterance = s.voice(at_s=0.3)
    s.hear(utterance, "yes", "yes")
    assert s.the(effects.AnswerApprovalByWord).decision == "yes"


@pytest.mark.parametrize(("voice_at", "counts"), [(0.05, False), (0.15, True)])
def test_a_yes_that_began_in_the_question_does_not_count(voice_at: float, counts: bool) -> None:
    # The microphone opened 0.4 s after the question's last sound, with half a second from before.
    s = asked()
    s.wait(0.2)
    utterance = s.voice(at_s=voice_at)
    s.hear(utterance, "yes", "yes")
    assert bool(s.all(effects.AnswerApprovalByWord)) == counts


def test_a_yes_over_the_question_lets_it_be_asked_again() -> None:
    s = scene()
    s.say("sort my files")
    ask(s)
    s.synthesize("May I run this?", 1.0)
    s.play(0.3)
    s.hear(s.voice(), "yes", "yes")
    assert not s.all(effects.AnswerApprovalByWord)
    assert "yes or no" in s.the(effects.Speak).text
    assert s.states[-1][2] == "speaking"


def test_a_murmur_over_the_question_is_no_yes() -> None:
    s = scene()
    s.say("sort my files")
    ask(s)
    s.synthesize("May I run this?", 1.0)
    s.play(0.3)
    s.hear(s.voice(), "mm-hm")
    assert not s.all(effects.AnswerApprovalByWord)
    assert s.state_of_work == "awaiting_approval"


def test_a_no_without_a_key_counts_even_over_the_question() -> None:
    s = scene()
    s.say("sort my files")
    ask(s)
    s.synthesize("May I run this?", 1.0)
    s.play(0.3)
    s.hear(s.voice(), "no", "no")
    assert s.the(effects.AnswerApprovalByWord).decision == "no"


def test_a_yes_without_a_key_from_another_device_is_no_approval() -> None:
    s = asked()
    s.join("phone")
    s.wait(1.0)
    s.hear(s.voice("phone"), "yes", "yes")
    assert not s.all(effects.AnswerApprovalByWord)


def test_silence_is_no_yes() -> None:
    s = asked()
    s.wait(0.5)
    utterance = s.open()
    s.speak(5.0, first=8_000)
    s.ends(utterance, "timeout")
    assert not s.all(effects.AnswerApprovalByWord)
    assert s.state_of_work == "awaiting_approval"
