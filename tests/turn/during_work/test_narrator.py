"""Long work is told of: news, a heartbeat, an offer to stop; never over anybody, nor too often."""

import re
from itertools import pairwise

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.during_work.narration_phrases import NARRATIONS, narrated, update_wish
from tests.turn.during_work.working import START, at_work, spoken
from tests.turn.scene import Scene

FILLER = "I'm on it."


def narrations(s: Scene) -> list[tuple[float, str]]:
    """What was said by itself, and when."""
    said = [(at, e.text.strip()) for at, e in s.done if isinstance(e, effects.Speak)]
    return [(at, text) for at, text in said if text.startswith(("Still", "That"))]


def quiet_work() -> Scene:
    """The filler was said and heard; it is silent from `s.now` on."""
    s = at_work()
    s.wait(1.2)
    heard(s, FILLER)
    return s


def heard(s: Scene, text: str) -> None:
    """It becomes sound, and is played to its end."""
    s.synthesize(text, 0.5)
    s.play(0.6)


def ended(seconds: float, status: str = "ok") -> m.CodeEnd:
    return m.CodeEnd("r1", status, seconds)  # type: ignore[arg-type]


def test_after_a_minute_of_silence_it_is_still_at_it() -> None:
    s = quiet_work()
    quiet = s.machine._playback.quiet_since
    s.wait(59.0)
    assert narrations(s) == []
    s.wait(2.0)
    ((at, text),) = narrations(s)
    assert at == pytest.approx(quiet + 60.0, abs=0.001)
    assert text == "Still at it, for 62 seconds now."


def test_then_every_three_minutes_and_it_offers_to_stop() -> None:
    s = quiet_work()
    for _ in range(3):
        s.wait(185.0)
        heard(s, "Still at it.")
    first, second, third = narrations(s)
    assert "stop" not in first[1]
    assert "Say stop" in second[1]
    assert "Say stop" in third[1]
    assert third[0] - second[0] >= 180.0


def test_the_end_of_a_long_step_is_news_and_comes_twenty_seconds_after_the_last_word() -> None:
    s = quiet_work()
    quiet = s.machine._playback.quiet_since
    s.wait(16.0)
    s.happens(events.AgentMessage(s.ticket, "thinking", ended(16.0)))
    s.wait(10.0)
    ((at, text),) = narrations(s)
    assert at == pytest.approx(quiet + 20.0, abs=0.001)
    assert text == "That step took 16 seconds."


def test_the_end_of_a_short_step_is_none() -> None:
    s = quiet_work()
    s.happens(events.AgentMessage(s.ticket, "thinking", ended(15.0)))
    s.wait(40.0)
    assert narrations(s) == []


def test_what_goes_on_in_the_background_is_no_end() -> None:
    s = quiet_work()
    goes_on = m.CodeEnd("r1", "ok", 16.0, job="j1")
    s.happens(events.AgentMessage(s.ticket, "thinking", goes_on))
    s.wait(40.0)
    assert narrations(s) == []


@pytest.mark.parametrize("status", ["error", "died"])
def test_a_failure_is_news(status: str) -> None:
    s = quiet_work()
    s.happens(events.AgentMessage(s.ticket, "thinking", ended(3.0, status)))
    s.wait(40.0)
    assert narrations(s)[0][1] == "That did not work; I look into it."


def test_what_the_model_tells_itself_is_no_news() -> None:
    s = quiet_work()
    s.happens(events.AgentMessage(s.ticket, "thinking", ended(16.0)))
    s.reply("It is built; now the tests.")
    heard(s, "It is built; now the tests.")
    s.wait(40.0)
    assert narrations(s) == []


def test_at_most_three_in_a_minute() -> None:
    s = quiet_work()
    for _ in range(300):
        s.happens(events.AgentMessage(s.ticket, "acting", START))
        s.happens(events.AgentMessage(s.ticket, "thinking", ended(16.0)))
        before = len(spoken(s))
        s.wait(1.0)
        if len(spoken(s)) > before:
            heard(s, "That step took 16 seconds.")
    times = [at for at, _ in narrations(s)]
    assert len(times) > 5
    assert all(later - earlier >= 20.0 for earlier, later in pairwise(times))
    assert all(sum(at <= one < at + 60.0 for one in times) <= 3 for at in times)


def test_never_over_a_person_who_speaks() -> None:
    s = quiet_work()
    s.wait(55.0)
    s.press()
    samples = s.speak(20.0)
    assert narrations(s) == []
    s.release(samples)
    s.understand("")
    s.wait(30.0)
    assert narrations(s) == []


def test_never_while_a_question_waits() -> None:
    s = quiet_work()
    question = m.ApprovalRequest("q1", "n", "python", "…", "/work")
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", question))
    heard(s, "May I run this?")
    s.wait(400.0)
    assert narrations(s) == []


def test_nothing_is_said_to_who_typed() -> None:
    s = Scene()
    s.join()
    s.happens(events.Typed("laptop", "sort my files"))
    s.happens(events.AgentMessage(s.ticket, "acting", START))
    s.wait(400.0)
    assert narrations(s) == []


def test_nothing_is_said_when_the_work_is_over() -> None:
    s = quiet_work()
    s.say("stop", meaning="stop")
    s.wait(400.0)
    assert narrations(s) == []


def test_a_wish_for_fewer_lasts_for_the_request() -> None:
    s = quiet_work()
    s.say("fewer updates, please")
    assert not s.all(effects.Steer)
    heard(s, "Got it.")
    s.happens(events.AgentMessage(s.ticket, "thinking", ended(3.0, "error")))
    s.wait(100.0)
    assert narrations(s) == []
    s.say("No, instead sort by date")
    s.happens(events.AgentMessage(s.ticket, "acting", START))
    s.wait(1.2)
    heard(s, FILLER)
    s.wait(61.0)
    assert len(narrations(s)) == 1, "the next request has the usual again"


@pytest.mark.parametrize("language", NARRATIONS)
@pytest.mark.parametrize("kind", NARRATIONS["en"])
def test_no_sentence_has_a_path_code_or_symbol(language: str, kind: str) -> None:
    for seconds in (16, 61, 600, 7_200):
        text = narrated(kind, language, seconds)  # type: ignore[arg-type]
        assert re.fullmatch(r"[\w ,.;']+", text), text


@pytest.mark.parametrize(
    ("words", "wish"),
    [
        ("Fewer updates, please.", "fewer"),
        ("Weniger Meldungen bitte", "fewer"),
        ("Keep me posted.", "usual"),
        ("update the readme", None),
        ("fewer updates to the database", None),
    ],
)
def test_what_wishes_for_fewer_or_more(words: str, wish: str | None) -> None:
    assert update_wish(words) == wish


def planned(s: Scene, text: str) -> None:
    s.happens(events.AgentMessage(s.ticket, "acting", m.CodeStart("p1", "plan", text)))
    s.happens(events.AgentMessage(s.ticket, "thinking", m.CodeEnd("p1", "ok", 0.0)))


def test_the_next_step_of_a_plan_is_told_and_none_of_its_words() -> None:
    s = quiet_work()
    planned(s, "> read /etc/passwd\n  rm -rf\n  say so")
    planned(s, "x read /etc/passwd\n> rm -rf\n  say so")
    s.wait(21.0)
    assert [text for text in spoken(s) if text.startswith("Now")] == ["Now step 2 of 3."]


def test_the_first_step_of_a_plan_is_no_news() -> None:
    s = quiet_work()
    planned(s, "> read it\n  mend it\n  say so")
    s.wait(30.0)
    assert not [text for text in spoken(s) if text.startswith("Now")]
