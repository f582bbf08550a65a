"""Work that takes long is asked about while it goes on; certain words answer, all others do not."""

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from tests.turn.scene import Scene

RUN = m.CodeStart("a1", "python", "train()")
QUESTION = "This has taken 8 minutes so far. Shall I go on, stop, or do it in the background?"


def asked(*, spoken: bool = False) -> Scene:
    s = Scene()
    s.join()
    if spoken:
        s.say("train it")
    else:
        s.happens(events.Typed("laptop", "train it"))
    s.happens(events.AgentMessage(s.ticket, "acting", RUN))
    s.happens(events.TimeAsked(s.ticket, QUESTION))
    return s


def used(s: Scene) -> list[str]:
    return [each.how for each in s.all(effects.UseTime)]


def test_it_is_shown_and_said_and_the_work_goes_on() -> None:
    s = asked(spoken=True)
    assert s.told(m.Announce)[-1].text == QUESTION
    assert s.the(effects.Speak).text.strip() == QUESTION
    assert s.state_of_work == "acting"
    assert not s.all(effects.StopThinking)


@pytest.mark.parametrize(
    ("said", "how"),
    [
        ("Yes, go on.", ["anew"]),
        ("keep going please", ["anew"]),
        ("In the background.", ["background"]),
        ("do it in the background please", ["background"]),
        ("yes put it in the background", ["background"]),
    ],
)
def test_words_say_how_it_goes_on(said: str, how: list[str]) -> None:
    s = asked()
    s.happens(events.Typed("laptop", said))
    assert used(s) == how
    assert len(s.all(effects.Think)) == 1
    s.happens(events.Typed("laptop", "thanks for nothing"))
    assert used(s) == how


def test_a_no_stops_it() -> None:
    s = asked()
    s.happens(events.Typed("laptop", "no"))
    assert used(s) == []
    assert s.all(effects.StopThinking)


def test_a_no_says_back_what_the_model_was_not_told() -> None:
    s = asked(spoken=True)
    s.say("and leave out the pictures")
    s.say("no", meaning="no")
    assert s.all(effects.StopThinking)
    shown = [each.text for each in s.told(m.Announce, "laptop")]
    assert shown[-1] == "I had not got to this: “and leave out the pictures”"


def test_a_yes_and_a_no_in_the_persons_own_language_answer_it() -> None:
    s = asked()
    s.happens(events.Typed("laptop", "Ja.", meaning="yes"))
    assert used(s) == ["anew"]
    s = asked(spoken=True)
    s.say("Nein.", meaning="no")
    assert s.all(effects.StopThinking)
    assert not s.all(effects.Steer)


def test_other_words_are_not_for_it() -> None:
    s = asked()
    s.happens(events.Typed("laptop", "what is in the background of this picture"))
    assert used(s) == []


def test_who_may_only_talk_and_did_not_ask_decides_nothing() -> None:
    s = asked()
    s.join("speaker", may_approve=False)
    s.happens(events.Typed("speaker", "yes"))
    assert used(s) == []


def test_words_after_the_work_is_over_are_a_request() -> None:
    s = asked()
    s.end_work()
    s.happens(events.Typed("laptop", "yes"))
    assert used(s) == []


def asks(s: Scene) -> list[m.Announce]:
    return [told for told in s.told(m.Announce) if told.asks]


def test_it_offers_words_that_answer_it_and_is_settled_for_everybody() -> None:
    s = asked()
    s.join("phone")
    (question, again) = asks(s)
    assert question == again, "who comes later is asked, too"
    assert question.question
    for choice, how in zip(question.choices, ("anew", "background", None), strict=True):
        s = asked()
        s.join("phone")
        meaning = "" if how else "stop"
        s.happens(events.Typed("phone", choice, meaning))  # type: ignore[arg-type]
        assert used(s) == ([how] if how else [])
        if how:
            assert s.told(m.Announce)[-1].question == question.question
            assert not s.told(m.Announce)[-1].asks
        else:
            assert s.all(effects.StopThinking)


def test_who_comes_when_it_is_settled_is_not_asked() -> None:
    s = asked()
    s.happens(events.Typed("laptop", "go on"))
    s.join("phone")
    assert len(asks(s)) == 1
