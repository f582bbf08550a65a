"""Only who was meant is heard: words that nobody pressed a key for, or called before, must ask."""

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.relevance.address import without_wake_word
from sayso.server.turn.relevance.own_words import is_own_voice
from sayso.server.turn.relevance.request_form import asks_for_something
from tests.turn.scene import RATE_IN, Scene

TELEVISION = (
    "The president said on Tuesday that talks would go on.",
    "He never told me about the money.",
    "And it is raining all over the north.",
    "I think we have to leave the house tonight.",
    "Twenty minutes later the train had gone.",
    "Das Wetter bleibt morgen im Süden freundlich.",
)

REQUESTS = (
    "What time is it in Tokyo?",
    "And what about tomorrow?",
    "Make it shorter.",
    "No, the other one.",
    "Please write that down.",
    "Can you read it again",
    "I want the last three.",
    "Und wie ist es in Berlin?",
    "Lies das noch einmal vor.",
)

ANSWER = "The tide comes in at seven in the evening and goes out at one in the night."


def said(
    s: Scene,
    text: str,
    *,
    addressed: bool | None,
    form: events.Form = "request",
    meaning: events.Meaning = "request",
) -> None:
    """Without a key."""
    s.streams += 1
    started = events.ListenStarted("laptop", s.streams, "hands_free", 0, 6_000, None, addressed)
    s.happens(started)
    utterance = s.the(effects.Listen).utterance
    s.happens(events.VoiceBegan(utterance, 0))
    s.happens(events.AudioHeard("laptop", s.streams, 0, b"\1\0" * RATE_IN))
    s.ends(utterance)
    s.happens(events.Heard(utterance, text, meaning, form))


def thought(s: Scene) -> list[str]:
    return [think.text for think in s.all(effects.Think)]


def shown(s: Scene) -> list[str]:
    return [note.text for note in s.told(m.Announce, "laptop")]


def answered() -> Scene:
    """An answer was heard out just now."""
    s = Scene()
    s.join()
    s.say("when is high tide")
    s.reply(ANSWER)
    s.synthesize(ANSWER, 3.0)
    s.end_work()
    s.end_mouth()
    s.play(3.0)
    s.happens(events.Played("laptop", s.the(effects.Send).stream, s.sent, done=True))
    s.wait(3.0)
    return s


def at_work() -> Scene:
    """Code runs that was approved."""
    s = Scene()
    s.join()
    s.say("sort my files")
    s.happens(events.AgentMessage(s.ticket, "acting", m.CodeStart("1", "python", "…")))
    s.wait(18.0)
    return s


def test_after_an_answer_a_request_counts_without_the_wake_word_and_a_remark_does_not() -> None:
    s = answered()
    said(s, "Our train leaves at nine.", addressed=False, form="remark")
    assert thought(s) == ["when is high tide"]
    assert "did not sound like a request" in shown(s)[-1]
    said(s, "What about the night?", addressed=False)
    assert thought(s)[-1] == "What about the night?"


def test_after_the_wake_word_everything_counts() -> None:
    s = answered()
    said(s, "Our train leaves at nine.", addressed=True, form="remark")
    assert thought(s)[-1] == "Our train leaves at nine."


def test_a_television_ends_no_work_and_asks_for_nothing() -> None:
    s = at_work()
    for sentence in (*TELEVISION, "What are you doing here?", "Open the door!"):
        form: events.Form = "request" if asks_for_something(sentence) else "remark"
        said(s, sentence, addressed=False, form=form)
        s.wait(5.0)
    assert thought(s) == ["sort my files"]
    assert not s.all(effects.StopThinking)


def test_what_is_understood_without_a_model_counts_during_work() -> None:
    s = at_work()
    said(s, "what time is it", addressed=False, form="reflex", meaning="aside")
    assert s.the(effects.AnswerAside).text == "what time is it"


def test_a_television_refuses_no_code_that_waits_for_a_yes_and_says_nothing_about_it() -> None:
    s = Scene()
    s.join()
    s.say("sort my files")
    question = m.ApprovalRequest("q1", "n", "python", "…", "/work")
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", question))
    s.synthesize("May I run this?", 0.5)
    s.play(0.7)
    s.wait(1.0)
    for sentence in TELEVISION:
        said(s, sentence, addressed=False, form="remark")
        s.wait(3.0)
    for order in ("Get out of my kitchen!", "Have an incoming call.", "Open the door!"):
        said(s, order, addressed=False)
        s.wait(3.0)
    assert not s.all(effects.AnswerApprovalByWord)
    assert not s.all(effects.Steer)
    assert thought(s) == ["sort my files"]
    said(s, "Nope.", addressed=False, form="reflex", meaning="no")
    assert s.the(effects.AnswerApprovalByWord).decision == "no"


