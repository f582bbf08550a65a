"""What running code asks is told as the code's, answered in words, and approves nothing."""

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from tests.turn.scene import Scene

RUN = m.CodeStart("a1", "python", "sayso.ask('Which?')")
APPROVAL = m.ApprovalRequest("9", "n", "python", "…", "/work")


def asked(*, spoken: bool = False, choices: tuple[str, ...] = ("red", "blue")) -> Scene:
    s = Scene()
    s.join()
    if spoken:
        s.say("paint it")
    else:
        s.happens(events.Typed("laptop", "paint it"))
    s.happens(events.AgentMessage(s.ticket, "acting", RUN))
    s.happens(events.CodeAsked(s.ticket, "q1", "Which of the two?", choices))
    return s


def answers(s: Scene) -> list[tuple[str, str]]:
    return [(each.id, each.text) for each in s.all(effects.AnswerCode)]


def thought(s: Scene) -> list[str]:
    return [each.text for each in s.all(effects.Think)]


def test_it_is_shown_as_the_codes_question_and_what_is_typed_answers_it() -> None:
    s = asked()
    assert s.told(m.Announce)[-1].text == "The code asks: Which of the two? (red / blue)"
    assert not s.told(m.ApprovalRequest)
    s.happens(events.Typed("laptop", "the red one"))
    assert answers(s) == [("q1", "the red one")]
    assert thought(s) == ["paint it"]


def test_it_is_said_aloud_where_the_work_was_asked_for_and_answered_by_voice() -> None:
    s = asked(spoken=True)
    assert s.the(effects.Speak).text.strip() == "The code asks: Which of the two? red, blue?"
    s.say("Blue.")
    assert answers(s) == [("q1", "Blue.")]
    assert thought(s) == ["paint it"]


def test_a_yes_to_it_approves_nothing() -> None:
    s = asked()
    s.happens(events.Typed("laptop", "yes", "yes"))
    assert answers(s) == [("q1", "yes")]
    assert not s.all(effects.AnswerApprovalByWord)


def test_a_yes_is_not_kept_for_the_approval_that_follows() -> None:
    s = asked()
    s.happens(events.Typed("laptop", "yes", "yes"))
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", APPROVAL))
    s.happens(events.QuestionShown("laptop", "9"))
    s.happens(events.Typed("laptop", "yes", "yes"))  # meant for what the code asked
    assert not s.all(effects.AnswerApprovalByWord)


def test_while_an_approval_waits_words_are_not_the_codes() -> None:
    s = asked()
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", APPROVAL))
    s.happens(events.Typed("laptop", "no", "no"))
    assert not answers(s)
    assert [each.decision for each in s.all(effects.AnswerApprovalByWord)] == ["no"]


def test_stop_is_no_answer_and_stops() -> None:
    s = asked()
    s.happens(events.Typed("laptop", "stop", "stop"))
    assert not answers(s)
    assert s.all(effects.StopThinking)
    s.happens(events.Typed("laptop", "red"))
    assert not answers(s)
    assert thought(s)[-1] == "red"


def test_a_device_that_may_not_approve_answers_nothing() -> None:
    s = Scene()
    s.join(may_approve=False)
    s.happens(events.Typed("laptop", "paint it"))
    s.happens(events.AgentMessage(s.ticket, "acting", RUN))
    s.happens(events.CodeAsked(s.ticket, "q1", "Which?"))
    s.happens(events.Typed("laptop", "red"))
    assert not answers(s)
    assert "may not decide" in s.told(m.Announce)[-1].text
    assert thought(s) == ["paint it"]


def test_what_is_said_in_another_room_is_a_request_and_what_is_typed_there_an_answer() -> None:
    s = asked()
    s.join("kitchen")
    assert s.told(m.Announce, "kitchen")[-1].text.startswith("The code asks: Which")
    s.say("what time is it", device="kitchen")
    assert not answers(s)
    s.happens(events.Typed("kitchen", "red"))
    assert answers(s) == [("q1", "red")]


def test_words_that_began_before_it_are_about_something_else() -> None:
    s = Scene()
    s.join()
    s.happens(events.Typed("laptop", "paint it"))
    s.happens(events.AgentMessage(s.ticket, "acting", RUN))
    s.press()
    spoken = s.speak(0.5)
    s.happens(events.CodeAsked(s.ticket, "q1", "Which?"))
    s.release(s.speak(0.5, first=spoken))
    s.understand("and then mow the lawn")
    assert not answers(s)


def test_a_device_that_comes_back_is_shown_it() -> None:
    s = asked()
    s.happens(events.Left("laptop", may_return=True))
    before = len(s.told(m.Announce, "laptop"))
    s.join(returns=True)
    assert s.told(m.Announce, "laptop")[before:][-1].text.startswith("The code asks: Which")
    s.happens(events.Typed("laptop", "red"))
    assert answers(s) == [("q1", "red")]


def test_when_it_is_settled_words_are_requests_again() -> None:
    s = asked()
    s.happens(events.CodeAsked(s.ticket))
    s.happens(events.Typed("laptop", "red"))
    assert not answers(s)
    s = asked()
    s.happens(events.AgentMessage(s.ticket, "thinking", m.CodeEnd("a1", "ok")))
    s.happens(events.Typed("laptop", "red"))
    assert not answers(s)


def test_a_question_of_work_that_was_stopped_is_not_told() -> None:
    s = asked()
    stale = s.ticket
    s.happens(events.Typed("laptop", "stop", "stop"))
    told = len(s.told(m.Announce))
    s.happens(events.CodeAsked(stale, "q2", "Still there?"))
    assert len(s.told(m.Announce)) == told


def test_what_it_says_is_no_part_of_the_answer() -> None:
    s = asked(spoken=True)
    s.synthesize("The code asks: Which of the two?", 2.0)
    s.play(2.0)
    s.happens(events.Interrupted("laptop", None, 0))
    assert all("code asks" not in each.text for each in s.all(effects.HeardOnly))
