"""A line that breaks in the middle of an answer: what was not heard is said when it is back."""

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.missed_speech import rest_of
from tests.turn.scene import Scene


def asked() -> Scene:
    s = Scene()
    s.join()
    s.say("tell me")
    return s


def said(s: Scene) -> str:
    return "".join(spoken.text for spoken in s.all(effects.Speak))


def leave(s: Scene) -> None:
    s.happens(events.Left("laptop"))
    s.done.clear()


def test_an_answer_that_was_cut_off_goes_on_from_its_sentence() -> None:
    s = asked()
    s.reply("One two three. Four five six. Seven.")
    s.synthesize("One two three.", 1.0)
    s.synthesize("Four five six.", 1.0)
    s.play(1.4)
    s.end_work()
    leave(s)
    s.wait(20.0)
    s.join(returns=True)
    assert said(s) == "Four five six. Seven."
    s.synthesize("Four five six. Seven.", 1.0)
    assert s.all(effects.Send)


def test_an_answer_that_came_while_nobody_was_there_is_said_whole() -> None:
    s = asked()
    leave(s)
    s.reply("It is done. All is well.")
    s.end_work()
    assert not said(s)
    s.wait(60.0)
    s.join(returns=True)
    assert said(s) == "It is done. All is well."


def test_work_that_goes_on_is_said_from_where_it_was_missed() -> None:
    s = asked()
    leave(s)
    s.reply("First this. ")
    s.join(returns=True)
    s.reply("Then that.")
    assert said(s) == "First this. Then that."


def test_what_was_heard_is_not_said_again() -> None:
    s = asked()
    s.reply("One two three.")
    s.synthesize("One two three.", 1.0)
    s.end_work()
    s.end_mouth()
    s.play(1.2)
    leave(s)
    s.join(returns=True)
    assert not said(s)


def test_a_new_question_takes_the_place_of_what_was_missed() -> None:
    s = asked()
    leave(s)
    s.reply("It is done.")
    s.end_work()
    s.press()
    s.join(returns=True)
    s.release(s.speak(1.0))
    s.understand("and now this")
    s.reply("That.")
    s.end_work()
    s.wait(1.0)
    assert said(s) == "That."


def test_a_device_that_begins_anew_is_told_nothing_aloud() -> None:
    s = asked()
    leave(s)
    s.reply("It is done.")
    s.end_work()
    s.join()
    assert not said(s)


def test_what_is_said_later_is_said_at_that_device_alone() -> None:
    s = asked()
    s.join("kitchen")
    leave(s)
    s.reply("Your secret is safe.")
    s.end_work()
    s.wait(5.0)
    assert not said(s)
    s.join(returns=True)
    assert {spoken.device for spoken in s.all(effects.Speak)} == {"laptop"}
    assert not [told for told in s.all(effects.Tell) if isinstance(told.message, m.Announce)]


def test_in_doubt_a_sentence_is_said_twice() -> None:
    text = "It is 10277. So be it. The end."
    assert rest_of(text, 0) == text
    assert rest_of(text, 3) == text
    assert rest_of(text, 8) == "So be it. The end."
    assert rest_of(text, 99) == ""
    assert rest_of("no end", 1) == "no end"
