"""When something is meant, given what time it is."""

from datetime import datetime, timedelta

import pytest

from sayso.server.reflexes.clock import HERE, now_here
from sayso.server.reflexes.time_expressions import After, At, Clock, Day, When, resolve


def on(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=HERE)


TUESDAY_EVENING = "2026-03-03 18:00"

MEANT: list[tuple[str, When, str]] = [
    # No day is said: the next such time.
    (TUESDAY_EVENING, At(Clock(7)), "2026-03-03 19:00"),
    (TUESDAY_EVENING, At(Clock(6)), "2026-03-04 06:00"),
    (TUESDAY_EVENING, At(Clock(5, 30)), "2026-03-04 05:30"),
    ("2026-03-03 06:59", At(Clock(7)), "2026-03-03 07:00"),
    ("2026-03-03 07:00", At(Clock(7)), "2026-03-03 19:00"),
    (TUESDAY_EVENING, At(Clock(12)), "2026-03-04 00:00"),
    (TUESDAY_EVENING, At(Clock(0, 45)), "2026-03-04 00:45"),
    ("2026-03-03 11:00", At(Clock(0, 45)), "2026-03-03 12:45"),
    (TUESDAY_EVENING, At(Clock(7, 30, "said")), "2026-03-04 07:30"),
    (TUESDAY_EVENING, At(Clock(19, 30, "said")), "2026-03-03 19:30"),
    (TUESDAY_EVENING, At(Clock(0, 0, "said")), "2026-03-04 00:00"),
    (TUESDAY_EVENING, At(Clock(7), None, "am"), "2026-03-04 07:00"),
    (TUESDAY_EVENING, At(Clock(12), None, "am"), "2026-03-04 00:00"),
    (TUESDAY_EVENING, At(Clock(12), None, "pm"), "2026-03-04 12:00"),
    (TUESDAY_EVENING, At(Clock(2), None, "night"), "2026-03-04 02:00"),
    (TUESDAY_EVENING, At(Clock(11), None, "night"), "2026-03-03 23:00"),
    # Another day is said: the time by daylight.
    (TUESDAY_EVENING, At(Clock(7), Day(ahead=1)), "2026-03-04 07:00"),
    (TUESDAY_EVENING, At(Clock(3), Day(ahead=1)), "2026-03-04 15:00"),
    (TUESDAY_EVENING, At(Clock(12), Day(ahead=1)), "2026-03-04 12:00"),
    (TUESDAY_EVENING, At(Clock(3), Day(ahead=1), "am"), "2026-03-04 03:00"),
    (TUESDAY_EVENING, At(Clock(1), Day(ahead=1), "night"), "2026-03-05 01:00"),
    # Today is said.
    (TUESDAY_EVENING, At(Clock(8), Day(ahead=0), "night"), "2026-03-03 20:00"),
    (TUESDAY_EVENING, At(Clock(1), Day(ahead=0), "night"), "2026-03-04 01:00"),
    ("2026-03-03 00:30", At(Clock(1), Day(ahead=0), "night"), "2026-03-03 01:00"),
    (TUESDAY_EVENING, At(Clock(12), Day(ahead=0), "evening"), "2026-03-04 00:00"),
    (TUESDAY_EVENING, At(None, Day(ahead=0), "night"), "2026-03-03 21:00"),
    # Days.
    (TUESDAY_EVENING, At(None, Day(ahead=1)), "2026-03-04 09:00"),
    (TUESDAY_EVENING, At(None, Day(ahead=1), "evening"), "2026-03-04 19:00"),
    (TUESDAY_EVENING, At(Clock(9), Day(weekday=4)), "2026-03-06 09:00"),
    (TUESDAY_EVENING, At(Clock(9), Day(weekday=1)), "2026-03-03 21:00"),
    (TUESDAY_EVENING, At(Clock(5), Day(weekday=1)), "2026-03-10 17:00"),
    (TUESDAY_EVENING, At(Clock(9), Day(weekday=0)), "2026-03-09 09:00"),
    (TUESDAY_EVENING, At(Clock(9), Day(date=21)), "2026-03-21 09:00"),
    (TUESDAY_EVENING, At(None, Day(date=3)), "2026-04-03 09:00"),
    (TUESDAY_EVENING, At(None, Day(date=31, month=12)), "2026-12-31 09:00"),
    (TUESDAY_EVENING, At(None, Day(date=1, month=2)), "2027-02-01 09:00"),
    ("2026-02-15 12:00", At(None, Day(date=30)), "2026-03-30 09:00"),
    (TUESDAY_EVENING, At(None, Day(date=29, month=2)), "2028-02-29 09:00"),
    # A while from now.
    (TUESDAY_EVENING, After(1200), "2026-03-03 18:20"),
    (TUESDAY_EVENING, After(0, 3), "2026-03-06 18:00"),
    # The clocks go forward on 29 March at two, and back on 25 October at three.
    ("2026-03-28 18:00", At(Clock(12, 0, "said"), Day(ahead=1)), "2026-03-29 12:00"),
    ("2026-03-28 18:00", After(0, 1), "2026-03-29 18:00"),
    ("2026-03-29 01:30", After(3600), "2026-03-29 03:30"),
    ("2026-03-28 18:00", At(Clock(2, 30), Day(ahead=1), "am"), "2026-03-29 03:30"),
    ("2026-10-24 18:00", At(Clock(7), Day(ahead=1)), "2026-10-25 07:00"),
]


@pytest.mark.parametrize(("now", "when", "moment"), MEANT)
def test_the_moment_that_is_meant(now: str, when: When, moment: str) -> None:
    found = resolve(when, on(now))
    assert found is not None
    assert found.isoformat(" ", "minutes")[:16] == moment


@pytest.mark.parametrize(
    "when",
    [
        At(Clock(9, 0, "said"), Day(ahead=0)),
        At(Clock(5), Day(ahead=0)),
        At(None, Day(ahead=0), "morning"),
    ],
)
def test_a_time_of_today_that_has_gone_by_is_no_time_of_tomorrow(when: When) -> None:
    assert resolve(when, on(TUESDAY_EVENING)) is None


def test_an_hour_across_the_change_of_the_clocks_takes_an_hour() -> None:
    before = on("2026-10-25 02:30")
    later = resolve(After(3600), before)
    assert later is not None
    assert later.timestamp() - before.timestamp() == 3600
    assert (later.hour, later.minute, later.fold) == (2, 30, 1)


def test_the_machines_zone_is_right_on_every_day_of_the_year() -> None:
    moment = on("2026-01-01 00:15")
    for _ in range(365 * 24):
        moment = datetime.fromtimestamp(moment.timestamp() + 3600, HERE)
        assert datetime.fromtimestamp(moment.timestamp()) == moment.replace(tzinfo=None, fold=0)  # noqa: DTZ006
    assert on("2026-07-01 12:00").utcoffset() == timedelta(hours=2)
    assert now_here().tzinfo is HERE
