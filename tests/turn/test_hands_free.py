"""Without a key: the server finds the end of the words, and tells the device."""

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from tests.turn.scene import FRAME, RATE_IN, Scene, heard_bytes


def scene() -> Scene:
    made = Scene()
    made.join()
    return made


def ends(s: Scene) -> list[m.ListenEnd]:
    return s.told(m.ListenEnd)


def test_what_was_said_before_the_opening_is_heard() -> None:
    s = scene()
    s.open()
    assert heard_bytes(e for _, e in s.done) == 2 * 8_000
    assert s.the(effects.Listen).mode == "hands_free"
    assert s.the(effects.Listen).wait_ms == 6_000


def test_the_end_commits_at_once_and_the_device_is_told() -> None:
    s = scene()
    utterance = s.voice()
    samples = s.speak(1.0, first=8_000)
    s.ends(utterance)
    assert s.when(effects.Finish) == s.now == pytest.approx(1.0)
    assert ends(s) == [m.ListenEnd(1, samples, "ended")]
    assert s.states[-1] == ("committed", "idle", "silent")


def test_words_without_a_key_are_worked_on_as_any() -> None:
    s = scene()
    utterance = s.voice()
    s.speak(1.0, first=8_000)
    s.hear(utterance, "what time is it")
    assert s.the(effects.Think).text == "what time is it"
    assert s.states[-1] == ("idle", "thinking", "silent")


def test_frames_that_cross_with_the_end_are_not_heard() -> None:
    s = scene()
    utterance = s.voice()
    samples = s.speak(1.0, first=8_000)
    s.ends(utterance)
    s.happens(events.AudioHeard("laptop", 1, samples, b"\1\0" * FRAME))
    assert heard_bytes(e for _, e in s.done) == 2 * samples


def test_a_microphone_into_which_nobody_speaks_is_closed_and_forgotten() -> None:
    s = scene()
    utterance = s.open()
    samples = s.speak(5.5, first=8_000)
    s.ends(utterance, "timeout")
    assert ends(s) == [m.ListenEnd(1, samples, "timeout")]
    assert s.all(effects.Forget) == [effects.Forget(utterance)]
    assert not s.all(effects.Finish)
    assert s.states[-1] == ("idle", "idle", "silent")


def test_sound_that_stops_coming_ends_the_utterance_after_two_seconds() -> None:
    s = scene()
    s.voice()
    s.speak(1.0, first=8_000)
    s.wait(5.0)
    # The last frame came 20 ms before the end of its second.
    assert s.when(effects.Finish) == pytest.approx(0.98 + 2.0, abs=1e-6)
    assert ends(s)[-1].reason == "ended"


def test_an_opening_without_any_sound_is_forgotten_after_two_seconds() -> None:
    s = scene()
    s.open(pre_roll_s=0.0)
    s.wait(5.0)
    assert s.when(effects.Forget) == 2.0
    assert ends(s) == [m.ListenEnd(1, 0, "timeout")]


def test_somebody_who_never_stops_is_heard_for_a_minute() -> None:
    s = scene()
    s.voice()
    s.speak(70.0, first=8_000)
    assert s.when(effects.Finish) == pytest.approx(59.5, abs=0.021)
    assert ends(s) == [m.ListenEnd(1, 60 * RATE_IN, "ended")]


def test_a_key_may_end_the_utterance_early() -> None:
    s = scene()
    s.open()
    samples = s.speak(0.5, first=8_000)
    s.release(samples)
    assert s.when(effects.Finish) == pytest.approx(0.5)
    assert not ends(s), "the device knows: it said so"


def test_the_end_of_an_utterance_that_a_key_has_ended_is_no_news() -> None:
    s = scene()
    utterance = s.voice()
    s.release(s.speak(0.5, first=8_000))
    s.ends(utterance)
    assert len(s.all(effects.Finish)) == 1


def test_an_opening_can_be_taken_back() -> None:
    s = scene()
    s.voice()
    s.happens(events.ListenCancelled("laptop", 1))
    assert s.all(effects.Forget)
    assert not ends(s)
    assert s.states[-1] == ("idle", "idle", "silent")


