"""A conversation that has outgrown the prompt: what is kept of it, and what stays the same."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sayso.server.agent.prompt.compaction import BRIEF_CHARS, compact
from sayso.server.agent.record.conversation_history import Exchange, History
from sayso.server.store.changes import Changes
from sayso.server.store.records import (
    Answered,
    Asked,
    Call,
    Record,
    RunIntended,
    RunReported,
    Withdrawn,
)


def exchange(number: int, size: int = 200) -> list[Record]:
    call = Call(f"run{number}", "python", f"open('table{number}.csv', 'w')")
    return [
        Asked(f"question {number} {'x' * size}"),
        Answered("", (call,)),
        RunIntended(call.id, "python", call.code),
        RunReported(call.id, "ok", output="y" * size, changes=Changes(added=(f"out{number}.png",))),
        Answered(f"answer {number}."),
    ]


def history(*parts: list[Record]) -> list[Exchange]:
    return History(record for part in parts for record in part).exchanges


def test_what_fits_is_told_whole() -> None:
    there = history(*(exchange(number) for number in range(3)))
    assert compact(there, 100_000).exchanges == there
    assert compact(there, 100_000).notes == ""


def test_notes_keep_questions_answers_files_and_decisions() -> None:
    refused = Call("no1", "bash", "rm -r photos")
    edited = Call("ed1", "python", "print('theirs')")
    early: list[Record] = [
        Asked("clean up report.pdf please"),
        Answered("", (refused, edited)),
        RunReported("no1", "refused", detail="The person said no: it did not run."),
        RunIntended("ed1", "python", "print('mine')"),
        RunReported("ed1", "ok"),
        Answered("I left it."),
    ]
    told = compact(history(early, *(exchange(number, 900) for number in range(6))), 8_000)
    assert told.exchanges[-1].asked.startswith("question 5")
    assert "clean up report.pdf please → I left it." in told.notes
    assert "said no" in told.notes
    assert "rm -r photos" in told.notes
    assert "changed the code" in told.notes
    for name in ("report.pdf", "table0.csv", "out0.png"):
        assert name in told.notes


def test_the_prompt_begins_alike_for_many_turns() -> None:
    parts: list[list[Record]] = []
    beginnings = []
    for number in range(60):
        parts.append(exchange(number))
        told = compact(history(*parts), 6_000)
        beginnings.append((told.notes, told.exchanges[0].asked))
    changes = sum(before != after for before, after in pairwise(beginnings))
    assert 1 <= changes <= 12


def test_what_waits_for_the_person_is_always_told() -> None:
    call = Call("open1", "python", "z" * 5_000)
    last: list[Record] = [Asked("go"), Answered("", (call,))]
    parts = [*(exchange(number) for number in range(9)), last]
    told = compact(history(*parts), 3_000)
    assert [act.call for step in told.exchanges[-1].steps for act in step.acts] == [call]


def test_within_a_long_piece_of_work_old_outputs_become_brief() -> None:
    records: list[Record] = [Asked("dig")]
    seen = []
    for number in range(12):
        call = Call(f"run{number}", "python", "dig()")
        records += [Answered("", (call,)), RunReported(call.id, "ok", output="o" * 2_000)]
        told = compact(History(records).exchanges, 12_000)
        assert f"run{number}" not in told.brief
        seen.append(told.brief)
    assert seen[-1]
    assert all(before <= after for before, after in pairwise(seen))
    assert len(set(seen)) <= 6


@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=30), st.integers(1, 20_000))
def test_what_is_told_fits_but_for_the_last_request(sizes: list[int], characters: int) -> None:
    there = history(*(exchange(number, size) for number, size in enumerate(sizes)))
    told = compact(there, characters)
    assert told.exchanges[-1] is there[-1]
    length = len(told.notes)
    for one in told.exchanges[:-1]:
        length += len(one.asked) + sum(len(step.text) for step in one.steps)
        for act in (act for step in one.steps for act in step.acts):
            output = len(act.report.output) if act.report else 0
            brief = act.call.id in told.brief
            length += len(act.call.code) + (min(output, BRIEF_CHARS) if brief else output)
    assert length <= characters


def test_a_talk_that_never_ends_is_not_held_for_ever_and_enough_of_it_is() -> None:
    held, room = 40_000, 10_000
    endless = History(held_chars=held)
    for number in range(400):
        for record in exchange(number):
            endless.apply(record)
        told = compact(endless.told, room).exchanges
        assert sum(one.characters for one in endless.exchanges[:-1]) <= held
        assert told[-1].asked.startswith(f"question {number} ")
        assert sum(one.characters for one in told) > room // 4 or number < 20
    assert len(endless.exchanges) < 100
    assert endless.find("run0") is None
    assert endless.find("run399")


def test_what_was_let_go_can_still_be_undone() -> None:
    talk = History((record for number in range(9) for record in exchange(number)), held_chars=600)
    assert len(talk.exchanges) < 9
    assert [request.runs for request in talk.requests] == [[f"run{number}"] for number in range(9)]


def test_a_half_request_that_is_taken_back_does_not_count() -> None:
    talk = History(held_chars=1_500)
    for number in range(3):
        for record in exchange(number):
            talk.apply(record)
        for _ in range(50):
            talk.apply(Asked("half of"))
            talk.apply(Withdrawn("half of"))
    assert [one.asked[:10] for one in talk.exchanges] == ["question 0", "question 1", "question 2"]
