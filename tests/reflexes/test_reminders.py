"""Timers and reminders in virtual time: told when due, once, also after a restart."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from sayso.server.reflexes.asker import Asker
from sayso.server.reflexes.errors import TooFar, TooMany
from sayso.server.reflexes.reminders.reminder import Reminder
from sayso.server.reflexes.reminders.reminders import (
    LOOK_S,
    MAX_AHEAD_S,
    MAX_OPEN,
    RETRY_S,
    Reminders,
)
from sayso.server.store.errors import StoreError
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Asked, Event
from sayso.server.store.reminders import ReminderTold
from sayso.server.store.schema import APPLICATION_ID, MIGRATIONS

pytestmark = pytest.mark.virtual_time(limit_s=1e6)

EPOCH = 1_772_550_000.0
"""Unix seconds at which these tests begin."""


class Machine:
    """A machine with a clock that can be set, which can sleep, restart, and have no ears."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock_off = 0.0
        self.slept = 0.0
        self.told: list[tuple[float, Reminder]] = []
        self.absent = False
        self.hears_after = 0.0
        self.log: EventLog
        self.reminders: Reminders

    def wall(self) -> float:
        return EPOCH + asyncio.get_running_loop().time() + self.slept + self.clock_off

    def steady(self) -> float:
        return asyncio.get_running_loop().time() + self.slept

    async def tell(self, reminder: Reminder) -> None:
        await asyncio.sleep(self.hears_after)
        if self.absent:
            raise ConnectionError("nobody is there")
        self.told.append((asyncio.get_running_loop().time(), reminder))

    @asynccontextmanager
    async def on(self) -> AsyncIterator[Reminders]:
        """Switched on, for as long as the block lasts."""
        self.log = await EventLog.open(self.path)
        self.reminders = await Reminders.open(self.log, self.tell, self.wall, self.steady)
        running = asyncio.create_task(self.reminders.run())
        try:
            yield self.reminders
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await self.log.close()

    async def timer(self, seconds: int, name: str = "") -> Reminder:
        return await self.reminders.take(
            "timer",
            self.wall() + seconds,
            what=name,
            seconds=seconds,
            asker=Asker("kitchen", "family"),
        )

    def times(self) -> list[float]:
        return [round(when, 3) for when, _ in self.told]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "log.sqlite")


async def test_a_timer_is_told_on_the_dot_and_on_the_device_that_asked(machine: Machine) -> None:
    async with machine.on():
        asked = await machine.timer(600, "pizza")
        await asyncio.sleep(1200)
    assert machine.times() == [600]
    assert machine.told[0][1] == asked
    assert (asked.device, asked.conversation, asked.what) == ("kitchen", "family", "pizza")


async def test_each_is_told_at_its_own_time_whatever_the_order_of_asking(machine: Machine) -> None:
    async with machine.on() as reminders:
        for seconds in (300, 10, 100, 100):
            await machine.timer(seconds)
        assert [one.seconds for one in reminders.all("family")] == [10, 100, 100, 300]
        await asyncio.sleep(150)
        assert [one.seconds for one in reminders.all("family")] == [300]
        await asyncio.sleep(600)
        assert reminders.all("family") == []
    assert machine.times() == [10, 100, 100, 300]


async def test_a_cancelled_one_is_never_told(machine: Machine) -> None:
    async with machine.on() as reminders:
        asked = await machine.timer(60)
        await asyncio.sleep(59)
        await reminders.cancel(asked, "kitchen")
        await reminders.cancel(asked, "kitchen")
        await asyncio.sleep(60)
    async with machine.on():
        await asyncio.sleep(60)
    assert machine.told == []


async def test_what_is_open_survives_a_restart(machine: Machine) -> None:
    async with machine.on() as reminders:
        timer = await machine.timer(600, "pizza")
        alarm = await reminders.take("alarm", EPOCH + 900, asker=Asker("bedroom", "family"))
        reminder = await reminders.take(
            "reminder", EPOCH + 800, what="call Mum", asker=Asker("", "Anna")
        )
        await machine.timer(30)
        await asyncio.sleep(100)
    await asyncio.sleep(100)
    async with machine.on() as reminders:
        assert reminders.all("family") == [timer, reminder, alarm]
        assert reminders.all("family", "alarm") == [alarm]
        await asyncio.sleep(1000)
    assert machine.times() == [30, 600, 800, 900]