def test_what_was_said_when_the_link_broke_counts_after_five_seconds() -> None:
    s = scene()
    s.voice()
    s.speak(1.0, first=8_000)
    s.happens(events.Left("laptop"))
    s.wait(10.0)
    assert s.when(effects.Finish) == pytest.approx(1.0 + 5.0)


def test_a_device_that_comes_back_goes_on_where_it_was() -> None:
    s = scene()
    s.voice()
    samples = s.speak(1.0, first=8_000)
    s.happens(events.Left("laptop"))
    s.wait(3.0)
    s.join()
    samples = s.speak(6.0, first=samples)
    assert not s.all(effects.Finish)
    s.ends(1)
    assert ends(s)[-1].samples == samples


def test_a_press_takes_the_place_of_an_open_microphone() -> None:
    s = scene()
    s.open()
    s.press()
    assert ends(s) == [m.ListenEnd(1, 8_000, "timeout")]
    assert s.states[-1] == ("listening", "idle", "silent")


def test_a_press_commits_what_was_being_said_without_a_key() -> None:
    s = scene()
    s.voice()
    s.speak(1.0, first=8_000)
    s.press()
    assert s.all(effects.Finish) == [effects.Finish(1)]


def test_words_that_follow_before_the_answer_go_on_with_the_request() -> None:
    s = scene()
    s.hear(s.voice(), "what is the weather")
    first = s.ticket
    s.wait(0.4)
    s.hear(s.voice(), "in Paris")
    assert s.the(effects.Withdraw) == effects.Withdraw(first, "what is the weather")
    assert s.the(effects.Think).text == "what is the weather in Paris"
    assert s.ticket.turn == first.turn


def test_words_that_are_understood_while_the_person_speaks_on_wait_for_the_rest() -> None:
    s = scene()
    first = s.voice()
    s.speak(1.0, first=8_000)
    s.ends(first)
    second = s.voice()
    s.happens(events.Heard(first, "what is the weather"))
    assert not s.all(effects.Think)
    s.hear(second, "in Paris")
    assert [think.text for think in s.all(effects.Think)] == ["what is the weather in Paris"]


def test_a_noise_after_the_request_lets_it_go_on_undisturbed() -> None:
    s = scene()
    s.hear(s.voice(), "what is the weather")
    s.wait(0.2)
    s.hear(s.voice(), "")
    assert len(s.all(effects.Think)) == 1
    assert not s.all(effects.Withdraw)
    assert s.states[-1] == ("idle", "thinking", "silent")


def test_an_answer_waits_for_a_voice_at_its_device_and_no_longer_than_two_seconds() -> None:
    s = scene()
    s.hear(s.voice(), "what is the weather")
    s.wait(0.5)
    utterance = s.voice()
    s.reply("It rains.")
    s.synthesize("It rains.", 1.0)
    s.speak(3.0, first=8_000)
    assert s.when(m.TurnState) == pytest.approx(0.5 + 2.0)
    sent = [at for at, effect in s.done if isinstance(effect, effects.Send)]
    assert sent[0] == pytest.approx(0.5 + 2.0)
    s.ends(utterance, "timeout")


def test_ears_that_fail_leave_the_request_before_as_it_was() -> None:
    s = scene()
    s.say("what is the weather")
    s.press()
    s.release(s.speak(1.0))
    s.happens(events.RecognitionFailed(2, "I could not hear that."))
    assert s.the(effects.Think).text == "what is the weather"
    assert s.states[-1] == ("idle", "thinking", "silent")


@pytest.mark.parametrize("again", [True, False])
def test_voices_of_utterances_that_are_over_are_no_news(again: bool) -> None:
    s = scene()
    utterance = s.voice()
    s.hear(utterance, "hello")
    before = len(s.done)
    s.happens(events.VoiceBegan(utterance, 0))
    if again:
        s.ends(utterance)
    assert len(s.done) == before
