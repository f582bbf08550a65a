"""What is said while code is at work: it ends nothing that it does not say, and is never lost."""

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.during_work.new_start import begins_anew
from sayso.server.turn.during_work.question_about_code import (
    asks_about_code,
    asks_about_running_code,
)
from tests.turn.during_work.working import END, announced, at_work, spoken
from tests.turn.scene import Scene


def test_a_reflex_during_work_is_answered_and_the_work_goes_on() -> None:
    s = at_work()
    s.say("what time is it", meaning="aside")
    assert s.the(effects.AnswerAside) == effects.AnswerAside("laptop", "what time is it", True)
    s.happens(events.AsideAnswered("laptop", "It's noon.", "what time is it", True))
    assert announced(s) == ["It's noon."]
    assert spoken(s)[-1] == "It's noon."
    assert not s.all(effects.StopThinking)
    assert s.state_of_work == "acting"


def test_a_typed_reflex_ends_nothing_either_even_before_anything_runs() -> None:
    s = Scene()
    s.join()
    s.happens(events.Typed("laptop", "sort my files"))
    s.happens(events.Typed("laptop", "what time is it", "aside"))
    assert s.the(effects.AnswerAside).text == "what time is it"
    assert len(s.all(effects.Think)) == 1
    assert not s.all(effects.StopThinking)


def test_the_answer_to_an_aside_is_marked_so_that_nobody_waits_for_a_turn() -> None:
    s = at_work()
    s.say("what time is it", meaning="aside")
    s.happens(events.AsideAnswered("laptop", "It's noon.", "what time is it", True))
    assert s.told(m.Announce) == [m.Announce("It's noon.", "low", answers=True)]


def test_an_aside_without_an_answer_is_about_the_work() -> None:
    s = at_work()
    s.say("louder", meaning="aside")
    s.happens(events.AsideAnswered("laptop", "", "louder", True))
    assert s.the(effects.Steer).text == "louder"


def test_an_aside_when_nothing_runs_is_a_request() -> None:
    s = Scene()
    s.join()
    s.say("what time is it", meaning="aside")
    assert s.the(effects.Think).text == "what time is it"
    assert not s.all(effects.AnswerAside)


def test_an_aside_is_said_where_it_was_asked_and_the_answer_where_it_belongs() -> None:
    s = at_work()
    s.join("kitchen")
    s.say("what time is it", device="kitchen", meaning="aside")
    s.happens(events.AsideAnswered("kitchen", "It's noon.", "what time is it", True))
    assert s.the(effects.Speak).device == "kitchen"
    s.reply("They are sorted.")
    assert spoken(s)[-1] == "It's noon.", "the answer waits until the aside is said"
    s.synthesize("It's noon.", 0.5)
    s.end_mouth()
    s.play(0.7, device="kitchen")
    assert s.the(effects.Speak) == effects.Speak(s.ticket, "They are sorted.", "laptop")


def test_a_reflex_at_another_device_is_answered_while_an_answer_is_being_said() -> None:
    s = Scene()
    s.join()
    s.join("kitchen")
    s.say("tell me a story")
    s.reply("Once upon a time.")
    s.end_work()
    s.synthesize("Once upon a time.", 3.0)
    s.play(0.5)
    assert s.state_of_work == "idle"
    s.say("what time is it", device="kitchen", meaning="aside")
    assert s.the(effects.AnswerAside).device == "kitchen"
    s.happens(events.AsideAnswered("kitchen", "It's noon.", "what time is it", True))
    assert announced(s, "kitchen") == ["It's noon."]
    assert spoken(s)[-1] == "Once upon a time.", "one voice at a time"
    assert not s.told(m.SpeechStop)
    s.end_mouth()
    s.play(3.5)
    assert s.the(effects.Speak).text.strip() == "It's noon."
    assert s.the(effects.Speak).device == "kitchen"


