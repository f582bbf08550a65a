"""Writes at the same time are all kept, in order, and one that fails takes no other with it."""

import asyncio
from pathlib import Path

import pytest

from sayso.server.store.errors import StoreError
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Asked, Event, Record, Unread


def said(record: Record) -> Event:
    return Event("c", "person", record)


async def test_many_at_once_are_kept_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    log = await EventLog.open(tmp_path / "log.db")
    texts = [str(number) for number in range(200)]
    ids = await asyncio.gather(*(log.append(said(Asked(text))) for text in texts))
    events = await log.conversation("c")
    assert ids == [event.id for event in events] == sorted(ids)
    assert [event.record for event in events] == [Asked(text) for text in texts]
    await log.close()


async def test_one_that_cannot_be_kept_takes_no_other_along(tmp_path: Path) -> None:
    log = await EventLog.open(tmp_path / "log.db")
    records: list[Record] = [Asked("before"), Unread("dreamt"), Asked("after")]
    first, bad, last = await asyncio.gather(
        *(log.append(said(record)) for record in records), return_exceptions=True
    )
    assert isinstance(bad, StoreError)
    assert [event.record for event in await log.conversation("c")] == [records[0], records[2]]
    assert isinstance(first, int)
    assert isinstance(last, int)
    with pytest.raises(StoreError):
        await log.append(said(Unread("dreamt")))
    assert "dreamt" in log.trouble
    await log.append(said(Asked("again")))
    assert log.trouble == ""
    await log.close()
