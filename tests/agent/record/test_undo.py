"""The model is told once what was undone, and no longer sees the steps that led to it."""

from collections.abc import Iterable, Sequence

import pytest

from sayso.server.agent.record.conversation_history import History
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.record.undo import UndoRequests, names
from sayso.server.store.records import (
    Answered,
    Asked,
    Call,
    ConversationReset,
    MadeAgain,
    Record,
    RunIntended,
    RunReported,
    TakenBack,
)
from sayso.server.undo.checkpointer import NoCheckpoints
from sayso.server.undo.plan import Left
from sayso.server.undo.results import Undone
from tests.agent.conftest import AgentRig
from tests.agent.prompt.test_messages import write


def request(number: int, text: str) -> Sequence[Record]:
    """A request for which code ran."""
    run = f"r{number}"
    return (
        Asked(text),
        Answered("", (Call(run, "python", f"code{number}()"),)),
        RunIntended(run, "python", f"code{number}()"),
        RunReported(run, "ok", output=f"output{number}"),
        Answered(f"answer{number}"),
    )


UNDONE = TakenBack(("r2",), ("a.txt",), ("new.txt",), ("b.txt",))


def test_the_model_is_told_what_was_undone_and_not_what_was_asked_then() -> None:
    records = (*request(1, "first"), *request(2, "wipe it"), UNDONE, Asked("and now?"))
    told = "\n".join(str(message["content"]) for message in write(records))
    assert "first" in told
    assert "wipe it" not in told
    assert "code2" not in told
    assert "<output files>\na.txt, new.txt\n</output files>\n are as they were" in told
    assert "b.txt" in told
    assert "Variables" in told


def test_it_is_told_once() -> None:
    records = (*request(2, "wipe it"), UNDONE, *request(3, "and now?"), Asked("and then?"))
    messages = [str(message["content"]) for message in write(records)]
    assert sum("as they were" in content for content in messages) == 1
    assert "as they were" not in messages[-1]


def test_what_is_done_again_is_told_again() -> None:
    again = MadeAgain(("r2",), ("a.txt",))
    at_once = str(write((*request(2, "wipe it"), UNDONE, again, Asked("and now?"))))
    assert "wipe it" in at_once
    assert "as they were" not in at_once
    later = str(write((*request(2, "wipe it"), UNDONE, *request(3, "so"), again, Asked("now?"))))
    assert "wipe it" in later
    assert "done again" in later


def test_what_ran_before_a_reset_can_still_be_undone() -> None:
    history = History((*request(1, "first"), *request(2, "second"), ConversationReset()))
    history.apply(Asked("third"))
    told = [(request.asked, request.runs) for request in history.requests]
    assert told == [("first", ["r1"]), ("second", ["r2"]), ("third", [])]


def test_a_request_for_which_nothing_ran_makes_room_for_the_next() -> None:
    history = History((*request(1, "first"), Asked("how late is it?"), Asked("second")))
    assert [request.asked for request in history.requests] == ["first", "second"]


@pytest.mark.parametrize(
    ("words", "asked", "named"),
    [
        ("login page", "Fix the login page, please.", True),
        ("renaming", "Rename all of my notes", True),
        ("Notes", "rename all of my notes", True),
        ("log", "Fix the login", False),
        ("login notes", "Fix the login", False),
        ("art", "start the car", False),
    ],
)
def test_a_request_is_named_by_words_of_it(words: str, asked: str, *, named: bool) -> None:
    assert names(words, asked) is named


class Checkpoints:
    """Takes back what it is told to, and remembers being asked."""

    def __init__(self, undone: Undone, *there: str) -> None:
        """`there`: runs that changed something."""
        self.undone = undone
        self.asked: list[list[str]] = []
        self.most = 0
        self._there = set(there)

    async def undo(self, groups: Iterable[Sequence[str]], most: int = 1) -> Undone:
        self.asked, self.most = [list(group) for group in groups], most
        return self.undone

    async def redo(self) -> Undone:
        return self.undone

    async def diff(self, groups: Iterable[Sequence[str]], most: int = 1) -> str:
        return "changed: a.txt"

    async def changed(self, groups: Iterable[Sequence[str]]) -> Sequence[bool]:
        return [not self._there.isdisjoint(group) for group in groups]


