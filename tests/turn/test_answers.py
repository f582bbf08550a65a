"""The answer: paced by what is played, and cut when the person wants silence."""

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from tests.turn.scene import RATE_OUT, Scene


def answering(seconds: float = 3.0, text: str = "one two three four five six") -> Scene:
    """A question was asked, and its whole answer is synthesized."""
    s = Scene()
    s.join()
    s.say("count to six")
    s.reply(text)
    s.synthesize(text, seconds)
    return s


def finish(s: Scene) -> None:
    s.end_work()
    s.end_mouth()


def test_speech_is_sent_at_most_300_ms_ahead_of_what_was_played() -> None:
    s = answering()
    finish(s)
    assert 0.25 <= s.sent / RATE_OUT <= 0.3
    for _ in range(20):
        s.play(0.1)
        assert s.sent - s.played <= 0.3 * RATE_OUT


def test_speech_never_exceeds_what_the_device_can_hold() -> None:
    s = Scene()
    s.join(play_buffer_s=0.1)
    s.say("count")
    s.reply("one two")
    s.synthesize("one two", 2.0)
    assert 0 < s.sent / RATE_OUT <= 0.1


def test_frames_fit_the_device() -> None:
    s = Scene()
    s.join(max_frame_bytes=1_024)
    s.say("count")
    s.reply("one two")
    s.synthesize("one two", 2.0)
    assert max(len(f.pcm) for f in s.all(effects.Send)) <= 1_012


def test_the_first_sound_leaves_with_the_first_chunk() -> None:
    s = Scene()
    s.join()
    s.say("count")
    s.reply("one")
    s.wait(0.2)
    s.synthesize("one", 1.0)
    assert s.when(effects.Send) == s.now


def test_an_answer_that_was_played_to_its_end_leaves_all_idle() -> None:
    s = answering(1.0)
    finish(s)
    s.play(1.2)
    assert s.told(m.SpeechStop) == [m.SpeechStop(1, "done", RATE_OUT)]
    assert s.the(effects.Send).last
    assert s.states[-1] == ("idle", "idle", "silent")
    assert s.told(m.Metrics)


def test_a_second_chunk_goes_on_where_the_first_ended() -> None:
    s = answering(1.0)
    s.synthesize("seven eight", 1.0)
    starts = s.told(m.SpeechStart)
    assert [start.first_sample for start in starts] == [0, RATE_OUT]
    assert starts[1].words[0].start == RATE_OUT
    assert len({start.stream for start in starts}) == 1


def test_a_device_that_stops_playing_is_given_up_after_ten_seconds() -> None:
    s = answering()
    finish(s)
    s.wait(20.0)
    assert s.told(m.SpeechStop)[-1].reason == "failed"
    assert s.states[-1] == ("idle", "idle", "silent")


def test_of_an_answer_that_was_given_up_what_was_played_is_remembered() -> None:
    s = answering()
    finish(s)
    s.play(0.1)
    s.wait(20.0)
    assert s.told(m.SpeechStop)[-1].reason == "failed"
    assert s.the(effects.HeardOnly)
    assert not s.all(effects.SpokenOut)


def test_a_long_silence_between_sentences_is_no_stall() -> None:
    s = answering(0.2)
    s.play(0.3)
    s.wait(60.0)
    assert not s.told(m.SpeechStop)


def test_an_interruption_silences_and_stops_the_work_at_once() -> None:
    s = answering()
    s.play(1.0)
    ticket = s.ticket
    s.happens(events.Interrupted("laptop", 1, RATE_OUT))
    assert s.told(m.SpeechStop)[-1].reason == "interrupted"
    assert s.the(effects.StopThinking).ticket == ticket
    assert s.the(effects.Hush).ticket == ticket
    assert s.states[-1] == ("idle", "idle", "silent")


def test_what_was_heard_is_kept_to_the_word() -> None:
    s = answering(3.0)
    s.play(1.0)
    s.happens(events.Interrupted("laptop", 1, round(1.2 * RATE_OUT)))
    assert s.the(effects.HeardOnly).text == "one two"


def test_a_device_cannot_have_heard_what_was_not_sent() -> None:
    s = answering(3.0)
    s.happens(events.Interrupted("laptop", 1, 3 * RATE_OUT))
    assert s.the(effects.HeardOnly).text == "one"


def test_a_press_over_the_answer_silences_it() -> None:
    s = answering()
    finish(s)
    s.play(0.5)
    s.press()
    assert s.told(m.SpeechStop)[-1].reason == "interrupted"
    assert s.states[-1] == ("listening", "idle", "silent")


def test_nothing_of_an_old_answer_is_sent_after_an_interruption() -> None:
    s = answering()
    old = s.ticket
    s.happens(events.Interrupted("laptop", 1, 0))
    before = len(s.done)
    s.reply("more", old)
    s.synthesize("more", 1.0, old)
    s.happens(events.WorkDone(old))
    assert [effect for _, effect in s.done[before:]] == []


def test_an_old_answer_never_resumes_in_a_new_turn() -> None:
    s = answering()
    old = s.ticket
    s.say("stop that and tell me the time")
    s.synthesize("seven", 1.0, old)
    s.reply("It is noon.")
    s.synthesize("It is noon.", 1.0)
    assert [start.text for start in s.told(m.SpeechStart)] == [
        "one two three four five six",
        "It is noon.",
    ]
    assert s.told(m.SpeechStart)[-1].stream == 2


def test_a_press_before_the_answer_begins_goes_on_with_the_same_turn() -> None:
    s = Scene()
    s.join()
    s.say("what is the weather")
    first = s.ticket
    s.say("in Paris")
    assert s.the(effects.Withdraw) == effects.Withdraw(first, "what is the weather")
    assert s.the(effects.Think).text == "what is the weather in Paris"
    assert s.ticket.turn == first.turn
    assert s.ticket.gen > first.gen