def test_an_answer_that_ends_while_an_aside_is_said_elsewhere_is_said_and_ended() -> None:
    s = at_work()
    s.join("kitchen")
    s.say("what time is it", device="kitchen", meaning="aside")
    s.happens(events.AsideAnswered("kitchen", "It's noon.", "what time is it", True))
    s.reply("They are sorted.")
    s.end_work()
    s.synthesize("It's noon.", 0.5)
    s.end_mouth()
    s.play(0.7, device="kitchen")
    assert s.the(effects.Speak).device == "laptop"
    s.synthesize("They are sorted.", 0.5)
    s.end_mouth()
    s.played = 0
    s.play(0.7)
    assert s.states[-1] == ("idle", "idle", "silent")


def test_a_kitchen_that_is_lost_in_the_middle_of_an_aside_gives_the_answer_back() -> None:
    s = at_work()
    s.join("kitchen")
    s.say("what time is it", device="kitchen", meaning="aside")
    s.happens(events.AsideAnswered("kitchen", "It's noon.", "what time is it", True))
    s.synthesize("It's noon.", 0.5)
    s.happens(events.Left("kitchen"))
    s.reply("They are sorted.")
    assert s.the(effects.Speak) == effects.Speak(s.ticket, "They are sorted.", "laptop")


def test_a_press_over_an_aside_elsewhere_silences_that_alone() -> None:
    s = at_work()
    s.join("kitchen")
    s.say("what time is it", device="kitchen", meaning="aside")
    s.happens(events.AsideAnswered("kitchen", "It's noon.", "what time is it", True))
    s.synthesize("It's noon.", 0.5)
    s.press("kitchen")
    assert not s.all(effects.StopThinking)
    s.reply("They are sorted.")
    assert s.the(effects.Speak) == effects.Speak(s.ticket, "They are sorted.", "laptop")


def test_a_stop_while_an_aside_is_said_elsewhere_ends_the_work() -> None:
    s = at_work()
    s.join("kitchen")
    s.say("what time is it", device="kitchen", meaning="aside")
    s.happens(events.AsideAnswered("kitchen", "It's noon.", "what time is it", True))
    s.synthesize("It's noon.", 0.5)
    s.say("stop", meaning="stop")
    assert s.all(effects.StopThinking)
    assert s.states[-1] == ("idle", "idle", "speaking")
    assert s.the(effects.Speak).device == "kitchen", "nobody there had heard a word of it"


def test_an_aside_waits_for_the_end_of_a_sentence_at_another_device() -> None:
    s = at_work()
    s.join("kitchen")
    s.reply("I sort them now. ")
    s.synthesize("I sort them now.", 1.0)
    s.happens(events.Typed("kitchen", "what time is it", "aside"))
    s.happens(events.AsideAnswered("kitchen", "It's noon.", "what time is it", False))
    assert announced(s, "kitchen") == ["It's noon."], "it is on the screen at once"
    assert spoken(s)[-1] == "I sort them now."
    s.play(1.1)
    assert s.the(effects.Speak).device == "kitchen"


def test_an_aside_to_a_device_that_is_gone_is_said_to_nobody_else() -> None:
    s = at_work()
    s.join("kitchen")
    s.happens(events.Typed("kitchen", "what time is it", "aside"))
    s.happens(events.Left("kitchen"))
    s.happens(events.AsideAnswered("kitchen", "It's noon.", "what time is it", False))
    assert "It's noon." not in spoken(s)


def test_an_aside_said_in_between_is_no_part_of_what_was_heard_of_the_answer() -> None:
    s = at_work()
    s.reply("I have begun. ")
    s.synthesize("I have begun.", 0.9)
    s.play(1.0)
    s.happens(events.Typed("laptop", "what time is it", "aside"))
    s.happens(events.AsideAnswered("laptop", "It's noon.", "what time is it", False))
    s.synthesize("It's noon.", 0.5)
    s.play(0.6)
    s.say("stop", meaning="stop")
    assert s.the(effects.HeardOnly).text == "I have begun."


