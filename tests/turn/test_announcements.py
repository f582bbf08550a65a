"""What Sayso says unasked: when, and where."""

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.announcements import WAITING_ANNOUNCEMENTS
from tests.turn.scene import Scene

EGGS = "The eggs are done."


def said(s: Scene) -> list[str]:
    return [effect.text for effect in s.all(effects.Speak)]


def quiet() -> Scene:
    s = Scene()
    s.join("kitchen")
    return s


def announce(s: Scene, text: str = EGGS, device: str = "kitchen") -> None:
    s.happens(events.Announced(text, device))


def play_out(s: Scene, text: str = EGGS, device: str = "kitchen") -> None:
    s.synthesize(text, 1.0)
    s.end_mouth()
    s.play(1.2, device=device)


def test_in_a_quiet_house_it_is_said_at_once() -> None:
    s = quiet()
    s.wait(3.0)
    announce(s)
    assert s.when(effects.Speak) == 3.0


def test_it_waits_for_the_last_word_of_an_answer() -> None:
    s = quiet()
    s.say("hello", device="kitchen")
    s.reply("Hello.")
    s.synthesize("Hello.", 0.5)
    announce(s)
    s.end_work()
    s.end_mouth()
    s.play(0.4, device="kitchen")
    assert EGGS not in said(s)
    s.play(0.1, device="kitchen")
    s.wait(0.0)
    stream = s.the(effects.Send).stream
    s.happens(events.Played("kitchen", stream, s.sent, done=True))
    assert s.when(effects.Speak) == s.now


def test_it_waits_while_somebody_speaks_without_a_key() -> None:
    s = quiet()
    utterance = s.voice("kitchen")
    announce(s)
    s.speak(1.0, "kitchen", first=8_000)
    assert not said(s)
    s.hear(utterance, "")
    assert said(s) == [EGGS]


def test_an_open_microphone_into_which_nobody_speaks_is_a_gap() -> None:
    s = quiet()
    s.open("kitchen")
    announce(s)
    assert said(s) == [EGGS]


def test_a_voice_over_it_holds_it_and_a_cough_lets_it_go_on() -> None:
    s = quiet()
    announce(s)
    s.synthesize(EGGS, 2.0)
    s.play(0.5, device="kitchen")
    utterance = s.voice("kitchen")
    assert s.states[-1][2] == "ducked"
    s.hear(utterance, "")
    assert s.states[-1][2] == "speaking"
    s.end_mouth()
    s.play(2.0, device="kitchen")
    assert s.told(m.SpeechStop)[-1].reason == "done"
    assert said(s) == [EGGS]


def test_a_press_silences_it() -> None:
    s = quiet()
    announce(s)
    s.synthesize(EGGS, 2.0)
    s.play(0.5, device="kitchen")
    s.press("kitchen")
    assert s.told(m.SpeechStop)[-1].reason == "interrupted"
    s.release(1_000, "kitchen")
    s.wait(10.0)
    assert said(s) == [EGGS]


def test_one_of_which_nothing_was_heard_is_said_again_in_the_next_gap() -> None:
    s = quiet()
    announce(s)
    s.happens(events.Typed("kitchen", "what time is it"))
    s.reply("Noon.")
    s.end_work()
    play_out(s, "Noon.")
    assert said(s) == [EGGS, "Noon.", EGGS]


def test_one_that_nothing_can_be_heard_of_is_not_said_for_ever() -> None:
    s = quiet()
    announce(s)
    for _ in range(5):
        s.happens(events.SynthesisFailed(s.ticket, "The voice has failed."))
        s.wait(1.0)
    assert said(s) == [EGGS, EGGS]


def test_it_is_no_part_of_what_is_remembered() -> None:
    s = quiet()
    announce(s)
    s.synthesize(EGGS, 2.0)
    s.play(0.5, device="kitchen")
    s.say("thank you", device="kitchen")
    assert not s.all(effects.HeardOnly)


def test_a_request_of_another_device_waits_until_it_is_said() -> None:
    s = quiet()
    s.join("phone")
    announce(s)
    s.happens(events.Typed("phone", "what time is it"))
    assert not s.all(effects.Think)
    play_out(s)
    assert s.the(effects.Think).text == "what time is it"


def test_two_are_said_one_after_the_other() -> None:
    s = quiet()
    announce(s)
    announce(s, "The tea is ready.")
    assert said(s) == [EGGS]
    play_out(s)
    assert said(s) == [EGGS, "The tea is ready."]


def test_without_its_device_it_is_said_where_somebody_is() -> None:
    s = Scene()
    s.join("phone")
    announce(s)
    assert s.the(effects.Speak).device == "phone"


def test_on_screens_alone_it_is_shown() -> None:
    s = Scene()
    s.join("screen", speaks=False)
    announce(s)
    assert s.told(m.Announce) == [m.Announce(EGGS)]
    assert not said(s)


def test_with_nobody_there_it_waits_for_the_first_who_comes() -> None:
    s = Scene()
    announce(s)
    s.wait(60.0)
    assert not said(s)
    s.join("kitchen")
    assert s.told(m.Announce, "kitchen") == [m.Announce(EGGS)]
    assert s.when(effects.Speak) == 60.0
    s.join("phone")
    assert len(s.told(m.Announce)) == 1


def test_a_device_that_leaves_before_the_first_word_does_not_take_it_along() -> None:
    s = quiet()
    announce(s)
    s.happens(events.Left("kitchen"))
    s.wait(5.0)
    s.join("kitchen")
    assert [round(at) for at, e in s.done if isinstance(e, effects.Speak)] == [0, 5]


def test_many_that_nobody_hears_are_bounded() -> None:
    s = Scene()
    for number in range(WAITING_ANNOUNCEMENTS + 10):
        announce(s, f"Reminder {number}.")
    s.join("kitchen")
    assert len(s.told(m.Announce)) == WAITING_ANNOUNCEMENTS


@pytest.mark.parametrize("speaks", [True, False])
def test_it_leaves_all_idle(speaks: bool) -> None:
    s = Scene()
    s.join("kitchen", speaks=speaks)
    announce(s)
    if speaks:
        play_out(s)
    assert s.states[-1] == ("idle", "idle", "silent")
