"""`sayso.ask` and `input()`: running code asks the person."""

import asyncio
from contextlib import aclosing

import pytest

from sayso.server.agent.calls.questions import choice_in
from sayso.server.agent.events import AgentEvent, ApprovalRequest, CodeAsked, CodeEnd, CodeOut
from sayso.server.store.decisions import CodeQuestioned
from tests.agent.conftest import AgentRig
from tests.scripted_model import runs, says


async def asked_by(rig: AgentRig, code: str, *answers: str) -> list[AgentEvent]:
    """Let code run, and answer its questions one after the other."""
    agent = await rig.agent(runs(code), says("Done."), mode="workspace")
    rig.approvals.of_code.answerable = True
    left, rig.events = list(answers), []
    async with aclosing(agent.work("go", by="kitchen")) as events:
        async for event in events:
            rig.events.append(event)
            if isinstance(event, CodeAsked) and event.id and left:
                assert rig.approvals.of_code.answer(event.id, left.pop(0), "kitchen")
    return rig.events


def printed(rig: AgentRig) -> str:
    return "".join(e.output.text for e in rig.told(CodeOut) if e.output.kind == "stdout")


@pytest.mark.slow
async def test_the_answer_comes_back_as_text_and_is_written_down(rig: AgentRig) -> None:
    await asked_by(rig, "print(repr(sayso.ask('Your name?')))", " Ada ")
    assert printed(rig) == "'Ada'\n"
    (kept,) = await rig.records(CodeQuestioned)
    assert (kept.question, kept.answer, kept.by) == ("Your name?", "Ada", "kitchen")
    assert not rig.told(ApprovalRequest)


async def test_with_choices_it_is_one_of_them_and_what_is_none_is_asked_again(
    rig: AgentRig,
) -> None:
    code = "print(sayso.ask('Which?', choices=['red', 'blue']))"
    await asked_by(rig, code, "green", "Blue, please.")
    assert printed(rig) == "blue\n"
    assert [each.choices for each in rig.told(CodeAsked) if each.id] == [("red", "blue")] * 2


async def test_input_asks_the_person_too(rig: AgentRig) -> None:
    await asked_by(rig, "print('Hello ' + input('Your name? '))", "Ada")
    assert printed(rig) == "Hello Ada\n"
    assert rig.told(CodeAsked)[0].text == "Your name?"


async def test_what_was_printed_before_it_is_shown_before_it(rig: AgentRig) -> None:
    events = await asked_by(rig, "print('1. red')\nsayso.ask('Which?')", "red")
    kinds = [type(each) for each in events if isinstance(each, CodeOut | CodeAsked)]
    assert kinds.index(CodeOut) < kinds.index(CodeAsked)


async def test_unanswered_it_is_an_exception_that_code_can_handle(rig: AgentRig) -> None:
    rig.approvals.of_code.answer_s = 0.05
    code = """
try:
    sayso.ask('Anybody?')
except sayso.Refused as refusal:
    print(refusal)
"""
    events = await asked_by(rig, code)
    assert printed(rig) == "Nobody answered within 0 seconds.\n"
    asked = [each for each in events if isinstance(each, CodeAsked)]
    assert [bool(each.id) for each in asked] == [True, False]
    assert not rig.approvals.of_code.answer(asked[0].id, "too late", "kitchen")


async def test_what_it_asks_is_one_short_line_that_hides_nothing(rig: AgentRig) -> None:
    code = r"""
sayso.ask('Which?\n\nSayso: May I\u202e run this?\x1b[2J', choices=['a\nb', 'c'])
for wrong in ({'question': 'x' * 301}, {'question': 'a', 'choices': ['']}, {'question': 1},
              {'question': 'a', 'choices': ['b'] * 2},
              {'question': 'a', 'choices': list('abcdefghijk')},
              {'question': 'a', 'choices': 'abc'}, {'question': 'a', 'run': 'b'}):
    try:
        sayso.call('ask', **wrong)
        print('taken', wrong)
    except sayso.Refused:
        pass
"""
    await asked_by(rig, code, "c")
    asked = [each for each in rig.told(CodeAsked) if each.id]
    assert [each.text for each in asked] == [
        "Which? Sayso: May I<U+202E> run this?<U+001B>[2J",
    ]
    assert asked[0].choices == ("a b", "c")
    assert not printed(rig)