async def test_the_latest_request_is_offered_first_and_the_log_says_what_came_of_it(
    rig: AgentRig,
) -> None:
    for record in (*request(1, "first"), *request(2, "second"), Asked("third")):
        await rig.journal.note("server", record)
    left = (Left("b.txt", "changed"),)
    checkpoints = Checkpoints(Undone("done", ("a.txt",), (), left, ("r2",)))
    await UndoRequests(rig.journal, checkpoints).undo("kitchen")
    assert checkpoints.asked == [["r2"], ["r1"]]
    assert await rig.records(TakenBack) == [
        TakenBack(("r2",), ("a.txt",), (), ("b.txt",), by="kitchen")
    ]
    again = await Journal.open(rig.log, rig.journal.conversation)
    assert [exchange.asked for exchange in again.history.told] == ["first", "third"]


async def test_the_last_three_are_undone_and_named(rig: AgentRig) -> None:
    for record in (*request(1, "first"), *request(2, "second"), *request(3, "third")):
        await rig.journal.note("server", record)
    checkpoints = Checkpoints(Undone("done", ("a.txt",), runs=("r1", "r2", "r3")))
    undone = await UndoRequests(rig.journal, checkpoints).undo("kitchen", 3)
    assert (checkpoints.most, undone.requests) == (3, ("third", "second", "first"))


async def test_a_named_request_is_undone_and_no_other(rig: AgentRig) -> None:
    for record in (*request(1, "Fix the login"), *request(2, "second")):
        await rig.journal.note("server", record)
    checkpoints = Checkpoints(Undone("done", ("a.txt",), runs=("r1",)), "r1", "r2")
    undone = await UndoRequests(rig.journal, checkpoints).undo("kitchen", about="login")
    assert (checkpoints.asked, undone.requests) == ([["r1"]], ("Fix the login",))


async def test_of_words_that_name_nothing_those_are_told_that_are_there(rig: AgentRig) -> None:
    for record in (*request(1, "first"), *request(2, "second"), *request(3, "third")):
        await rig.journal.note("server", record)
    checkpoints = Checkpoints(Undone("done"), "r1", "r3")
    for words in ("login", "second"):  # what the second did is undone already, or was nothing
        undone = await UndoRequests(rig.journal, checkpoints).undo("kitchen", about=words)
        assert (undone.outcome, undone.requests) == ("unknown", ("third", "first"))
    assert checkpoints.asked == []
    assert await rig.records(TakenBack) == []


async def test_which_request_it_was_is_said_where_it_was_not_the_last(rig: AgentRig) -> None:
    for record in (*request(1, "break it"), *request(2, "run the tests")):
        await rig.journal.note("server", record)
    earlier = Checkpoints(Undone("done", ("a.txt",), runs=("r1",)))
    undone = await UndoRequests(rig.journal, earlier).undo("kitchen")
    assert undone.requests == ("break it",)
    last = Checkpoints(Undone("done", ("a.txt",), runs=("r2",)))
    assert (await UndoRequests(rig.journal, last).undo("kitchen")).requests == ()


async def test_what_came_to_nothing_is_not_noted(rig: AgentRig) -> None:
    for outcome in (Undone("nothing"), Undone("blocked"), Undone("running"), Undone("failed")):
        await UndoRequests(rig.journal, Checkpoints(outcome)).undo("kitchen")
    assert (await UndoRequests(rig.journal, NoCheckpoints()).undo("kitchen")).outcome == "off"
    assert await rig.records(TakenBack) == []