async def test_what_came_due_while_off_is_told_at_once_and_only_once(machine: Machine) -> None:
    async with machine.on():
        await machine.timer(60)
        await machine.timer(90)
    await asyncio.sleep(1000)
    async with machine.on():
        await asyncio.sleep(5)
    async with machine.on():
        await asyncio.sleep(5)
    assert machine.times() == [1000, 1000]
    assert [one.seconds for _, one in machine.told] == [60, 90]


async def test_the_log_tells_how_late_it_was(machine: Machine) -> None:
    async with machine.on():
        await machine.timer(60)
    await asyncio.sleep(1000)
    async with machine.on():
        await asyncio.sleep(5)
        told = await machine.log.of_types(ReminderTold, since=0.0)
        assert [event.record.late_s for event in told] == [940]  # type: ignore[union-attr]
        assert [event.conversation for event in told] == ["family"]


async def test_what_nobody_could_be_told_is_tried_again_and_silences_no_other(
    machine: Machine,
) -> None:
    machine.absent = True
    async with machine.on():
        await machine.timer(60)
        await asyncio.sleep(70)
        machine.absent = False
        await machine.timer(10)
        await asyncio.sleep(100)
    assert machine.times() == [80, 60 + RETRY_S]


async def test_waiting_for_a_gap_to_speak_delays_no_other_and_is_not_told_twice(
    machine: Machine,
) -> None:
    machine.hears_after = 100
    async with machine.on():
        await machine.timer(60)
        await machine.timer(70)
        await asyncio.sleep(1000)
    assert machine.times() == [160, 170]


async def test_cancelling_while_it_waits_for_a_gap_takes_it_back(machine: Machine) -> None:
    machine.hears_after = 100
    async with machine.on() as reminders:
        asked = await machine.timer(60)
        await asyncio.sleep(100)
        await reminders.cancel(asked)
        await asyncio.sleep(1000)
    assert machine.told == []


async def test_switching_off_while_it_waits_for_a_gap_keeps_it(machine: Machine) -> None:
    machine.hears_after = 100
    async with machine.on():
        await machine.timer(60)
        await asyncio.sleep(100)
    machine.hears_after = 0
    async with machine.on():
        await asyncio.sleep(1)
    assert machine.times() == [100]


@pytest.mark.parametrize("step", [-7200.0, 7200.0, -3.0, 3.0, 1e8])
async def test_a_timer_takes_as_long_as_it_was_set_for_though_the_clock_is_set(
    machine: Machine, step: float
) -> None:
    async with machine.on():
        await machine.timer(600)
        await asyncio.sleep(100)
        machine.clock_off = step
        await asyncio.sleep(1)
        await machine.timer(599)
        await asyncio.sleep(5000)
    assert machine.times() == [600, 700]


async def test_a_timer_moved_along_with_the_clock_survives_a_restart(machine: Machine) -> None:
    async with machine.on():
        await machine.timer(600)
        machine.clock_off = 7200
        await asyncio.sleep(LOOK_S)
    async with machine.on():
        await asyncio.sleep(5000)
    assert machine.times() == [600]


async def test_a_reminder_for_a_clock_time_follows_the_clock(machine: Machine) -> None:
    async with machine.on() as reminders:
        await reminders.take("reminder", EPOCH + 7200, what="first")
        await reminders.take("reminder", EPOCH + 9000, what="second")
        await asyncio.sleep(100)
        machine.clock_off = 7200  # it is now past the first one's time
        await asyncio.sleep(LOOK_S)
        assert [one.what for _, one in machine.told] == ["first"]
        machine.clock_off = 3600  # and set back: the first one is not told again
        await asyncio.sleep(10_000)
    assert [one.what for _, one in machine.told] == ["first", "second"]
    assert machine.times()[1] == 9000 - 3600


