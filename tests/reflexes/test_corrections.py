"""What was just set is put right or called off, and only that: "make that six", "delete it"."""

import asyncio
from pathlib import Path

import pytest

from tests.reflexes.test_time_actions import Kitchen, kitchen

__all__ = ["kitchen"]

pytestmark = pytest.mark.virtual_time(limit_s=1e6)


async def test_an_alarm_that_was_just_set_is_set_right(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set an alarm for eight every weekday.")
        await say("Wake me tomorrow at a quarter to six.")
        assert await say("Make that six.") == (
            "The alarm will ring tomorrow at six o'clock in the morning instead."
        )
        assert await say("No, half past six.") == (
            "The alarm will ring tomorrow at half past six in the morning instead."
        )


async def test_a_reminder_that_was_just_set_is_moved_and_reminds_of_the_same(
    kitchen: Kitchen,
) -> None:
    async with kitchen.on() as say:
        await say("Remind me tomorrow at noon to call Mum.")
        assert await say("Make that Friday.") == (
            "I'll remind you on Friday at nine o'clock in the morning instead: call Mum."
        )


async def test_a_timer_that_was_just_set_gets_another_length(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set an egg timer for five minutes.")
        await say("Set a timer for ten minutes.")
        assert await say("No, twelve minutes.") == "The timer has twelve minutes left now."
        assert await say("How long does the egg timer have?") == (
            "The egg timer has five minutes left."
        )


async def test_what_was_just_set_is_called_off_by_it(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set an egg timer for five minutes.")
        await say("Set a timer for ten minutes.")
        assert await say("Delete it.") == "The timer for ten minutes is cancelled."
        await say("Set a timer for ten minutes.")
        assert await say("Cancel both.") == "All timers are cancelled."


@pytest.mark.parametrize("later", ["Make that six.", "No, ten minutes.", "Delete it."])
async def test_by_itself_or_half_a_minute_later_it_is_for_the_language_model(
    kitchen: Kitchen, later: str
) -> None:
    async with kitchen.on() as say:
        assert await say(later) is None
        await say("Wake me tomorrow at eight.")
        await asyncio.sleep(31)
        assert await say(later) is None


async def test_a_timer_is_cancelled_by_its_name_with_an_ending_and_no_other(
    kitchen: Kitchen,
) -> None:
    async with kitchen.on("de") as say:
        await say("Stell einen Timer für die Soße auf zehn Minuten.")
        assert await say("Lösch den Soßentimer.") == "Der Timer Soße ist gelöscht."
    async with kitchen.on() as say:
        await say("Set a tea timer for five minutes.")
        assert await say("Cancel the teacher timer.") == (
            "There is no such timer, but there is the tea timer."
        )


async def test_why_something_is_asked_for_may_be_said_before_or_after_it(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set a timer for ten minutes.")
        assert await say("The eggs are hard by now, cancel the timer.") == (
            "The timer for ten minutes is cancelled."
        )
        assert await say("Set a timer for ten minutes. I'm boiling eggs.") == (
            "Timer set for ten minutes."
        )
        assert await say("If it rains, set a timer for ten minutes.") is None


async def test_a_list_that_was_begun_is_there_empty_until_it_is_deleted(tmp_path: Path) -> None:
    kitchen = Kitchen(tmp_path / "log.sqlite")
    async with kitchen.on() as say:
        assert await say("Start a new list called garden party.") == (
            "There is nothing on your garden party list."
        )
        assert await say("Put charcoal on the barbecue list.") is None
    async with kitchen.on() as say:
        assert await say("What lists do we have?") == "You have your garden party list."
        assert await say("Put charcoal on the garden party list.") == (
            "I put charcoal on your garden party list."
        )
        await say("Delete the garden party list.")
    async with kitchen.on() as say:
        assert await say("What lists do we have?") == "You have no lists."
        assert await say("What lists do we have?", conversation="another") == "You have no lists."


async def test_no_more_lists_are_begun_than_somebody_keeps_apart(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        for number in range(50):
            assert await say(f"Make a list called party {number + 1}.")
        told = await say("Make a list called the last one.")
        assert told is not None
        assert told.startswith("There are ")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("What day was the first of January?", "That's Thursday, the first of January 2026."),
        ("When was Easter?", "That's Sunday, the twentieth of April 2025."),
        ("What day was last Friday?", None),
        ("How many days since Christmas?", "That was sixty-eight days ago."),
        ("What day is a week from Friday?", "That's Friday, the thirteenth of March 2026."),
        ("What time will it be in two hours?", "It will be eight o'clock in the evening."),
        ("How many grams are two and a half kilos?", "Two and a half kilos is 2500 grams."),
        ("What's minus 40 Celsius in Fahrenheit?", "Minus 40 Celsius is -40 Fahrenheit."),
        ("6 foot 2 in centimeters", "6 foot 2 is 187.96 centimeters."),
    ],
)
async def test_days_gone_by_and_numbers_between_are_worked_out(
    kitchen: Kitchen, said: str, answer: str | None
) -> None:
    async with kitchen.on() as say:
        assert await say(said) == answer


async def test_every_day_but_one(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        assert await say("Wake me every day except Sunday at seven.") == (
            "The alarm will ring every Monday, Tuesday, Wednesday, Thursday, Friday and Saturday"
            " at seven o'clock in the morning."
        )


async def test_how_much_longer_asks_for_a_timer_that_runs(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set a timer for ten minutes.")
        assert await say("How much longer?") == "The timer for ten minutes has ten minutes left."


async def test_a_number_alone_is_in_the_unit_of_what_was_set(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set a timer for four minutes.")
        assert await say("Hang on, make it five.") == "The timer has five minutes left now."
        await say("Set a pasta timer for twelve minutes.")
        assert await say("And twenty-five for the chicken.") == (
            "Chicken timer set for twenty-five minutes."
        )
        await say("Set a timer for two hours.")
        assert await say("Make it three.") == "The timer has three hours left now."


async def test_one_of_several_is_called_off_by_what_tells_it_apart(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set an alarm for six fifty on weekdays.")
        await say("And one for ten on Sundays.")
        assert await say("Turn the Sunday one off.") == (
            "The alarm every Sunday at ten o'clock in the morning is cancelled."
        )
        await say("Set a pasta timer for ten minutes.")
        await say("Set a pizza timer for twelve minutes.")
        assert await say("Cancel the pasta one.") == "The pasta timer is cancelled."


async def test_what_was_just_told_of_is_moved(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set an alarm for quarter to seven tomorrow morning.")
        await say("What alarms do I have?")
        assert await say("Better make it seven.") == (
            "The alarm will ring tomorrow at seven o'clock in the morning instead."
        )


async def test_sleep_after_an_alarm_was_set_moves_it(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Wake me in twenty minutes.")
        assert await say("Actually, let me sleep half an hour.") == (
            "The alarm will ring today at half past six in the evening instead."
        )