def test_an_aside_before_the_first_word_does_not_begin_the_answer() -> None:
    s = Scene()
    s.join()
    s.happens(events.Typed("laptop", "sort my files"))
    s.happens(events.Typed("laptop", "what time is it", "aside"))
    s.happens(events.AsideAnswered("laptop", "It's noon.", "what time is it", False))
    s.synthesize("It's noon.", 0.5)
    assert not s.all(effects.SpeechBegan)
    s.play(0.6)
    s.reply("They are sorted.")
    s.end_work()
    s.synthesize("They are sorted.", 0.5)
    assert s.all(effects.SpeechBegan)


def test_a_press_alone_ends_no_work() -> None:
    s = at_work()
    s.happens(events.AgentMessage(s.ticket, "thinking", END))
    s.press()
    assert not s.all(effects.StopThinking)
    s.happens(events.ListenCancelled("laptop", s.streams))
    assert s.state_of_work == "thinking"


# --- what comes up by itself ---


def test_a_reminder_is_said_in_a_gap_of_the_work_and_not_at_its_end() -> None:
    s = at_work()
    s.wait(1.2)
    s.synthesize("I'm on it.", 0.5)
    s.play(20.0)
    s.happens(events.Announced("The eggs are done.", "laptop"))
    assert spoken(s)[-1] == "The eggs are done."
    assert not s.all(effects.StopThinking)


def test_a_reminder_that_was_cut_before_its_first_word_is_said_again() -> None:
    s = at_work()
    s.happens(events.Announced("The eggs are done.", "laptop"))
    s.press()
    s.happens(events.ListenCancelled("laptop", s.streams))
    assert spoken(s).count("The eggs are done.") == 1
    s.synthesize("The eggs are done.", 0.5)
    s.press()
    s.happens(events.ListenCancelled("laptop", s.streams))
    assert spoken(s).count("The eggs are done.") == 2


# --- the words themselves ---


@pytest.mark.parametrize(
    ("words", "anew"),
    [
        ("Instead, use the other folder.", True),
        ("No, use the other folder instead.", True),
        ("never mind that, what's the weather", True),
        ("Vergiss das.", True),
        ("Stattdessen nach Datum", True),
        ("no, use the other folder", False),
        ("don't forget the pictures", False),
        ("put them in the other folder instead of this one", False),
        ("nimm den anderen Ordner", False),
    ],
)
def test_what_begins_anew(words: str, anew: bool) -> None:
    assert begins_anew(words) is anew


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        ("What would that do?", True),
        ("is it safe", True),
        ("Okay, but why?", True),
        ("Was würde das tun?", True),
        ("Löscht das etwas?", True),
        ("show me the files first", False),
        ("could you use the other folder", False),
        ("nimm den anderen Ordner", False),
    ],
)
def test_what_asks_about_code(words: str, asks: bool) -> None:
    assert asks_about_code(words) is asks


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        ("What would that do?", True),
        ("what's it doing", True),
        ("What does this code do exactly?", True),
        ("Okay, but why?", True),
        ("why are you doing that", True),
        ("Is that safe?", True),
        ("does it delete anything?", True),
        ("How does it work?", True),
        ("explain that", True),
        ("Was macht das gerade?", True),
        ("Warum?", True),
        ("Löscht das etwas?", True),
        ("What about the pictures?", False),
        ("why not use the other folder", False),
        ("does it delete the old ones? Keep them.", False),
        ("what is the capital of France", False),
        ("what is that in dollars", False),
        ("is it possible to keep the old ones", False),
        ("explain the second one in the report", False),
        ("Was ist mit den Bildern?", False),
        ("leave out the pictures", False),
    ],
)
def test_what_asks_about_running_code_and_says_nothing_else(words: str, asks: bool) -> None:
    assert asks_about_running_code(words) is asks
