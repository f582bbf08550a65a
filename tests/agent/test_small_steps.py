"""Clicks and the like are counted apart from runs of code: an errand takes many of them."""

import pytest

from sayso.server.agent.limits import (
    REPEATS,
    SMALL_REPEATS,
    SMALL_STEPS,
    Budget,
    LimitReached,
    RequestUsage,
)
from sayso.server.capabilities.browser.tools import BrowserTool
from sayso.server.capabilities.desktop.tools import DesktopTool
from sayso.server.store.records import Call


def click(number: int) -> Call:
    return Call(f"{number}", "browser", f'{{"do": "click", "target": "a{number}"}}')


async def test_an_errand_of_many_clicks_uses_up_no_runs() -> None:
    usage = RequestUsage(Budget())
    for number in range(SMALL_STEPS):
        usage.before_run(click(number), small=True)
        usage.after_run(click(number), "", f"page {number}")
    assert usage.runs == 0
    with pytest.raises(LimitReached, match=f"{SMALL_STEPS} small steps"):
        usage.before_run(click(SMALL_STEPS), small=True)


async def test_the_same_step_may_be_taken_some_times_and_not_for_ever() -> None:
    usage, scroll = RequestUsage(Budget()), Call("1", "browser", '{"do": "scroll"}')
    for number in range(SMALL_REPEATS - 1):
        usage.before_run(scroll, small=True)
        usage.after_run(scroll, "", f"page {number}")
    with pytest.raises(LimitReached, match="same"):
        usage.before_run(scroll, small=True)


async def test_steps_that_change_nothing_are_going_round_in_circles() -> None:
    usage = RequestUsage(Budget())
    there, back = (Call("1", "browser", f'{{"do": "{do}"}}') for do in ("forward", "back"))
    for step in [there, back] * (SMALL_REPEATS - 1):
        usage.before_run(step, small=True)
        usage.after_run(step, "", "unconfirmed")
    usage.before_run(there, small=True)
    with pytest.raises(LimitReached, match="circles"):
        usage.after_run(there, "", "unconfirmed")


async def test_code_between_steps_is_held_to_its_own_bound() -> None:
    usage, code = RequestUsage(Budget()), Call("1", "python", "print(1)")
    for _ in range(REPEATS - 1):
        usage.before_run(code)
    with pytest.raises(LimitReached, match="same code"):
        usage.before_run(code)


def test_the_hands_take_small_steps() -> None:
    assert BrowserTool.small_steps
    assert DesktopTool.small_steps
