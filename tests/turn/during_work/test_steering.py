"""Words about the work: passed on, said back, and no answer to what waits for a yes."""

import pytest

from sayso.server.turn import effects, events
from tests.turn.during_work.working import (
    END,
    QUESTION,
    START,
    announced,
    asked,
    at_work,
    kept,
    spoken,
)
from tests.turn.scene import Scene


def test_other_words_are_about_the_work() -> None:
    s = at_work()
    s.say("and leave out the pictures")
    steer = s.the(effects.Steer)
    assert steer == effects.Steer(s.ticket, "and leave out the pictures", "laptop", True)
    assert not s.all(effects.StopThinking)
    assert len(s.all(effects.Think)) == 1


def test_they_are_acknowledged_in_two_words_as_soon_as_they_are_safe() -> None:
    s = at_work()
    s.say("and leave out the pictures")
    assert announced(s) == []
    kept(s)
    assert len(announced(s)[0].split()) == 2
    assert spoken(s)[-1] == announced(s)[0]


def test_what_was_typed_is_acknowledged_on_the_screen_alone() -> None:
    s = at_work()
    s.happens(events.Typed("laptop", "and leave out the pictures"))
    said = spoken(s)
    kept(s, spoken=False)
    assert len(announced(s)) == 1
    assert spoken(s) == said


@pytest.mark.parametrize("language", ["de", "es", "fr", "it", "nl", "pt", "xx"])
def test_the_acknowledgement_is_in_the_language_of_the_device(language: str) -> None:
    s = at_work()
    s.happens(events.LanguageFound("laptop", language))
    s.say("…")
    kept(s)
    assert 1 <= len(announced(s)[0].split()) <= 3


def test_a_second_device_steers_alike() -> None:
    s = at_work()
    s.join("kitchen")
    s.say("and leave out the pictures", device="kitchen")
    assert s.the(effects.Steer).device == "kitchen"
    kept(s, "kitchen")
    assert s.the(effects.Speak).device == "kitchen"
    assert announced(s, "laptop") == []


def test_words_before_anything_has_run_go_on_with_the_sentence() -> None:
    s = Scene()
    s.join()
    s.say("sort my files")
    s.say("by date")
    assert s.the(effects.Think).text == "sort my files by date"
    assert not s.all(effects.Steer)


def test_another_devices_words_before_anything_has_run_wait() -> None:
    s = Scene()
    s.join()
    s.join("kitchen")
    s.say("sort my files")
    s.say("tell me a joke", device="kitchen")
    assert not s.all(effects.Steer)
    assert len(s.all(effects.Think)) == 1


def test_words_over_the_spoken_answer_of_finished_work_are_a_new_request() -> None:
    s = at_work()
    s.happens(events.AgentMessage(s.ticket, "thinking", END))
    s.reply("They are sorted.")
    s.end_work()
    s.synthesize("They are sorted.", 2.0)
    s.play(0.5)
    s.say("thank you, and now by size")
    assert s.the(effects.Think).text == "thank you, and now by size"
    assert not s.all(effects.Steer)


def test_a_sentence_in_two_breaths_steers_as_one() -> None:
    s = at_work()
    utterance = s.voice()
    s.happens(events.VoiceEnded(utterance, "ended"))
    following = s.voice()
    s.happens(events.Heard(utterance, "and leave out"))
    assert not s.all(effects.Steer)
    s.hear(following, "the pictures")
    assert [each.text for each in s.all(effects.Steer)] == ["and leave out the pictures"]


def test_a_listeners_murmur_steers_nothing() -> None:
    s = at_work()
    s.hear(s.voice(), "Mm-hm.")
    s.hear(s.voice(), "Okay.")
    assert not s.all(effects.Steer)
    assert not s.all(effects.StopThinking)


@pytest.mark.parametrize(
    "words",
    ["No, instead sort by size", "Forget that, tell me a joke", "Nein, lieber nach Größe"],
)
def test_words_that_take_it_back_begin_anew(words: str) -> None:
    s = at_work()
    s.say(words)
    assert s.all(effects.StopThinking)
    assert s.the(effects.Think).text == words
    assert not s.all(effects.Steer)


