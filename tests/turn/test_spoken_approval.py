"""A spoken or typed yes counts for a question that its device got whole and had time to show."""

from typing import Literal

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.regions.spoken_approval import SHOWN_S
from tests.turn.scene import RATE_OUT, Scene

FIRST = m.ApprovalRequest("1", "n", "python", "…", "/work")
SECOND = m.ApprovalRequest("2", "n", "python", "…", "/work")


def asked(*, shown: bool = True) -> Scene:
    s = Scene()
    s.join(speaks=False)
    s.happens(events.Typed("laptop", "sort my files"))
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", FIRST))
    if shown:
        s.happens(events.QuestionShown("laptop", "1"))
    return s


def yes(s: Scene, device: str = "laptop") -> None:
    s.happens(events.Typed(device, "yes", "yes"))


def settled(s: Scene) -> list[tuple[str, str]]:
    return [(word.id, word.decision) for word in s.all(effects.AnswerApprovalByWord)]


def why(s: Scene) -> str:
    return s.told(m.Announce, "laptop")[-1].text


def test_a_yes_counts_for_the_one_question_that_is_shown() -> None:
    s = asked()
    s.wait(SHOWN_S)
    yes(s)
    assert settled(s) == [("1", "yes")]


def test_a_device_that_was_not_sent_the_question_whole_says_no_yes_to_it() -> None:
    s = asked(shown=False)
    s.wait(60)
    yes(s)
    assert settled(s) == []
    assert "does not show all of it" in why(s)
    assert s.state_of_work == "awaiting_approval"
    s.happens(events.Typed("laptop", "no", "no"))
    assert settled(s) == [("1", "no")]


def test_that_another_device_shows_it_is_not_enough() -> None:
    s = asked(shown=False)
    s.join("phone")
    s.happens(events.QuestionShown("phone", "1"))
    s.wait(60)
    yes(s)
    assert settled(s) == []


def test_a_late_yes_is_not_taken_for_the_next_question() -> None:
    s = asked()
    s.wait(SHOWN_S)
    s.happens(events.AgentMessage(s.ticket, "thinking", m.ApprovalDone("1", "no", "phone")))
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", SECOND))
    yes(s)  # The first one alone was shown.
    assert settled(s) == []
    s.happens(events.QuestionShown("laptop", "2"))
    s.wait(SHOWN_S / 2)
    yes(s)
    assert settled(s) == []
    assert "quicker than the question" in why(s)
    s.wait(SHOWN_S / 2)
    yes(s)
    assert settled(s) == [("2", "yes")]


def test_a_spoken_yes_that_began_before_the_question_was_shown_does_not_count() -> None:
    s = asked(shown=False)
    s.press()
    s.happens(events.QuestionShown("laptop", "1"))
    s.release(s.speak(3 * SHOWN_S))
    s.understand("yes", "yes")
    assert settled(s) == []


@pytest.mark.parametrize("may_return", [True, False])
def test_a_device_that_was_away_must_have_been_sent_it_again(*, may_return: bool) -> None:
    s = asked()
    s.happens(events.Left("laptop", may_return=may_return))
    s.join(speaks=False, returns=may_return)
    s.wait(60)
    yes(s)
    assert settled(s) == []
    s.happens(events.QuestionShown("laptop", "1"))
    s.wait(SHOWN_S)
    yes(s)
    assert settled(s) == [("1", "yes")]


def test_a_question_that_was_taken_down_counts_for_nothing() -> None:
    s = asked()
    s.wait(SHOWN_S)
    s.happens(events.AgentMessage(s.ticket, "acting", m.CodeStart("1", "python", "…")))
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", SECOND))
    s.wait(60)
    yes(s)
    assert settled(s) == []


def test_a_yes_counts_only_for_the_question_that_its_device_says_it_is_about() -> None:
    s = asked()
    s.wait(60)
    for other in ("", "0", "2"):
        s.happens(events.Typed("laptop", "yes", "yes", other))
        assert settled(s) == []
        assert "quicker than the question" in why(s)
    s.happens(events.Typed("laptop", "yes", "yes", "1"))
    assert settled(s) == [("1", "yes")]


def answered_elsewhere(decision: Literal["yes", "no"]) -> Scene:
    """The question stood on the laptop, and another device answered it with a tap."""
    s = asked()
    s.wait(SHOWN_S)
    s.happens(events.AgentMessage(s.ticket, "acting", m.ApprovalDone("1", decision, "phone")))
    s.happens(events.AgentMessage(s.ticket, "acting", m.CodeStart("1", "python", "…")))
    return s


@pytest.mark.parametrize("spoken", [True, False])
def test_a_yes_that_meets_an_answered_question_ends_nothing_and_asks_for_nothing(
    *, spoken: bool
) -> None:
    s = answered_elsewhere("yes")
    if spoken:
        s.streams += 1
        s.happens(events.ListenStarted("laptop", s.streams, question="1"))
        s.release(s.speak(1.0))
        s.understand("yes", "yes")
    else:
        s.happens(events.Typed("laptop", "yes", "yes", "1"))
    assert s.state_of_work == "acting"
    assert [each.text for each in s.all(effects.Think)] == ["sort my files"]
    assert not s.all(effects.StopThinking)
    assert settled(s) == []
    assert "settled already" in why(s)