@pytest.mark.parametrize("words", ["No, use the other folder.", "Instead list them."])
def test_what_is_said_of_the_code_that_waits_counts_without_the_wake_word(words: str) -> None:
    s = Scene()
    s.join()
    s.say("sort my files")
    question = m.ApprovalRequest("q1", "n", "python", "…", "/work")
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", question))
    s.synthesize("May I run this?", 0.5)
    s.play(0.7)
    s.wait(1.0)
    said(s, words, addressed=False)
    assert len(s.all(effects.Steer)) + len(thought(s)) == 2


def test_what_sayso_asked_may_be_answered_in_any_words() -> None:
    s = Scene()
    s.join()
    s.say("book a table")
    s.reply("For how many people?")
    s.synthesize("For how many people?", 1.0)
    s.end_work()
    s.end_mouth()
    s.play(1.0)
    s.wait(1.0)
    said(s, "Four of us.", addressed=False, form="remark")
    assert thought(s)[-1] == "Four of us."


@pytest.mark.parametrize("addressed", [None, False])
@pytest.mark.parametrize(
    "heard", ["comes in at seven in the evening", "and goes out at one", "Tides come in it seven."]
)
def test_its_own_words_are_no_request(heard: str, *, addressed: bool | None) -> None:
    s = Scene()
    s.join()
    s.say("when is high tide")
    s.reply(ANSWER)
    s.synthesize(ANSWER, 3.0)
    s.play(2.0)
    said(s, heard, addressed=addressed)
    assert thought(s) == ["when is high tide"]
    assert not s.told(m.SpeechStop), "it goes on speaking"
    s.play(1.0)
    s.wait(5.0)
    said(s, heard, addressed=None)
    assert thought(s)[-1] == heard, "later somebody else may say them"


def test_over_the_answer_a_remark_holds_it_and_a_request_ends_it() -> None:
    s = Scene()
    s.join()
    s.say("when is high tide")
    s.reply(ANSWER)
    s.synthesize(ANSWER, 3.0)
    s.end_work()
    s.end_mouth()
    s.play(1.0)
    s.streams += 1
    s.happens(events.ListenStarted("laptop", s.streams, "hands_free", 0, 6_000, None, False))
    utterance = s.the(effects.Listen).utterance
    s.happens(events.VoiceBegan(utterance, 0))
    s.partly(utterance, "the president said")
    assert s.states[-1][2] == "ducked"
    assert not s.told(m.SpeechStop)
    s.ends(utterance)
    s.happens(events.Heard(utterance, TELEVISION[0], "request", "remark"))
    assert s.states[-1][2] == "speaking"
    said(s, "What about tomorrow?", addressed=False)
    assert s.told(m.SpeechStop)[-1].reason == "interrupted"


@pytest.mark.parametrize("sentence", TELEVISION)
def test_what_people_tell_each_other_is_no_request(sentence: str) -> None:
    assert not asks_for_something(sentence)


@pytest.mark.parametrize("sentence", REQUESTS)
def test_questions_orders_and_wishes_are_requests(sentence: str) -> None:
    assert asks_for_something(sentence)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Hey Jarvis, stop.", "Stop."),
        ("Hey, Jarvis. What time is it?", "What time is it?"),
        ("hey travis stop", "Stop"),
        ("Okay, Nabu, and what about Tokyo?", "And what about Tokyo?"),
        ("Hey Minecraft, stop", "Stop"),
        ("Alexa stop", "Stop"),
        ("Sayso, list my files", "List my files"),
        ("Hey Jarvis, hey Jarvis, stop", "Stop"),
        ("Hey Jarvis.", ""),
        ("Alexa is a product.", "Alexa is a product."),
        ("Hey, how are you?", "Hey, how are you?"),
        ("Travis called about the car", "Travis called about the car"),
    ],
)
def test_the_wake_word_is_taken_off_wherever_it_stands_first(said: str, meant: str) -> None:
    assert without_wake_word(said) == meant


def test_a_person_who_takes_up_words_of_an_answer_is_not_its_echo() -> None:
    assert is_own_voice("comes in at seven in the evening", [ANSWER])
    assert not is_own_voice("what about the evening tide then", [ANSWER])
    assert not is_own_voice("when does it go out again", [ANSWER])
    assert not is_own_voice("stop", [ANSWER])
