"""When what comes again and again comes next. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from sayso.server.reflexes.time_expressions import in_zone

WEEK = 7


def next_time(due: float, days: Sequence[int], now: float, zone: tzinfo) -> float:
    """The next time (Unix seconds) after now, on one of these weekdays, at the wall clock's time
    at which it was due."""
    then = datetime.fromtimestamp(due, zone)
    today = datetime.fromtimestamp(now, zone).date()
    for ahead in range(WEEK + 1):
        day = today + timedelta(days=ahead)
        moment = in_zone(datetime.combine(day, then.time().replace(fold=0), zone))
        if day.weekday() in days and moment.timestamp() > now:
            return moment.timestamp()
    raise ValueError("There is no weekday on which it comes.")
