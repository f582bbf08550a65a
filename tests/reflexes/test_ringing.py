"""Alarms ring until they are stopped, louder by and by, and can be snoozed."""

import asyncio
from collections.abc import Callable
from datetime import datetime

import pytest

from sayso.server.reflexes.clock import HERE
from sayso.server.reflexes.reminders.reminder import Reminder
from sayso.server.reflexes.reminders.ringing import EVERY_S, MISSED_S, ROUNDS, Ringing
from tests.reflexes.test_time_actions import Kitchen, kitchen

__all__ = ["kitchen"]

pytestmark = pytest.mark.virtual_time(limit_s=1e6)


def clock_at(kitchen: Kitchen) -> str:
    return f"{datetime.fromtimestamp(kitchen.wall(), HERE):%a %H:%M}"


async def test_an_alarm_rings_louder_and_louder_until_it_is_stopped(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set an alarm for half past six.")
        await asyncio.sleep(1_800 + 3 * EVERY_S - 1)
        assert kitchen.spoken[0] == "kitchen: It's half past six. This is your alarm."
        assert len(kitchen.tones) == 3
        assert kitchen.tones == sorted(set(kitchen.tones))
        assert kitchen.tones[0] > 0
        kitchen.responder.silence("family")
        await asyncio.sleep(3_600)
        assert len(kitchen.tones) == 3
        assert await say("When is my alarm set for?") == "No alarm is set."


async def test_an_alarm_that_nobody_stops_gives_up_and_is_not_told_again(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set an alarm for half past six.")
        await asyncio.sleep(7_200)
        assert len(kitchen.tones) <= ROUNDS
        assert max(kitchen.tones) == 1.0


async def test_what_rings_is_turned_off_by_its_name_and_another_alarm_stays(
    kitchen: Kitchen,
) -> None:
    async with kitchen.on() as say:
        await say("Set an alarm for half past six.")
        await say("Set an alarm for eight.")
        await asyncio.sleep(1_801)
        assert await say("Turn off the alarm.") == "The alarm is off."
        await asyncio.sleep(EVERY_S + 1)
        assert len(kitchen.tones) == 1
        assert await say("What alarms are set?") == (
            "An alarm will ring today at eight o'clock in the evening."
        )


async def test_a_snoozed_alarm_rings_again_once_and_another_person_stops_nothing(
    kitchen: Kitchen,
) -> None:
    async with kitchen.on() as say:
        await say("Set an alarm for half past six.")
        await asyncio.sleep(1_801)
        kitchen.responder.silence("somebody else")
        assert await say("Snooze.", conversation="somebody else") == "No alarm is ringing."
        assert await say("Snooze for five minutes.") == "I'll ring again in five minutes."
        await asyncio.sleep(299)
        assert len(kitchen.tones) == 1
        await asyncio.sleep(2)
        assert len(kitchen.tones) == 2


async def test_an_alarm_is_snoozed_also_when_a_key_has_silenced_it_already(
    kitchen: Kitchen,
) -> None:
    async with kitchen.on() as say:
        await say("Set an alarm for half past six.")
        await asyncio.sleep(1_801)
        kitchen.responder.silence("family")
        await asyncio.sleep(10)
        assert await say("Snooze.") == "I'll ring again in ten minutes."


async def test_an_alarm_comes_again_on_its_days_also_after_a_restart(kitchen: Kitchen) -> None:
    rang = []
    async with kitchen.on() as say:
        assert await say("Wake me up every weekday at seven.") == (
            "The alarm will ring every weekday at seven o'clock in the morning."
        )
        for _ in range(3):  # Wednesday to Friday
            await kitchen.speaks()
            rang.append(clock_at(kitchen)[:3])
            kitchen.responder.silence("family")
            await asyncio.sleep(60)
    async with kitchen.on() as say:
        await kitchen.speaks()
        rang.append(clock_at(kitchen)[:3])
        assert rang == ["Wed", "Thu", "Fri", "Mon"]
        kitchen.responder.silence("family")
        await asyncio.sleep(60)
        assert await say("Delete the alarm at seven.") is not None
        assert await say("When is my alarm set for?") == "No alarm is set."


async def test_one_of_several_alarms_is_moved_or_deleted_by_its_time(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set an alarm for half past six.")
        await say("Set an alarm for eight.")
        assert await say("Move my alarm to nine.") == (
            "There are two alarms: the one today at half past six in the evening and the one today"
            " at eight o'clock in the evening. Which one?"
        )
        assert await say("Move the alarm from eight to nine.") == (
            "The alarm will ring today at nine o'clock in the evening instead."
        )
        assert await say("Delete the alarm at six thirty.") == (
            "The alarm won't ring today at half past six in the evening."
        )
        assert await say("When is my next alarm?") == (
            "An alarm will ring today at nine o'clock in the evening."
        )


async def test_at_bedtime_half_past_six_is_in_the_morning(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await asyncio.sleep(3 * 3_600)  # 21:00
        assert await say("Set an alarm for half past nine.") == (
            "The alarm will ring tomorrow at half past nine in the morning."
        )
        assert await say("Wake me at half past six.") == (
            "The alarm will ring tomorrow at half past six in the morning."
        )


async def test_what_came_due_long_ago_is_told_without_a_tone() -> None:
    loop = asyncio.get_running_loop()
    told: list[tuple[str, float]] = []
    somebody_comes = asyncio.Event()

    async def announce(
        words: Callable[[], str],
        device: str,
        conversation: str,
        tone: Callable[[], float] | None = None,
    ) -> None:
        await somebody_comes.wait()
        assert tone is not None
        told.append((words(), tone()))

    ringing = Ringing(announce, lambda _: "", loop.time)
    alarm = Reminder("1", "alarm", loop.time(), conversation="family")
    ring = asyncio.create_task(ringing.ring(alarm, lambda: "late"))
    await asyncio.sleep(MISSED_S)
    somebody_comes.set()
    await ring
    assert told == [("late", 0.0)]
    assert ringing.stop("family") == []


async def test_a_timer_is_paused_changed_and_goes_on_also_after_a_restart(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set a timer for ten minutes.")
        await asyncio.sleep(60)
        assert await say("Add two minutes.") == "The timer has eleven minutes left now."
        assert await say("Pause the timer.") == "The timer waits, with eleven minutes left."
        await asyncio.sleep(3_600)
        assert kitchen.spoken == []
    async with kitchen.on() as say:
        assert await say("How much time is left?") == "A timer waits, with eleven minutes left."
        assert await say("Take one minute off the timer.") == (
            "The timer has ten minutes left now."
        )
        assert await say("Take an hour off the timer.") == (
            "The timer does not have that long left."
        )
        assert await say("Resume the timer.") == "The timer goes on, with ten minutes left."
        await asyncio.sleep(601)
        assert kitchen.spoken == ["kitchen: Your timer for ten minutes is done."]


async def test_who_is_asked_how_long_answers_with_a_length(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        assert await say("Ten minutes.") is None
        assert await say("Set a timer.") == "For how long?"
        assert await say("Ten minutes.", "phone") is None
        assert await say("Ten minutes.") == "Timer set for ten minutes."
        assert await say("Set a pizza timer.") == "For how long?"
        await asyncio.sleep(60)
        assert await say("Ten minutes.") is None