def test_words_that_come_when_the_work_has_just_ended_are_the_next_request() -> None:
    s = at_work()
    s.say("and leave out the pictures")
    s.happens(events.SteerTooLate(s.ticket, "laptop", "and leave out the pictures", True))
    assert len(s.all(effects.Think)) == 1, "the answer comes first"
    s.reply("They are sorted.")
    s.end_work()
    s.synthesize("They are sorted.", 0.5)
    s.end_mouth()
    s.play(0.7)
    assert s.the(effects.Think).text == "and leave out the pictures"


def test_they_are_also_the_next_request_when_something_is_announced_before_it() -> None:
    s = Scene()
    s.join()
    s.happens(events.Typed("laptop", "sort my files"))
    s.happens(events.AgentMessage(s.ticket, "acting", START))
    late = s.ticket
    s.happens(events.Typed("laptop", "and leave out the pictures"))
    s.end_work()
    s.end_mouth()
    s.happens(events.Announced("Your timer is over.", "laptop"))
    assert s.ticket != late, "it is announced"
    s.happens(events.SteerTooLate(late, "laptop", "and leave out the pictures", False))
    s.synthesize("Your timer is over.", 0.5)
    s.end_mouth()
    s.play(0.7)
    assert s.the(effects.Think).text == "and leave out the pictures"


# --- stop, and stop after this ---


def test_on_a_stop_what_the_model_was_not_told_is_said_back() -> None:
    s = at_work()
    s.say("and leave out the pictures")
    kept(s)
    s.say("stop", meaning="stop")
    assert s.all(effects.StopThinking)
    assert announced(s)[-1] == "I had not got to this: “and leave out the pictures”"
    assert "leave out the pictures" in spoken(s)[-1]


def test_what_the_model_was_told_is_not_said_back() -> None:
    s = at_work()
    s.say("and leave out the pictures")
    kept(s)
    s.happens(events.SteersGiven(s.ticket, 1))
    s.say("stop", meaning="stop")
    assert not any("not got to" in text for text in announced(s))


def test_a_stop_key_says_it_back_too() -> None:
    s = at_work()
    s.happens(events.Typed("laptop", "and leave out the pictures"))
    s.happens(events.Interrupted("laptop", None, 0))
    assert any("leave out the pictures" in text for text in announced(s))


def test_a_stop_overtakes_the_acknowledgement() -> None:
    s = at_work()
    stopped = s.ticket
    s.say("and leave out the pictures")
    s.say("stop", meaning="stop")
    s.happens(events.SteerKept(stopped, "laptop", True))
    assert len(announced(s)) == 1


def test_what_was_stopped_takes_no_late_words() -> None:
    s = at_work()
    stopped = s.ticket
    s.say("and leave out the pictures")
    s.say("stop", meaning="stop")
    s.happens(events.SteerTooLate(stopped, "laptop", "and leave out the pictures", True))
    assert len(s.all(effects.Think)) == 1


def test_stop_after_this_lets_the_run_end() -> None:
    s = at_work()
    s.say("stop after this", meaning="stop_after")
    assert s.the(effects.StopAfter).ticket == s.ticket
    assert not s.all(effects.StopThinking)
    assert announced(s) == ["After this, then."]


def test_what_the_model_was_not_told_before_such_a_stop_is_said_back() -> None:
    s = at_work()
    s.say("leave out the pictures")
    s.say("sort by date")
    s.happens(events.SteersGiven(s.ticket, 1))
    s.say("stop after this", meaning="stop_after")
    s.happens(events.WorkDone(s.ticket))
    assert announced(s)[-1] == "I had not got to this: “sort by date”"
    s = at_work()
    s.say("sort by date")
    before = announced(s)
    s.happens(events.WorkDone(s.ticket))
    assert announced(s) == before


def test_stop_after_this_when_nothing_runs_is_a_request() -> None:
    s = Scene()
    s.join()
    s.say("stop after this", meaning="stop_after")
    assert s.the(effects.Think).text == "stop after this"


# --- while a question waits ---


def test_words_about_the_work_are_no_yes_to_what_waits() -> None:
    s = asked()
    s.say("show me the files first")
    assert s.the(effects.AnswerApprovalByWord) == effects.AnswerApprovalByWord("laptop", "q1", "no")
    assert s.the(effects.Steer).text == "show me the files first"
    assert not s.all(effects.StopThinking)


