"""Numbers, lengths of time, clock times and days as they are said in a language. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Final, Literal

from unicode_rbnf import FormatPurpose, RbnfEngine
from unicode_rbnf.plural_rules import get_plural_category

from sayso.server.reflexes.language import Language, Units

MINUTE: Final = 60
HOUR: Final = 3_600
DAY: Final = 86_400

COARSE_FROM: Final = ((DAY, HOUR), (10 * MINUTE, MINUTE), (0, 1))
"""From how many seconds on a rough length is rounded to what: nobody wants the seconds of hours."""

SOON_DAYS: Final = 7
"""Fewer days ahead, a weekday names the day."""

LOW_MINUTES: Final = 10
WEEK_DAYS: Final = 7


class Wording:
    """How one language says numbers and times."""

    def __init__(self, language: Language) -> None:
        self._code = language.code
        self._phrases = language.phrases
        self._numbers = RbnfEngine.for_language(language.code)
        self._decimal_point = language.sums.decimal_point

    def number(self, number: int) -> str:
        return self._numbers.format_number(number).text

    def figures(self, number: Decimal) -> str:
        """A number as it is written: a long one is not read in words by whoever sees it."""
        return f"{number:f}".replace(".", self._decimal_point)

    def counted(self, number: int, phrases: Mapping[str, str]) -> str:
        """So many, in the plural that the number takes."""
        category = get_plural_category(self._code, number)
        phrase = phrases.get(category) or phrases["other"]
        return phrase.format(count=self.number(number), names="")

    def length(
        self,
        seconds: float,
        *,
        exactness: Literal["exact", "rough"] = "exact",
        place: Literal["plain", "after"] = "plain",
    ) -> str:
        """So much time. `after`: behind a word such as "in", which in some languages changes it."""
        units = self._phrases.units if place == "plain" else self._phrases.units_after
        whole = max(1, round(seconds))
        if exactness == "rough":
            grain = next(grain for start, grain in COARSE_FROM if whole >= start)
            whole = round(whole / grain) * grain
        return self.joined([self.counted(n, phrases) for n, phrases in _parts(whole, units) if n])

    def weeks(self, days: int) -> str:
        """So many days, in weeks and days, as it is said behind a word such as "in"."""
        units = self._phrases.units_after
        weeks, rest = divmod(days, WEEK_DAYS)
        parts = ((weeks, units.week), (rest, units.day))
        return self.joined([self.counted(n, phrases) for n, phrases in parts if n])

    def joined(self, texts: Sequence[str]) -> str:
        """One after the other, with an "and" before the last."""
        *before, last = texts
        if not before:
            return last
        first = before[0]
        for text in before[1:]:
            first = self._phrases.listed.format(first=first, last=text)
        return self._phrases.joined.format(first=first, last=last)

    def clock(self, moment: datetime) -> str:
        """The time to the minute, on the clock of the moment's own time zone."""
        ways = self._phrases.time_of_day
        minute = str(moment.minute)
        if minute == "0" and (name := ways.whole.get(str(moment.hour))):
            return name
        low = ways.low if moment.minute < LOW_MINUTES else ways.other
        return ways.minutes.get(minute, low).format(
            hour=self._hour(moment.hour),
            next=self._hour(moment.hour + 1),
            minute=self.number(moment.minute),
        )

    def clock_in_day(self, moment: datetime) -> str:
        """The time with the part of the day, where the day needs to be clear."""
        ways, clock = self._phrases.time_of_day, self.clock(moment)
        if self._has_a_name(moment):
            return clock
        part = max((hour for hour in map(int, ways.parts) if hour <= moment.hour), default=0)
        return ways.parts.get(str(part), "{clock}").format(clock=clock)

    def moment(self, moment: datetime, now: datetime) -> str:
        """Day and time, so that nothing is left open."""
        day, clock = self._day(moment, now), self.clock_in_day(moment)
        days = self._phrases.days
        return (days.whole if self._has_a_name(moment) else days.moment).format(
            day=day, clock=clock
        )

    def _has_a_name(self, moment: datetime) -> bool:
        return moment.minute == 0 and str(moment.hour) in self._phrases.time_of_day.whole

    def date(self, now: date, phrase: str) -> str:
        """A day in full, in this phrase."""
        days = self._phrases.days
        return phrase.format(
            weekday=days.names[now.weekday()],
            ordinal=self._ordinal(now.day, self._phrases.date_ordinals),
            month=days.months[now.month - 1],
            year=now.year,
        )

    def _day(self, moment: datetime, now: datetime) -> str:
        days = self._phrases.days
        ahead = (moment.date() - now.date()).days
        phrase = {0: days.today, 1: days.tomorrow}.get(ahead)
        if phrase is None:
            phrase = days.soon if 1 < ahead < SOON_DAYS else days.later
        return phrase.format(
            name=days.names[moment.weekday()],
            ordinal=self._ordinal(moment.day, days.ordinals),
            month=days.months[moment.month - 1],
        )

    def _hour(self, hour: int) -> str:
        hour %= 24
        if self._phrases.time_of_day.hours == "12":
            hour = hour % 12 or 12
        return self._phrases.time_of_day.numbers.get(str(hour)) or self.number(hour)

    def _ordinal(self, number: int, rules: str) -> str:
        said = self._numbers.format_number(number, FormatPurpose.ORDINAL, [rules])
        return said.text_by_ruleset[rules]


def _parts(seconds: int, units: Units) -> list[tuple[int, Mapping[str, str]]]:
    minutes, second = divmod(seconds, MINUTE)
    hours, minute = divmod(minutes, MINUTE)
    day, hour = divmod(hours, 24)
    return [(day, units.day), (hour, units.hour), (minute, units.minute), (second, units.second)]
