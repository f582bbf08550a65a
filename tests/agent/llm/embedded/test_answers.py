"""A small model's account of a result is held against the result."""

import pytest

from sayso.server.agent.llm.embedded.answers import checked, plain_answer
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.record.conversation_history import Act
from sayso.server.store.records import Call, RunReported

ANSWERS = profile("pocket").answers
assert ANSWERS is not None


def act(output: str, status: str = "ok", detail: str = "") -> Act:
    report = RunReported("a", status, detail=detail, output=output)  # type: ignore[arg-type]
    return Act(Call("a", "python", "…"), report=report)


@pytest.mark.parametrize(
    ("asked", "output", "reply", "said"),
    [
        ("what is 239 times 43", "10277\n", "239 times 43 is 10277.", "239 times 43 is 10277."),
        ("what is 239 times 43", "10277\n", "239 times 43 is 10,277.", "239 times 43 is 10,277."),
        ("what is 239 times 43", "10277\n", "239 times 43 is 1027.", "The result is 10277."),
        ("what is 239 times 43", "10277\n", "10277 is a nice one.", "The result is 10277."),
        ("what is 239 times 43", "10277\n", "239 times 43 is 10277, or 9.", "The result is 10277."),
        ("divide 144 by 12", "12.0\n", "144 divided by 12 is 1.", "The result is 12."),
        ("divide 144 by 12", "12.0\n", "144 divided by 12 is 12.0.", "144 divided by 12 is 12."),
        ("10 miles in km", "16.09344", "10 miles are 16.1 km.", "10 miles are 16.1 km."),
        ("square root of 2", "1.4142135623730951", "No idea.", "The result is 1.4142."),
        ("is 97 prime", "True", "Yes, 97 is prime.", "Yes, 97 is prime."),
        ("is 97 prime", "True", "No, 97 is not prime.", "The result is yes."),
        ("what day is it", "Friday\n", "The day is Monday.", "The result is Friday."),
        ("sort 3, 1", "[1, 3]", "I sorted them for you.", "The result is 1, 3."),
        ("save it", "I saved todo.txt", "Whatever.", "I saved todo.txt"),
    ],
)  # fmt: skip
def test_a_sentence_that_does_not_state_the_result_is_replaced(
    asked: str, output: str, reply: str, said: str
) -> None:
    assert ANSWERS is not None
    assert checked(reply, asked, act(output), ANSWERS) == said


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (act("10277\n"), ""),
        (act(""), "Done."),
        (act("[image/png shown to the person] <Figure>\n"), "It is on your screen."),
        (act("a\nb\nc\n"), "It is on your screen."),
        (act("x" * 200), "It is on your screen."),
        (act("Traceback…\nNameError: name 'x' is not defined", "error"),
         "That did not work: NameError: name 'x' is not defined."),
        (act("", "refused", "The person said no."), "All right, I leave it."),
        (act("", "died", "The interpreter ended."), "That did not work: The interpreter ended."),
    ],
)  # fmt: skip
def test_what_is_not_put_into_words_is_not_asked_of_the_model(outcome: Act, said: str) -> None:
    assert ANSWERS is not None
    assert plain_answer(outcome, ANSWERS) == said