def test_a_question_about_it_leaves_it_waiting() -> None:
    s = asked()
    s.say("what would that do?")
    explain = s.the(effects.ExplainCode)
    assert explain == effects.ExplainCode(s.ticket, "laptop", "what would that do?", True)
    assert not s.all(effects.AnswerApprovalByWord)
    s.happens(events.AsideAnswered("laptop", "It moves them.", "what would that do?", True))
    assert spoken(s)[-1] == "It moves them. May I run a line of Python?"
    assert s.state_of_work == "awaiting_approval"
    s.synthesize("It moves them. May I run a line of Python?", 0.5)
    s.play(0.7)
    s.say("yes", meaning="yes")
    assert s.the(effects.AnswerApprovalByWord).decision == "yes"


def test_a_question_about_code_that_runs_is_answered_beside_it() -> None:
    s = at_work()
    s.say("what does that do?")
    explain = s.the(effects.ExplainCode)
    assert explain == effects.ExplainCode(s.ticket, "laptop", "what does that do?", True)
    assert not s.all(effects.Steer)
    assert not s.all(effects.StopThinking)
    answer = events.AsideAnswered("laptop", "It sorts.", "what does that do?", True, by_model=True)
    s.happens(answer)
    assert spoken(s)[-1] == "It sorts."
    assert announced(s)[-1] == "It sorts."
    assert s.state_of_work == "acting"


def test_when_nothing_runs_any_more_the_same_words_are_for_the_model() -> None:
    s = at_work()
    s.happens(events.AgentMessage(s.ticket, "thinking", END))
    s.say("what does that do?")
    assert not s.all(effects.ExplainCode)
    assert s.the(effects.Steer).text == "what does that do?"


def test_a_question_that_wants_something_steers_what_runs() -> None:
    s = at_work()
    s.say("what about the pictures?")
    assert not s.all(effects.ExplainCode)
    assert s.the(effects.Steer).text == "what about the pictures?"


def test_a_yes_is_never_to_a_question_that_a_model_has_slipped_in() -> None:
    """A model that is asked what code does may ask something itself; so may a reminder that it has
    set. What waits is put again after it, aloud and on the screen."""
    s = asked()
    s.say("what would that do?")
    slipped = "Nothing much. Shall I tell you more?"
    asked_for = "what would that do?"
    s.happens(events.AsideAnswered("laptop", slipped, asked_for, True, by_model=True))
    said = spoken(s)[-1]
    assert said == f"{slipped} May I run a line of Python?"
    assert announced(s)[-1] == said
    s.synthesize(said, 0.5)
    s.play(0.7)
    s.wait(3)
    s.happens(events.Announced("Reminder: shall I go on?", "laptop"))
    s.wait(1)
    assert spoken(s)[-1] == "Reminder: shall I go on? May I run a line of Python?"


def test_a_reflex_leaves_it_waiting() -> None:
    s = asked()
    s.say("what time is it", meaning="aside")
    s.happens(events.AsideAnswered("laptop", "It's noon.", "what time is it", True))
    assert not s.all(effects.AnswerApprovalByWord)
    assert s.state_of_work == "awaiting_approval"


def test_stop_after_this_approves_nothing() -> None:
    s = asked()
    s.say("stop after this", meaning="stop_after")
    assert not s.all(effects.AnswerApprovalByWord)


def test_a_question_in_the_middle_of_a_run_is_left_to_its_own_answer() -> None:
    s = at_work()
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", QUESTION))
    s.say("leave out the pictures")
    assert not s.all(effects.AnswerApprovalByWord)
    assert s.the(effects.Steer).text == "leave out the pictures"


def test_at_another_device_a_no_counts_and_a_yes_does_not() -> None:
    s = asked()
    s.join("kitchen")
    s.say("yes", device="kitchen", meaning="yes")
    assert not s.all(effects.AnswerApprovalByWord)
    assert not s.all(effects.Steer)
    assert "another one" in announced(s, "kitchen")[-1]
    s = asked()
    s.join("kitchen")
    s.say("no", device="kitchen", meaning="no")
    assert s.the(effects.AnswerApprovalByWord) == effects.AnswerApprovalByWord(
        "kitchen", "q1", "no"
    )


def test_a_stop_ends_what_was_left_in_the_background_and_says_so() -> None:
    s = at_work()
    s.say("stop", meaning="stop")
    assert s.the(effects.StopThinking).by == "laptop"
    s.happens(events.LeftEnded("laptop", "serve the page"))
    assert announced(s)[-1] == "Ended with it: “serve the page”"


def test_words_that_begin_anew_leave_the_background_alone() -> None:
    s = at_work()
    s.say("No, instead sort by size")
    assert s.the(effects.StopThinking).by == ""
