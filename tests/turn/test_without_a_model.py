"""Words that need no language model: yes, no and stop; and what Sayso says unasked."""

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from tests.turn.scene import Scene

QUESTION = m.ApprovalRequest("1", "n", "python", "…", "/work")


def asked(*, heard_out: bool = True) -> Scene:
    """Code waits for a say-so that was asked for aloud."""
    s = Scene()
    s.join()
    s.say("sort my files")
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", QUESTION))
    s.happens(events.QuestionShown("laptop", QUESTION.id))
    s.synthesize("May I run this?", 1.0)
    s.play(1.2 if heard_out else 0.3)
    return s


def test_a_spoken_yes_approves_what_waits() -> None:
    s = asked()
    s.say("yes please", meaning="yes")
    assert s.the(effects.AnswerApprovalByWord) == effects.AnswerApprovalByWord("laptop", "1", "yes")
    assert not s.all(effects.StopThinking)
    assert len(s.all(effects.Think)) == 1


def test_what_follows_a_spoken_yes_is_heard() -> None:
    s = asked()
    s.say("yes", meaning="yes")
    s.happens(events.AgentMessage(s.ticket, "acting", m.CodeStart("1", "python", "…")))
    s.reply("They are sorted.")
    assert s.the(effects.Speak).text == "They are sorted."


def test_a_yes_before_the_question_was_heard_out_is_asked_again() -> None:
    s = asked(heard_out=False)
    s.say("yes", meaning="yes")
    assert not s.all(effects.AnswerApprovalByWord)
    assert "yes or no" in s.the(effects.Speak).text


def test_a_no_counts_at_any_time() -> None:
    s = asked(heard_out=False)
    s.say("no", meaning="no")
    assert s.the(effects.AnswerApprovalByWord).decision == "no"


def test_a_yes_from_another_device_is_no_approval() -> None:
    s = asked()
    s.join("phone")
    s.say("yes", device="phone", meaning="yes")
    assert not s.all(effects.AnswerApprovalByWord)


def test_a_device_that_may_not_approve_is_told_so_instead() -> None:
    s = asked()
    s.join(may_approve=False)
    s.say("yes", meaning="yes")
    assert not s.all(effects.AnswerApprovalByWord)
    assert "another one" in s.the(effects.Speak).text
    s.happens(events.Typed("laptop", "no", "no"))
    assert s.the(effects.AnswerApprovalByWord).decision == "no"


def test_a_typed_yes_counts() -> None:
    s = asked()
    s.happens(events.Typed("laptop", "yes", "yes"))
    assert s.the(effects.AnswerApprovalByWord).decision == "yes"


def test_a_yes_when_nothing_waits_is_a_request() -> None:
    s = Scene()
    s.join()
    s.say("yes", meaning="yes")
    assert s.the(effects.Think).text == "yes"


def test_other_words_while_code_waits_are_a_no_and_told_to_the_model() -> None:
    s = asked()
    s.say("show me the files first")
    assert s.the(effects.AnswerApprovalByWord).decision == "no"
    assert s.the(effects.Steer).text == "show me the files first"


def test_a_spoken_stop_ends_what_runs_and_starts_nothing() -> None:
    s = Scene()
    s.join()
    s.say("sort my files")
    s.happens(events.AgentMessage(s.ticket, "acting", m.CodeStart("1", "python", "…")))
    s.say("stop", meaning="stop")
    assert s.all(effects.StopThinking)
    assert len(s.all(effects.Think)) == 1
    assert s.told(m.ReplyDelta)[-1].text == s.the(effects.Speak).text == "Stopped."
    s.synthesize("Stopped.", 0.5)
    s.end_mouth()
    s.play(0.6)
    assert s.states[-1] == ("idle", "idle", "silent")


@pytest.mark.parametrize("busy", [False, True])
def test_a_typed_stop_is_a_turn_of_its_own_that_ends_at_once(*, busy: bool) -> None:
    s = Scene()
    s.join(speaks=False)
    if busy:
        s.happens(events.Typed("laptop", "sort my files"))
    before = s.ticket
    s.happens(events.Typed("laptop", "Stop.", "stop"))
    assert s.ticket > before
    assert [state.work for state in s.told(m.TurnState)[-2:]] == ["thinking", "idle"]
    told = s.told(m.ReplyDelta)[-1].text
    assert told == ("Stopped." if busy else "There is nothing to stop.")


def test_a_stop_while_only_jobs_go_on_ends_none_and_says_what_would() -> None:
    s = Scene()
    s.join(speaks=False)
    s.happens(events.BackgroundChanged(goes_on=True))
    s.happens(events.Typed("laptop", "Stop.", "stop"))
    assert "Say “stop the jobs” to end it." in s.told(m.ReplyDelta)[-1].text
    assert not s.all(effects.StopThinking)
    s.happens(events.BackgroundChanged(goes_on=False))
    s.happens(events.Typed("laptop", "Stop.", "stop"))
    assert s.told(m.ReplyDelta)[-1].text == "There is nothing to stop."


def test_a_stop_over_the_answer_is_told_by_silence_and_on_the_screen() -> None:
    s = Scene()
    s.join()
    s.say("count")
    s.reply("one two three")
    s.synthesize("one two three", 3.0)
    s.play(1.0)
    said = len(s.all(effects.Speak))
    s.say("stop", meaning="stop")
    assert len(s.all(effects.Speak)) == said
    assert s.told(m.ReplyDelta)[-1].text == "Stopped."
    assert s.states[-1] == ("idle", "idle", "silent")


def test_an_announcement_is_said_where_it_belongs_and_shown_everywhere() -> None:
    s = Scene()
    s.join("kitchen")
    s.join("phone")
    s.happens(events.Announced("The eggs are done.", "kitchen"))
    assert s.told(m.Announce, "phone") == [m.Announce("The eggs are done.")]
    s.synthesize("The eggs are done.", 1.0)
    assert s.the(effects.Send).device == "kitchen"
    s.end_mouth()
    s.play(1.2, device="kitchen")
    assert s.states[-1] == ("idle", "idle", "silent")


def test_an_announcement_waits_for_a_gap() -> None:
    s = Scene()
    s.join()
    s.say("hello")
    s.happens(events.Announced("The eggs are done.", "laptop"))
    s.reply("Hello.")
    s.end_work()
    s.synthesize("Hello.", 0.5)
    s.end_mouth()
    assert [e.text for e in s.all(effects.Speak)] == ["Hello."]
    s.play(0.7)
    assert [e.text for e in s.all(effects.Speak)] == ["Hello.", "The eggs are done."]


def test_an_announcement_waits_while_somebody_speaks() -> None:
    s = Scene()
    s.join()
    s.press()
    s.happens(events.Announced("The eggs are done.", "laptop"))
    samples = s.speak(1.0)
    assert not s.all(effects.Speak)
    s.release(samples)
    s.understand("")
    assert s.the(effects.Speak).text == "The eggs are done."