def test_a_no_that_meets_a_question_which_another_device_approved_stops_the_run() -> None:
    s = answered_elsewhere("yes")
    s.happens(events.Typed("laptop", "no", "no", "1"))
    assert s.all(effects.StopThinking)
    assert [each.text for each in s.all(effects.Think)] == ["sort my files"]


def test_of_two_devices_on_which_somebody_taps_at_once_the_no_counts() -> None:
    s = answered_elsewhere("yes")
    s.happens(events.ApprovalAnswered("laptop", "1", "n", "no", None))
    assert s.all(effects.StopThinking)
    s = answered_elsewhere("no")
    s.happens(events.ApprovalAnswered("laptop", "1", "n", "yes", None))
    assert not s.all(effects.StopThinking)
    forged = answered_elsewhere("yes")
    forged.happens(events.ApprovalAnswered("laptop", "1", "another nonce", "no", None))
    assert not forged.all(effects.StopThinking)


def test_a_yes_to_an_answered_question_is_no_answer_to_what_the_code_asks() -> None:
    s = answered_elsewhere("yes")
    s.happens(events.CodeAsked(s.ticket, "q1", "Delete it all?", ("yes", "no")))
    s.wait(60)
    s.happens(events.Typed("laptop", "yes", "yes", "1"))
    assert not s.all(effects.AnswerCode)
    s.happens(events.Typed("laptop", "yes", "yes", ""))
    assert [each.text for each in s.all(effects.AnswerCode)] == ["yes"]


def test_a_no_counts_whatever_it_is_about() -> None:
    s = asked()
    s.happens(events.Typed("laptop", "no", "no", ""))
    assert settled(s) == [("1", "no")]


@pytest.mark.parametrize(("named", "counts"), [("1", True), ("", False), ("0", False)])
def test_a_spoken_yes_is_about_what_stood_there_when_it_began(named: str, *, counts: bool) -> None:
    s = asked()
    s.wait(60)
    s.streams += 1
    s.happens(events.ListenStarted("laptop", s.streams, question=named))
    s.release(s.speak(1.0))
    s.understand("yes", "yes")
    assert settled(s) == ([("1", "yes")] if counts else [])


def spoken_question(*, rest_s: float = 0.0) -> Scene:
    """A question that was put aloud, and played to its end; `rest_s` of it are silence."""
    s = Scene()
    s.join()
    s.say("sort my files")
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", FIRST))
    s.happens(events.QuestionShown("laptop", "1"))
    loud, rest = b"\0\x20" * round(1.5 * RATE_OUT), bytes(2 * round(rest_s * RATE_OUT))
    s.happens(events.ChunkSpoken(s.ticket, "May I run this?", RATE_OUT, loud + rest, ()))
    return s


def answer_yes(s: Scene) -> None:
    s.press()
    s.release(s.speak(0.5))
    s.understand("yes", "yes")


def test_a_yes_counts_300_ms_after_the_last_word_that_was_heard() -> None:
    s = spoken_question(rest_s=0.5)
    s.play(1.5)
    s.wait(0.3)
    answer_yes(s)
    assert settled(s) == [("1", "yes")]


def test_a_loudspeaker_that_keeps_the_last_of_the_sound_back_has_been_heard_out() -> None:
    s = spoken_question()
    s.play(1.4)
    stream = s.the(effects.Send).stream
    s.wait(0.1)
    s.happens(events.Played("laptop", stream, s.sent - 12, done=False))
    assert s.told(m.TurnState)[-1].mouth == "silent"
    s.wait(0.3)
    answer_yes(s)
    assert settled(s) == [("1", "yes")]
    s.wait(60)
    assert not [stop for stop in s.told(m.SpeechStop) if stop.reason == "failed"]


def test_a_yes_over_the_question_is_refused_and_its_device_shows_why() -> None:
    s = spoken_question()
    s.play(1.2)
    answer_yes(s)
    assert settled(s) == []
    assert "still speaking" in why(s)


def test_a_device_that_is_sent_no_questions_does_not_ask_for_a_yes() -> None:
    s = Scene()
    s.join(is_asked=False)
    s.say("sort my files")
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", FIRST))
    assert "answer where you see it" in s.the(effects.Speak).text


def test_more_than_the_sandbox_is_not_opened_by_a_word_and_that_is_said() -> None:
    wish = m.ApprovalRequest("1", "n", "access", "read /x", "/w", kind="access", tap=True)
    s = Scene()
    s.join()
    s.say("read my bill")
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", wish))
    assert "answer on a screen" in s.the(effects.Speak).text
    s.synthesize(s.the(effects.Speak).text.strip(), 1.0)
    s.play(1.0)
    s.wait(2.0)
    s.hear(s.voice(), "yes", "yes")
    assert not s.all(effects.AnswerApprovalByWord)
    assert s.state_of_work == "awaiting_approval"
    s.hear(s.voice(), "no", "no")
    assert s.the(effects.AnswerApprovalByWord).decision == "no"
