"""The model is told once what was undone, and no longer sees the steps that led to it."""

from collections.abc import Sequence

from sayso.server.agent.record.history import History
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.record.undo import UndoRequests
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
from tests.agent.conftest import House
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
    assert history.runs == [["r1"], ["r2"], []]


class Checkpoints:
    """Takes back what it is told to, and remembers being asked."""

    def __init__(self, undone: Undone) -> None:
        self.undone = undone
        self.asked: list[list[str]] = []

    async def undo(self, groups: object) -> Undone:
        self.asked = [list(group) for group in groups]  # type: ignore[attr-defined]
        return self.undone

    async def redo(self) -> Undone:
        return self.undone

    async def diff(self, groups: object) -> str:
        return "changed: a.txt"


async def test_the_latest_request_is_offered_first_and_the_log_says_what_came_of_it(
    house: House,
) -> None:
    for record in (*request(1, "first"), *request(2, "second"), Asked("third")):
        await house.journal.note("server", record)
    left = (Left("b.txt", "changed"),)
    checkpoints = Checkpoints(Undone("done", ("a.txt",), (), left, ("r2",)))
    await UndoRequests(house.journal, checkpoints).undo("kitchen")
    assert checkpoints.asked == [["r2"], ["r1"]]
    assert await house.records(TakenBack) == [
        TakenBack(("r2",), ("a.txt",), (), ("b.txt",), by="kitchen")
    ]
    again = await Journal.open(house.log, house.journal.conversation)
    assert [exchange.asked for exchange in again.history.told] == ["first", "third"]


async def test_what_came_to_nothing_is_not_noted(house: House) -> None:
    for outcome in (Undone("nothing"), Undone("blocked"), Undone("running"), Undone("failed")):
        await UndoRequests(house.journal, Checkpoints(outcome)).undo("kitchen")
    assert (await UndoRequests(house.journal, NoCheckpoints()).undo("kitchen")).outcome == "off"
    assert await house.records(TakenBack) == []
