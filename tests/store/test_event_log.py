"""What was said and done is kept: whole, in order, for its owner's eyes, whatever the disk does."""

import asyncio
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.server.store.codec import decode, encode
from sayso.server.store.errors import StoreClosed, StoreError, StoreFull
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import (
    Answered,
    ApprovalClosed,
    ApprovalOpened,
    Asked,
    Call,
    Event,
    Failed,
    Heard,
    Interrupted,
    Record,
    RunIntended,
    RunReported,
    Unread,
)
from sayso.server.store.schema import CONVERSATIONS
from tests.runtimes.sandboxes import needed_sandbox

CALL = Call("a1", "python", "print('é')\n", given_id="call_1", written="```python\n…```")
RECORDS: list[Record] = [
    Asked("what is six times seven", by="kitchen"),
    Answered("Let me see. ", (CALL,), "a model", "cut", 10, 2, 0.001),
    Answered("It is 42."),
    ApprovalOpened("q1", "a1", "python", "print()", "/w", ("read", "write"), "hash", 60.0),
    ApprovalClosed("q1", "a1", "edit", "kitchen", "hash"),
    RunIntended("a1", "python", "print(2)", "/w", "hash"),
    RunReported("a1", "ok", 0.25, "", "42\n"),
    Heard("It is"),
    Interrupted(),
    Failed("The model is gone; ask again."),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "log.db"


@pytest.fixture
async def log(path: Path) -> AsyncIterator[EventLog]:
    log = await EventLog.open(path)
    yield log
    await log.close()


async def test_events_come_back_as_they_were_in_their_order(log: EventLog) -> None:
    parent = None
    for record in RECORDS:
        parent = await log.append(Event("one", "server", record, parent, time=1000.5))
    events = await log.conversation("one")
    assert [event.record for event in events] == RECORDS
    assert [event.parent for event in events] == [None, *(event.id for event in events[:-1])]
    assert {event.time for event in events} == {1000.5}
    assert {event.source for event in events} == {"server"}


async def test_an_event_without_a_time_happened_now(log: EventLog) -> None:
    await log.append(Event("one", "person", Asked("hi")))
    (event,) = await log.conversation("one")
    assert abs(event.time - time.time()) < 60


async def test_conversations_are_apart_and_listed_with_what_was_asked_first(log: EventLog) -> None:
    await log.append(Event("old", "person", Asked("first question"), time=1.0))
    await log.append(Event("old", "person", Asked("second question"), time=2.0))
    await log.append(Event("silent", "server", Failed("nobody came"), time=3.0))
    await log.append(Event("new", "person", Asked("x" * 500), time=4.0))
    new, silent, old = await log.conversations()
    assert (old.id, old.title, old.began, old.last, old.events) == (
        "old",
        "first question",
        1,
        2,
        2,
    )
    assert (silent.id, silent.title) == ("silent", "")
    assert new.title == "x" * 80
    assert len(await log.conversation("old")) == 2
    assert await log.conversation("never") == []


async def test_the_log_is_there_again_after_a_restart(path: Path) -> None:
    for question in ("one", "two"):
        log = await EventLog.open(path)
        await log.append(Event("c", "person", Asked(question)))
        await log.close()
    log = await EventLog.open(path)
    assert [event.record for event in await log.conversation("c")] == [Asked("one"), Asked("two")]
    await log.close()


async def test_what_is_in_the_log_cannot_be_changed_or_removed(log: EventLog, path: Path) -> None:
    await log.append(Event("c", "person", Asked("hi")))
    with sqlite3.connect(path) as connection:
        for statement in ("UPDATE event SET payload = '{}'", "DELETE FROM event"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(statement)
    connection.close()


async def test_only_the_owner_can_read_it(log: EventLog, path: Path) -> None:
    await log.append(Event("c", "person", Asked("hi")))
    for file in path.parent.glob("log.db*"):
        if not file.name.endswith(".lock"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


async def test_two_servers_do_not_share_a_log(log: EventLog, path: Path) -> None:
    with pytest.raises(StoreError, match="Another Sayso server is using"):
        await EventLog.open(path)


async def test_a_closed_log_says_so(path: Path) -> None:
    log = await EventLog.open(path)
    await log.close()
    await log.close()
    with pytest.raises(StoreClosed, match="closed"):
        await log.append(Event("c", "person", Asked("hi")))


def test_another_programs_database_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program's"):
        asyncio.run(EventLog.open(path))
    assert path.read_bytes() == before


def test_a_damaged_file_is_reported_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is no database, " * 500)
    damaged = path.read_bytes()
    with pytest.raises(StoreError, match="damaged or no Sayso log"):
        asyncio.run(EventLog.open(path))
    assert path.read_bytes() == damaged


async def test_a_newer_log_is_not_touched(path: Path) -> None:
    await (await EventLog.open(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="newer Sayso"):
        await EventLog.open(path)


async def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="could not be used"):
        await EventLog.open(tmp_path / "file" / "log.db")


async def test_a_kind_of_a_later_version_is_passed_over(log: EventLog, path: Path) -> None:
    await log.append(Event("c", "person", Asked("hi")))
    with sqlite3.connect(path) as connection:
        connection.execute(
            "INSERT INTO event (conversation, source, time, kind, payload)"
            " VALUES ('c', 'person', 1, 'asked', '{\"text\": \"hello\", \"mood\": \"good\"}'),"
            " ('c', 'server', 2, 'dreamt', '{}')"
        )
    connection.close()
    events = await log.conversation("c")
    assert [event.record for event in events] == [Asked("hi"), Asked("hello"), Unread("dreamt")]


async def test_one_who_is_cancelled_has_been_heard_all_the_same(log: EventLog) -> None:
    task = asyncio.ensure_future(log.append(Event("c", "person", Asked("hi"))))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [event.record for event in await log.conversation("c")] == [Asked("hi")]


async def test_the_event_loop_does_not_wait_for_the_disk(log: EventLog) -> None:
    """A backup holds the file for half a second; the loop goes on meanwhile."""
    holder = sqlite3.connect(log.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    appending = asyncio.ensure_future(log.append(Event("c", "person", Asked("hi"))))
    clock = asyncio.get_running_loop().time
    until, last, longest = clock() + 0.3, clock(), 0.0
    while clock() < until:
        await asyncio.sleep(0.001)
        longest, last = max(longest, clock() - last), clock()
    assert not appending.done()
    holder.execute("ROLLBACK")
    holder.close()
    assert await appending == 1
    assert longest < 0.15


SMALL_DISK = """
import asyncio, sys
from pathlib import Path
from sayso.server.store.errors import StoreFull
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Asked, Event

async def main():
    folder = Path(sys.argv[1])
    log = await EventLog.open(folder / "log.db")
    ballast = folder / "ballast"
    ballast.write_bytes(b"x" * 300_000)
    kept, refused = 0, 0
    while refused < 3 and kept < 1000:
        try:
            await log.append(Event("c", "person", Asked(str(kept) + "x" * 20_000)))
            kept += 1
        except StoreFull as problem:
            refused, sentence = refused + 1, str(problem)
    assert refused == 3, "the disk never filled up"
    print(sentence)
    assert len(await log.conversation("c")) == kept
    ballast.unlink()
    await log.append(Event("c", "person", Asked(f"{kept} again")))
    await log.close()
    log = await EventLog.open(folder / "log.db")
    texts = [event.record.text.rstrip("x") for event in await log.conversation("c")]
    assert texts == [*map(str, range(kept)), f"{kept} again"], texts
    await log.close()

asyncio.run(main())
"""


def test_a_full_disk_is_said_and_over_once_there_is_room(tmp_path: Path) -> None:
    needed_sandbox("bubblewrap")
    small = tmp_path / "small"
    small.mkdir()
    confined = ["bwrap", "--dev-bind", "/", "/", "--size", "1500000", "--tmpfs", str(small)]
    ended = subprocess.run(
        [*confined, sys.executable, "-c", SMALL_DISK, str(small)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "is full; free some space" in ended.stdout


WRITER = """
import asyncio, sys
from pathlib import Path
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Asked, Event

async def main():
    log = await EventLog.open(Path(sys.argv[1]))
    number = 0
    while True:
        await log.append(Event("c", "person", Asked(str(number))))
        print(number, flush=True)
        number += 1

asyncio.run(main())
"""


def test_what_was_acknowledged_survives_a_kill(path: Path) -> None:
    for _ in range(3):
        known = asyncio.run(_count(path))
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for _ in range(20):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        acknowledged = 20 + len(writer.stdout.readlines())
        writer.stdout.close()
        writer.wait(10)
        # One more may have been kept than its writer lived to say.
        assert asyncio.run(_count(path)) - known in (acknowledged, acknowledged + 1)


async def _count(path: Path) -> int:
    log = await EventLog.open(path)
    events = await log.conversation("c")
    await log.close()
    return len(events)


async def test_a_read_only_log_is_said(path: Path) -> None:
    log = await EventLog.open(path)
    await log.append(Event("c", "person", Asked("hi")))
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER event_stays")
        connection.execute(
            "CREATE TRIGGER no_more BEFORE INSERT ON event BEGIN SELECT RAISE (ABORT, 'no'); END"
        )
    connection.close()
    with pytest.raises(StoreError, match="could not be used"):
        await log.append(Event("c", "person", Asked("hi")))
    assert len(await log.conversation("c")) == 1
    await log.close()


TEXT = st.text(max_size=30) | st.just("\udce9 undecodable")


@given(
    record=st.one_of(
        st.builds(Asked, TEXT, TEXT),
        st.builds(
            Answered,
            TEXT,
            st.lists(st.builds(Call, TEXT, TEXT, TEXT, TEXT, TEXT), max_size=3).map(tuple),
            TEXT,
            st.sampled_from(["whole", "cut"]),
            st.integers(0, 10**9),
            st.integers(0, 10**9),
            st.none() | st.floats(0, 100),
        ),
        st.builds(
            RunReported, TEXT, st.sampled_from(["ok", "died"]), st.floats(0, 9e9), TEXT, TEXT
        ),
    )
)
def test_any_record_can_be_read_again(record: Record) -> None:
    assert decode(*encode(record)) == record


@pytest.mark.parametrize(
    "payload",
    ['{"text": 3}', '{"by": "x"}', "[]", "nonsense", '{"text": null}', '{"text": "a", "by": 1}'],
)
def test_a_damaged_record_is_said_not_guessed(payload: str) -> None:
    with pytest.raises(StoreError, match="damaged record"):
        decode("asked", payload)


def test_a_full_disk_is_its_own_kind_of_trouble() -> None:
    assert issubclass(StoreFull, StoreError)


async def test_listing_conversations_reads_of_each_only_what_is_listed(log: EventLog) -> None:
    """It is done whenever a device comes in: with years of talk in the log, too."""
    await log.append(Event("c", "person", Asked("hi")))
    reader = sqlite3.connect(log.path)
    plan = [row[3] for row in reader.execute(f"EXPLAIN QUERY PLAN {CONVERSATIONS}")]
    reader.close()
    searches = [step for step in plan if step.startswith("SEARCH")]
    asked = [step.partition("conversation=? AND ")[2] for step in searches]
    assert sorted(asked) == ["kind=?)"] * 5 + ["source=?)"] * 2