async def test_after_the_machine_slept_it_is_told_within_half_a_minute(machine: Machine) -> None:
    async with machine.on() as reminders:
        await machine.timer(3600)
        await reminders.take("alarm", EPOCH + 3000)
        await asyncio.sleep(600)
        machine.slept = 5000  # the loop's clock stands still meanwhile
        await asyncio.sleep(LOOK_S)
    assert sorted(one.kind for _, one in machine.told) == ["alarm", "timer"]
    assert all(600 <= when <= 600 + LOOK_S for when in machine.times())


async def test_a_timer_of_an_earlier_run_goes_by_the_clock_that_it_was_set_by(
    machine: Machine,
) -> None:
    async with machine.on():
        await machine.timer(3600)
    machine.clock_off = -7200  # a machine without a clock of its own starts in the past …
    async with machine.on():
        await asyncio.sleep(60)
        machine.clock_off = 0  # … until it asks the network
        await asyncio.sleep(5000)
    assert machine.times() == [3600]


async def test_no_more_than_so_many_are_open_at_once(machine: Machine) -> None:
    async with machine.on() as reminders:
        asked = await asyncio.gather(*(machine.timer(60) for _ in range(MAX_OPEN)))
        with pytest.raises(TooMany):
            await machine.timer(60)
        await reminders.cancel(asked[0])
        await machine.timer(70)
        await asyncio.sleep(100)
        assert len(machine.told) == MAX_OPEN
        await machine.timer(60)


async def test_nothing_is_promised_for_later_than_a_year(machine: Machine) -> None:
    async with machine.on() as reminders:
        with pytest.raises(TooFar):
            await reminders.take("reminder", EPOCH + MAX_AHEAD_S + 1)
        far = await reminders.take("reminder", EPOCH + MAX_AHEAD_S)
    machine.slept = MAX_AHEAD_S - 10
    async with machine.on() as reminders:
        assert reminders.all("") == [far]
        await asyncio.sleep(20)
    assert machine.times() == [10]


async def test_what_the_disk_did_not_take_is_not_open(machine: Machine) -> None:
    async with machine.on() as reminders:
        await machine.log.close()
        with pytest.raises(StoreError):
            await machine.timer(60)
        assert reminders.all("family") == []


async def test_a_log_from_before_there_were_reminders_is_brought_forward(machine: Machine) -> None:
    with closing(sqlite3.connect(machine.path)) as old:
        for statement in MIGRATIONS[0]:
            old.execute(statement)
        old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        old.execute("PRAGMA user_version = 1")
        old.execute(
            "INSERT INTO event (conversation, source, time, kind, payload)"
            " VALUES ('family', 'person', 1.0, 'asked', '{\"text\":\"hello\"}')"
        )
        old.commit()
    async with machine.on():
        await machine.timer(60)
        await asyncio.sleep(100)
        assert len(await machine.log.conversation("family")) == 3
    assert machine.times() == [60]


async def test_other_events_of_the_log_are_left_alone(machine: Machine) -> None:
    async with machine.on():
        await machine.log.append(Event("family", "person", Asked("hello")))
        await machine.timer(60)
        await asyncio.sleep(100)
        kept = await machine.log.conversation("family")
        assert [type(event.record).__name__ for event in kept] == [
            "Asked",
            "ReminderSet",
            "ReminderTold",
        ]
        conversations = await machine.log.conversations()
        assert [conversation.title for conversation in conversations] == ["hello"]


async def test_of_a_forgotten_conversation_nothing_is_told_or_written_any_more(
    machine: Machine,
) -> None:
    async with machine.on() as reminders:
        await machine.timer(60, "surprise for Ann")
        await machine.timer(1, "late")
        machine.hears_after = 30.0
        await asyncio.sleep(5)  # the second is being told

        reminders.forget("family")
        await machine.log.forget("family")

        machine.clock_off = 10.0
        await asyncio.sleep(200)
        assert machine.told == []
        assert await machine.log.conversation("family") == []