def test_a_press_with_nothing_said_lets_the_first_request_go_on() -> None:
    s = Scene()
    s.join()
    s.say("what is the weather")
    s.say("")
    assert s.the(effects.Think).text == "what is the weather"


def test_a_press_after_code_began_lets_the_code_run_until_words_come() -> None:
    s = Scene()
    s.join()
    s.say("sort my files")
    s.happens(events.AgentMessage(s.ticket, "acting", m.CodeStart("1", "python", "…")))
    s.press()
    assert not s.all(effects.StopThinking)
    s.release(s.speak(1.0))
    s.understand("never mind")
    assert s.all(effects.StopThinking)
    assert not s.all(effects.Withdraw)
    assert s.the(effects.Think).text == "never mind"


def test_work_that_fails_says_so_on_the_screen_and_aloud() -> None:
    s = Scene()
    s.join()
    s.say("hello")
    s.happens(events.WorkFailed(s.ticket, "The model does not answer."))
    assert s.told(m.Error)[-1].message == "The model does not answer."
    assert "The model does not answer." in s.the(effects.Speak).text
    s.synthesize("The model does not answer.", 1.0)
    s.end_mouth()
    s.play(1.2)
    assert s.states[-1] == ("idle", "idle", "silent")


def test_a_voice_that_fails_leaves_the_text_and_an_idle_turn() -> None:
    s = Scene()
    s.join()
    s.say("hello")
    s.reply("Hello.")
    s.happens(events.SynthesisFailed(s.ticket, "The voice has failed."))
    s.end_work()
    assert s.told(m.ReplyDelta) == [m.ReplyDelta("Hello.")]
    assert s.told(m.Error)[-1].code == "mouth_failed"
    assert s.states[-1] == ("idle", "idle", "silent")


def test_a_device_without_a_loudspeaker_is_answered_in_text_alone() -> None:
    s = Scene()
    s.join("screen", speaks=False)
    s.happens(events.Typed("screen", "hello"))
    s.reply("Hello.")
    s.end_work()
    assert not s.all(effects.Speak)
    assert s.states[-1] == ("idle", "idle", "silent")


def test_an_answer_without_words_leaves_all_idle() -> None:
    s = Scene()
    s.join()
    s.say("hello")
    finish(s)
    assert s.states[-1] == ("idle", "idle", "silent")


def test_work_goes_on_when_its_device_leaves() -> None:
    s = answering()
    s.happens(events.Left("laptop"))
    assert s.all(effects.Hush)
    assert not s.all(effects.StopThinking)
    s.reply(" seven")
    assert s.told(m.ReplyDelta)[-1].text == " seven"
    s.end_work()
    assert s.states[-1] == ("idle", "idle", "silent")


def test_a_spoken_request_is_asked_back_aloud_and_a_typed_one_is_not() -> None:
    for spoken in (True, False):
        s = Scene()
        s.join()
        if spoken:
            s.say("sort my files")
        else:
            s.happens(events.Typed("laptop", "sort my files"))
        ask = m.ApprovalRequest("1", "n", "python", "…", "/work")
        s.happens(events.AgentMessage(s.ticket, "awaiting_approval", ask))
        said = "".join(e.text for e in s.all(effects.Speak))
        assert ("May I run a line of Python?" in said) == spoken


def test_a_decision_goes_to_those_who_asked_for_it() -> None:
    s = Scene()
    s.join()
    s.say("sort my files")
    yes = events.ApprovalAnswered("laptop", "1", "n", "yes", None)
    s.happens(yes)
    assert s.the(effects.AnswerApproval).answer == yes


def test_metrics_count_from_the_release() -> None:
    s = Scene()
    s.join()
    s.press()
    s.release(s.speak(1.0))
    s.wait(0.08)
    s.understand("hello")
    s.wait(0.1)
    s.reply("Hello.")
    s.end_work()
    s.wait(0.07)
    s.synthesize("Hello.", 0.5)
    s.end_mouth()
    s.play(0.6)
    assert s.told(m.Metrics)[-1].marks == {
        "final": 80.0,
        "first_token": 180.0,
        "first_clause": 250.0,
        "first_chunk": 250.0,
        "first_audio_sent": 250.0,
        "first_audio_played": 350.0,
    }


def test_a_turn_that_is_interrupted_has_its_metrics_too() -> None:
    s = answering(1.0)
    s.play(0.5)
    s.happens(events.Interrupted("laptop", 1, 8_000))
    assert "first_audio_played" in s.told(m.Metrics)[-1].marks
    assert len(s.told(m.Metrics)) == 1


def test_another_device_waits_for_its_turn() -> None:
    s = answering(1.0)
    s.join("phone")
    s.say("what time is it", device="phone")
    assert s.the(effects.Think).device == "laptop"
    finish(s)
    s.play(1.2)
    assert s.the(effects.Think).device == "phone"


def test_too_many_waiting_requests_are_refused_aloud() -> None:
    s = answering()
    for number in range(10):
        s.join(f"phone {number}", speaks=False)
        s.happens(events.Typed(f"phone {number}", "me too"))
    assert [e.code for e in s.told(m.Error)] == ["too_fast", "too_fast"]


def test_a_turn_is_not_over_while_its_words_are_being_synthesized() -> None:
    s = Scene()
    s.join()
    s.say("hello")
    s.reply("Hello.")
    s.end_work()
    s.wait(0.3)
    assert s.states[-1] == ("idle", "idle", "speaking")
    s.synthesize("Hello.", 0.5)
    s.end_mouth()
    s.play(0.6)
    assert s.states[-1] == ("idle", "idle", "silent")
