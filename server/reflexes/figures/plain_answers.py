"""Words the answers to what is kept nowhere: time and date, sums and measures, small talk. Pure."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from sayso.server.reflexes.figures.sums import rounded
from sayso.server.reflexes.language import Phrases
from sayso.server.reflexes.reflex import (
    Calculate,
    Convert,
    Elsewhere,
    FlipCoin,
    PickNumber,
    Reflex,
    RollDie,
    Talk,
    TellDate,
    TellTime,
    TellWeek,
    TimeUntil,
)
from sayso.server.reflexes.time_expressions import After, At, When, day_of, resolve

if TYPE_CHECKING:
    from sayso.server.reflexes.wording import Wording

DAY_S: Final = 86_400


class PlainAnswers:
    """In one language."""

    def __init__(self, phrases: Phrases, wording: "Wording") -> None:
        self._phrases = phrases
        self._wording = wording

    def answer(self, reflex: Reflex, now: datetime) -> str | None:
        """The answer; None if this reflex is about something else, or means no day at all."""
        match reflex:
            case TellTime():
                return _sentence(self._time(reflex, now))
            case TellDate():
                return self._date(reflex, now)
            case TellWeek():
                week = self._wording.number(now.isocalendar().week)
                return _sentence(self._phrases.dates.week.format(count=week, names=""))
            case TimeUntil(when, unit):
                return self._until(when, unit, now)
            case Calculate() | Convert():
                return _sentence(self._figure(reflex))
            case FlipCoin() | RollDie() | PickNumber():
                return self._by_chance(reflex)
            case Talk(about):
                return self._phrases.talk[about]
            case Elsewhere(needs):
                return self._phrases.elsewhere[needs]
            case _:
                return None

    def _time(self, asked: TellTime, now: datetime) -> str:
        if asked.later_s:
            then, dates = now + timedelta(seconds=asked.later_s), self._phrases.dates
            phrase = dates.later if then.date() == now.date() else dates.later_day
            clock, moment = self._wording.clock_in_day(then), self._wording.moment(then, now)
            return phrase.format(place="", clock=clock, moment=moment)
        if asked.zone is None:
            return self._phrases.time.format(clock=self._wording.clock(now))
        there = now.astimezone(asked.zone)
        dates = self._phrases.dates
        phrase = dates.elsewhere if there.date() == now.date() else dates.elsewhere_day
        return phrase.format(
            place=asked.place,
            clock=self._wording.clock_in_day(there),
            moment=self._wording.moment(there, now),
        )

    def _date(self, asked: TellDate, now: datetime) -> str | None:
        if asked.day is None:
            return _sentence(self._wording.date(now.date(), self._phrases.date))
        if isinstance(asked.day, After):
            day = now.date() + timedelta(days=asked.day.days)
        elif (found := day_of(asked.day, now.date())) is not None:
            day = found
        else:
            return None
        return _sentence(self._wording.date(day, self._phrases.dates.of_day))

    def _until(self, when: When, unit: Literal["day", "week"], now: datetime) -> str | None:
        dates = self._phrases.dates
        if isinstance(when, At) and when.clock is None and when.day is not None:
            day = day_of(when.day, now.date())
            if day is None:
                return None
            days = (day - now.date()).days
            if days < 0 and not when.day.past:
                return None
            phrase = dates.since if days < 0 else dates.until
            days = abs(days)
            if days == 0:
                return dates.until_today
            length = (
                self._wording.weeks(days)
                if unit == "week"
                else self._wording.length(days * DAY_S, place="after")
            )
            return _sentence(phrase.format(length=length))
        moment = resolve(when, now)
        if moment is None:
            return None
        away = moment.timestamp() - now.timestamp()
        length = self._wording.length(away, exactness="rough", place="after")
        return _sentence(dates.until.format(length=length))

    def _by_chance(self, asked: FlipCoin | RollDie | PickNumber) -> str:
        match asked:
            case FlipCoin():
                figures = self._phrases.figures
                return figures.heads if secrets.randbelow(2) else figures.tails
            case RollDie(count, sides):
                return self._rolled([1 + secrets.randbelow(sides) for _ in range(count)])
            case PickNumber(lowest, highest):
                return self._rolled([lowest + secrets.randbelow(highest - lowest + 1)])

    def _rolled(self, numbers: Sequence[int]) -> str:
        figures, say = self._phrases.figures, self._wording.number
        if len(numbers) == 1:
            return _sentence(figures.die.format(count=say(numbers[0]), names=""))
        names = self._wording.joined([say(number) for number in numbers])
        return _sentence(figures.dice.format(names=names, count=say(sum(numbers))))

    def _figure(self, asked: Calculate | Convert) -> str:
        figures = self._phrases.figures
        if isinstance(asked, Calculate):
            value, unit = asked.value, f" {asked.unit}" if asked.unit else ""
            exact, about = figures.result, figures.about
        else:
            value, unit = asked.result, f" {asked.into}"
            exact, about = figures.measure, figures.measure_about
        told = rounded(value)
        result = self._wording.figures(told) + unit
        said = asked.said
        if isinstance(asked, Calculate):
            said += unit
        return (exact if told == value else about).format(said=said, result=result)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
