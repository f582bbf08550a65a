"""Hold-to-talk: what a press, a release and everything between them mean."""

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from tests.turn.scene import FRAME, RATE_IN, Scene, heard_bytes


def scene() -> Scene:
    made = Scene()
    made.join()
    return made


def test_a_release_commits_at_once() -> None:
    s = scene()
    s.press()
    s.release(s.speak(1.0))
    assert s.when(effects.Finish) == s.now
    assert heard_bytes(e for _, e in s.done) == 2 * RATE_IN


def test_frames_that_follow_the_release_belong_to_the_utterance() -> None:
    s = scene()
    s.press()
    samples = s.speak(1.0)
    s.release(samples + 2 * FRAME)
    assert not s.all(effects.Finish)
    s.wait(0.05)
    s.happens(events.AudioHeard("laptop", 1, samples, bytes(4 * FRAME)))
    assert s.when(effects.Finish) == s.now
    assert heard_bytes(e for _, e in s.done) == 2 * (samples + 2 * FRAME)


def test_frames_that_never_come_are_waited_for_two_seconds() -> None:
    s = scene()
    s.press()
    samples = s.speak(1.0)
    released = s.now
    s.release(samples + FRAME)
    s.wait(5.0)
    assert s.when(effects.Finish) == released + 2.0


def test_what_was_kept_of_several_utterances_comes_in_turn_and_whole() -> None:
    s = scene()
    samples = 5 * RATE_IN
    for _ in range(2):
        s.press()
        s.release(samples)
    for stream in (1, 2):
        for first in range(0, samples, RATE_IN):
            s.happens(events.AudioHeard("laptop", stream, first, bytes(2 * RATE_IN)))
            s.wait(1.0)
    assert heard_bytes(e for _, e in s.done) == 2 * 2 * samples


def test_frames_beyond_the_announced_length_are_not_heard() -> None:
    s = scene()
    s.press()
    samples = s.speak(1.0)
    s.release(samples)
    s.happens(events.AudioHeard("laptop", 1, samples, bytes(2 * FRAME)))
    assert heard_bytes(e for _, e in s.done) == 2 * samples


def test_audio_that_is_sent_again_is_heard_once() -> None:
    s = scene()
    s.press()
    s.speak(0.5)
    s.speak(0.7)
    assert heard_bytes(e for _, e in s.done) == 2 * round(0.7 * RATE_IN)


def test_a_short_hole_in_the_audio_is_silence() -> None:
    s = scene()
    s.press()
    samples = s.speak(0.5)
    s.speak(0.5, first=samples + 10 * FRAME)
    assert heard_bytes(e for _, e in s.done) == 2 * (RATE_IN + 10 * FRAME)


def test_a_long_hole_ends_the_utterance_before_it() -> None:
    s = scene()
    s.press()
    samples = s.speak(0.5)
    s.happens(events.AudioHeard("laptop", 1, samples + 2 * RATE_IN, bytes(2 * FRAME)))
    assert s.all(effects.Finish)
    assert heard_bytes(e for _, e in s.done) == 2 * samples


def test_a_lost_release_commits_after_a_minute() -> None:
    s = scene()
    s.press()
    s.speak(61.0)
    assert abs(s.when(effects.Finish) - 60.0) <= 0.02
    assert heard_bytes(e for _, e in s.done) == 2 * 60 * RATE_IN


def test_a_tap_is_not_an_utterance() -> None:
    s = scene()
    s.press()
    s.release(s.speak(0.1))
    assert s.all(effects.Forget)
    assert not s.all(effects.Finish)
    assert s.states[-1] == ("idle", "idle", "silent")


def test_a_cancelled_utterance_is_forgotten() -> None:
    s = scene()
    s.press()
    s.speak(1.0)
    s.happens(events.ListenCancelled("laptop", 1))
    assert s.all(effects.Forget)
    s.wait(70.0)
    assert not s.all(effects.Finish)


def test_an_empty_transcript_starts_no_work() -> None:
    s = scene()
    s.say("")
    assert s.told(m.SttFinal) == [m.SttFinal("")]
    assert not s.all(effects.Think)
    assert s.states[-1] == ("idle", "idle", "silent")


def test_words_are_shown_and_worked_on() -> None:
    s = scene()
    s.say("what time is it")
    assert s.told(m.SttFinal) == [m.SttFinal("what time is it")]
    assert s.the(effects.Think).text == "what time is it"
    assert s.states == [
        ("idle", "idle", "silent"),
        ("listening", "idle", "silent"),
        ("committed", "idle", "silent"),
        ("idle", "thinking", "silent"),
    ]


def test_what_was_said_when_the_link_broke_counts_after_a_grace() -> None:
    s = scene()
    s.press()
    s.speak(2.0)
    s.happens(events.Left("laptop"))
    s.wait(10.0)
    assert s.when(effects.Finish) == pytest.approx(2.0 + 5.0)
    s.understand("switch off the light")
    assert s.the(effects.Think).text == "switch off the light"


def test_audio_is_acknowledged_while_it_comes_and_when_it_is_whole() -> None:
    s = scene()
    s.press()
    s.release(s.speak(0.5))
    acknowledged = [ack.samples for ack in s.told(m.AudioAck)]
    assert acknowledged == [3_200, 6_400, 8_000]