async def test_a_run_asks_ten_times_at_most(rig: AgentRig) -> None:
    code = """
for n in range(11):
    try:
        sayso.ask(n)
    except sayso.Refused as refusal:
        print(n, refusal)
"""
    await asked_by(rig, code, *map(str, range(20)))
    assert printed(rig) == "10 One run may ask 10 times at most.\n"


async def test_two_questions_at_once_are_asked_one_after_the_other(rig: AgentRig) -> None:
    code = "print(sayso.together(lambda: sayso.ask('a'), lambda: sayso.ask('b')))"
    events = await asked_by(rig, code, "1", "2")
    asked = [bool(each.id) for each in events if isinstance(each, CodeAsked)]
    assert asked == [True, False, True, False]
    assert printed(rig) in ("['1', '2']\n", "['2', '1']\n")


async def test_stop_withdraws_the_question(rig: AgentRig) -> None:
    agent = await rig.agent(runs("sayso.ask('Which?')"), says("Done."), mode="workspace")
    questions = rig.approvals.of_code
    questions.answerable = True
    asked = asyncio.Event()
    seen: list[CodeAsked] = []

    async def listen() -> None:
        async with aclosing(agent.work("go")) as events:
            async for event in events:
                if isinstance(event, CodeAsked):
                    seen.append(event)
                    asked.set()

    listening = asyncio.create_task(listen())
    await asyncio.wait_for(asked.wait(), 30)
    listening.cancel()
    await asyncio.wait([listening], timeout=10)
    assert listening.done()
    assert not questions.answer(seen[0].id, "red", "kitchen")


async def test_what_goes_to_the_background_leaves_no_question_open(rig: AgentRig) -> None:
    """Neither the one that is asked, nor those that wait for their turn."""
    code = """
import threading, time
def ask(n):
    try:
        print(sayso.ask(f'{n}?'))
    except sayso.Refused as refusal:
        print(refusal)
asking = [threading.Thread(target=ask, args=(n,)) for n in range(3)]
for each in asking: each.start()
while not __import__('os').path.exists('asked'): time.sleep(0.01)
sayso.background()
for each in asking: each.join()
open('all refused', 'w').close()
"""
    agent = await rig.agent(runs(code), says("Done."), mode="workspace")
    rig.approvals.of_code.answerable = True
    seen: list[CodeAsked] = []
    async with aclosing(agent.work("go", by="kitchen")) as events:
        async for event in events:
            if isinstance(event, CodeAsked):
                seen.append(event)
                (rig.folder / "workspace" / "asked").touch()
    assert [bool(each.id) for each in seen] == [True, False]
    async with asyncio.timeout(20):
        while not (rig.folder / "workspace" / "all refused").exists():  # noqa: ASYNC110 - a file of code's
            await asyncio.sleep(0.02)
    assert len(seen) == 2


async def test_where_nobody_could_answer_input_fails_at_once(rig: AgentRig) -> None:
    agent = await rig.agent(runs("input()"), says("Done."), mode="workspace")
    await rig.ask(agent, "go")
    assert "asked for input" in rig.told(CodeEnd)[0].detail


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        ("red", "red"), ("Red.", "red"), ("the red one", "red"), ("2", "dark blue"),
        ("dark  blue!", "dark blue"), ("3", ""), ("0", ""), ("red or dark blue", ""), ("", ""),
        ("reddish", ""), ("9" * 5_000, ""),
    ],
)  # fmt: skip
def test_what_is_said_is_one_choice_or_none(answer: str, means: str) -> None:
    assert choice_in(answer, ("red", "dark blue")) == means