def test_a_second_press_without_a_release_keeps_what_was_said() -> None:
    s = scene()
    s.press()
    s.speak(1.0)
    s.press()
    assert s.all(effects.Finish) == [effects.Finish(1)]
    assert s.machine.state.ears == "listening"


def test_failing_ears_say_so_and_the_turn_is_over() -> None:
    s = scene()
    s.press()
    s.release(s.speak(1.0))
    s.happens(events.RecognitionFailed(1, "I could not hear that. Please say it again."))
    assert s.told(m.Error)[0].code == "ears_failed"
    assert s.states[-1] == ("idle", "idle", "silent")


def test_partial_transcripts_go_to_the_device_that_speaks() -> None:
    s = scene()
    s.join("phone")
    s.press()
    s.speak(0.4)
    s.happens(events.PartlyHeard(1, "what", " is"))
    assert s.told(m.SttPartial, "laptop") == [m.SttPartial("what", " is")]
    assert s.told(m.SttPartial, "phone") == []


def test_a_device_that_comes_back_goes_on_with_what_it_was_saying() -> None:
    s = scene()
    s.press()
    samples = s.speak(1.0)
    s.happens(events.Left("laptop"))
    s.wait(4.0)
    s.join(returns=True)
    s.wait(10.0)
    assert not s.all(effects.Finish)
    s.release(s.speak(1.0, first=samples))
    assert heard_bytes(e for _, e in s.done) == 2 * 2 * RATE_IN


def test_a_new_device_of_an_old_name_does_not_go_on_with_what_that_one_said() -> None:
    s = scene()
    s.press()
    s.speak(1.0)
    left = s.now
    s.happens(events.Left("laptop"))
    s.wait(1.0)
    s.join()
    s.wait(10.0)
    assert s.when(effects.Finish) == left + 5.0


def frame(value: int) -> bytes:
    return bytes([value, 0]) * FRAME


def fed(s: Scene) -> bytes:
    return b"".join(e.pcm for _, e in s.done if isinstance(e, effects.Feed))


def test_sound_that_was_overtaken_leaves_silence_in_its_place() -> None:
    s = scene()
    s.press()
    for place in (0, 2, 1, 3):
        s.happens(events.AudioHeard("laptop", 1, place * FRAME, frame(place + 1)))
    assert fed(s) == frame(1) + bytes(2 * FRAME) + frame(3) + frame(4)


def test_sound_may_come_faster_than_it_is_spoken() -> None:
    s = scene()
    s.press()
    for place in range(100):
        s.happens(events.AudioHeard("laptop", 1, place * FRAME, frame(1)))
    s.release(100 * FRAME)
    assert s.when(effects.Finish) == 0.0
    assert fed(s) == frame(1) * 100


def test_sound_may_come_slower_than_it_is_spoken_and_in_bursts() -> None:
    s = scene()
    s.press()
    for place in range(0, 100, 10):
        for step in range(10):
            s.happens(events.AudioHeard("laptop", 1, (place + step) * FRAME, frame(1)))
        s.wait(0.5)  # ten frames are 0.2 s
    s.release(100 * FRAME)
    assert s.when(effects.Finish) == pytest.approx(5.0)
    assert fed(s) == frame(1) * 100


def test_a_microphone_that_gives_nothing_at_all_is_waited_for_two_seconds() -> None:
    s = scene()
    s.press()
    s.wait(1.0)
    s.release(RATE_IN)
    s.wait(3.0)
    assert s.when(effects.Finish) == pytest.approx(3.0)
    s.understand("")
    assert not s.all(effects.Think)


def test_a_device_that_keeps_what_is_said_is_waited_for_longer() -> None:
    s = scene()
    s.press()
    samples = s.speak(1.0)
    s.happens(events.Left("laptop", may_return=True))
    s.wait(10.0)
    s.join(returns=True)
    end = s.speak(11.0, first=samples)
    s.release(end)
    assert heard_bytes(e for _, e in s.done) == 2 * end


def test_what_was_released_before_the_cut_is_waited_for_too() -> None:
    s = scene()
    s.press()
    samples = s.speak(1.0)
    s.release(2 * samples)
    s.happens(events.Left("laptop", may_return=True))
    s.wait(5.0)
    assert not s.all(effects.Finish)
    s.join(returns=True)
    s.speak(1.0, first=samples)
    assert heard_bytes(e for _, e in s.done) == 2 * 2 * samples


def test_a_device_that_does_not_return_has_said_what_it_said() -> None:
    s = scene()
    s.press()
    s.speak(1.0)
    left = s.now
    s.happens(events.Left("laptop", may_return=True))
    s.wait(60.0)
    assert s.when(effects.Finish) == left + 20.0


def test_files_that_go_along_with_what_is_said_are_named_with_the_request() -> None:
    s = scene()
    s.streams += 1
    s.happens(events.ListenStarted("laptop", s.streams, files=("roof.jpg",)))
    samples = s.speak(1.0)
    s.happens(events.ListenStopped("laptop", s.streams, samples, files=("rain.csv",)))
    s.happens(events.Heard(s.the(effects.Finish).utterance, "What is wrong here?"))
    asked = s.the(effects.Think).text
    assert asked.startswith("What is wrong here?")
    assert asked.endswith("(Files that I sent along, in the workspace: roof.jpg, rain.csv.)")
    assert [one.text for one in s.told(m.SttFinal)] == ["What is wrong here?"]
