"""Words the answer to a reflex. Pure: the time is an argument, the words are the language's.

Answers name what was understood, so that a mishearing is noticed: not "done", but "Timer set for
fifteen minutes". Times are exact to the minute and lengths to the second, in words, as they are
heard before they are read.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Self

from sayso.server.reflexes.figures.plain_answers import PlainAnswers
from sayso.server.reflexes.language import Changing, Form, Language, ListPhrases, Speaking
from sayso.server.reflexes.language_file import SENTENCES, read_language
from sayso.server.reflexes.reflex import Kind
from sayso.server.reflexes.reminders.reminder import Reminder
from sayso.server.reflexes.reminders.ringing import MISSED_S
from sayso.server.reflexes.status.status_answers import StatusAnswers
from sayso.server.reflexes.time_expressions import After, When
from sayso.server.reflexes.undo_answers import UndoAnswers

if TYPE_CHECKING:
    from sayso.server.reflexes.wording import Wording

ListPhrase = Literal[
    "added", "there", "taken", "absent", "holds", "empty", "found", "not_found", "cleared", "full"
]

LATE_S: Final = 60.0
"""From how many seconds on it is said how late a reminder is. Less is waiting for a gap to speak,
or the clock being looked at every half minute."""

ALL_DAYS: Final = tuple(range(7))
WORKDAYS: Final = tuple(range(5))
WEEKEND: Final = (5, 6)

MAX_TOLD: Final = 5
"""How many are told one by one: nobody remembers more."""


class Answers:
    """The answers in one language. Made by `load`."""

    def __init__(self, language: Language, wording: "Wording") -> None:
        self._phrases = language.phrases
        self._wording = wording

    @classmethod
    def load(cls, language: str = "en", folder: Path = SENTENCES) -> Self:
        """Read a language. Raises LanguageMissing or LanguageDamaged."""
        from sayso.server.reflexes.wording import Wording

        known = read_language(language, folder)
        return cls(known, Wording(known))

    @property
    def status(self) -> StatusAnswers:
        """What is said of how far work is."""
        return StatusAnswers(self._phrases.status, self._wording)

    @property
    def undoing(self) -> UndoAnswers:
        """What is said of taking back."""
        return UndoAnswers(self._phrases.undoing, self._wording)

    @property
    def changing(self) -> Changing:
        """What is said of changes to timers and alarms."""
        return self._phrases.changing

    @property
    def plain(self) -> PlainAnswers:
        """What is said of all that is kept nowhere."""
        return PlainAnswers(self._phrases, self._wording)

    def taken(self, reminder: Reminder, when: When | None, now: datetime) -> str:
        """It is set; `when` is how its time was said, if it is not a timer."""
        if reminder.days:
            return self._repeating(reminder, self._repeats(reminder), now)
        said = self._moment(reminder, now)
        if isinstance(when, After):
            seconds = when.days * 86_400 + when.seconds
            length = self._wording.length(seconds, place="after")
            said = self._phrases.days.after.format(length=length)
        return self.say(self._form(reminder).set, reminder, now, when=said)

    def due(self, reminder: Reminder, now: datetime) -> str:
        """Its time has come, or had come a while ago."""
        form = self._form(reminder)
        late = now.timestamp() - reminder.due >= LATE_S
        return self.say(form.late if late else form.due, reminder, now)

    def rings(self, alarm: Reminder, now: datetime) -> str:
        """It rings, or should have rung so long ago that it is only told."""
        late = now.timestamp() - alarm.due >= MISSED_S
        form = self._form(alarm)
        return self.say(form.late if late else form.due, alarm, now)

    def cancelled(self, reminder: Reminder, now: datetime) -> str:
        """It will not be told, or ring, any more."""
        if reminder.days and reminder.kind == "alarm":
            return self._repeating(reminder, self._phrases.changing.repeats_gone, now)
        return self.say(self._form(reminder).gone, reminder, now)

    def all_cancelled(self, kind: Kind) -> str:
        return _sentence(self._phrases.all_gone.of(kind).format(count="", names=""))

    def open(self, kind: Kind, reminders: Sequence[Reminder], now: datetime) -> str:
        """What of this kind is open, the next one first."""
        if not reminders:
            return self.none(kind)
        told = [self._told(one, now) for one in reminders[:MAX_TOLD]]
        if more := len(reminders) - len(told):
            told.append(self.more(more))
        return " ".join(told)

    def none(self, kind: Kind) -> str:
        return _sentence(self._phrases.none.of(kind).format(count="", names=""))

    def unmatched(self, kind: Kind, reminders: Sequence[Reminder], now: datetime) -> str:
        """Such a one is not open, but these are."""
        return self._of_many(self._phrases.unmatched.of(kind), reminders, now)

    def which(self, kind: Kind, reminders: Sequence[Reminder], now: datetime) -> str:
        """Several can be meant."""
        return self._of_many(self._phrases.which.of(kind), reminders, now)

    @property
    def lists(self) -> ListPhrases:
        """What is said of lists."""
        return self._phrases.lists

    @property
    def memory(self) -> Mapping[str, str]:
        """What is said of what is remembered."""
        return self._phrases.memory

    @property
    def speaking(self) -> Speaking:
        """What is said of the voice."""
        return self._phrases.speaking

    def home(self, what: Literal["away", "unknown"]) -> str:
        """That the house does not answer, or fell silent while something was done there."""
        return self._phrases.elsewhere[what]

    def listed(self, what: ListPhrase, items: Sequence[str], name: str) -> str:
        """Something about things and the list that they are on."""
        lists = self._phrases.lists
        called = lists.names.get(name) or lists.other.format(name=name)
        told = self._wording.joined(items) if items else ""
        return _sentence(getattr(lists, what).format(items=told, list=called))

    def lists_there(self, names: Sequence[str]) -> str:
        """Which lists hold anything."""
        lists = self._phrases.lists
        if not names:
            return lists.none
        called = [lists.names.get(name) or lists.other.format(name=name) for name in names]
        return _sentence(lists.all.format(names=self._wording.joined(called), count=""))

    def more(self, count: int) -> str:
        """So many more are not told one by one."""
        return _sentence(self._wording.counted(count, self._phrases.more))

    def too_many(self, count: int) -> str:
        return _sentence(self._phrases.too_many.format(count=self._wording.number(count), names=""))

    def too_far(self) -> str:
        return self._phrases.too_far

    def passed(self) -> str:
        return self._phrases.passed

    def not_kept(self) -> str:
        return self._phrases.not_kept

    def _form(self, reminder: Reminder) -> Form:
        forms = self._phrases.forms
        match reminder.kind:
            case "timer":
                return forms.named_timer if reminder.what else forms.timer
            case "alarm":
                return forms.alarm
            case "reminder":
                return forms.reminder if reminder.what else forms.bare_reminder

    def _told(self, reminder: Reminder, now: datetime) -> str:
        """One of those that are open."""
        if reminder.days:
            return self._repeating(reminder, self._repeats(reminder), now)
        paused = self._phrases.changing.open_paused
        return self.say(paused if reminder.is_paused else self._form(reminder).open, reminder, now)

    def _repeats(self, reminder: Reminder) -> str:
        changing = self._phrases.changing
        told = reminder.kind == "reminder" and reminder.what
        return changing.repeats_reminder if told else changing.repeats

    def _repeating(self, reminder: Reminder, phrase: str, now: datetime) -> str:
        """On which days it comes, and at what time."""
        changing = self._phrases.changing
        due = datetime.fromtimestamp(reminder.due, now.tzinfo)
        usual = {
            ALL_DAYS: changing.every_day,
            WORKDAYS: changing.workdays,
            WEEKEND: changing.weekends,
        }
        days = usual.get(reminder.days) or changing.each.format(
            names=self._wording.joined([changing.each_names[day] for day in reminder.days]),
            days="",
            clock="",
        )
        clock = self._wording.clock_in_day(due)
        return _sentence(phrase.format(days=days, clock=clock, what=reminder.what, names=""))

    def moved(self, reminder: Reminder, now: datetime) -> str:
        """That it comes at another time than was said before."""
        told = reminder.kind == "reminder" and reminder.what
        changing = self._phrases.changing
        return self.say(changing.moved_reminder if told else changing.moved, reminder, now)

    def say(self, phrase: str, reminder: Reminder, now: datetime, when: str = "") -> str:
        return _sentence(self._fill(phrase, reminder, now, when))

    def _fill(self, phrase: str, reminder: Reminder, now: datetime, when: str = "") -> str:
        due = datetime.fromtimestamp(reminder.due, now.tzinfo)
        away = reminder.left or due.timestamp() - now.timestamp()
        say = self._wording.length
        return phrase.format(
            name=reminder.what,
            what=reminder.what,
            length=say(reminder.seconds),
            left=say(away, exactness="rough"),
            late=say(-away, exactness="rough", place="after"),
            clock=self._wording.clock(due),
            moment=self._moment(reminder, now),
            when=when,
        )

    def _moment(self, reminder: Reminder, now: datetime) -> str:
        return self._wording.moment(datetime.fromtimestamp(reminder.due, now.tzinfo), now)

    def _of_many(self, phrase: str, reminders: Sequence[Reminder], now: datetime) -> str:
        names = [self._fill(self._form(one).called, one, now) for one in reminders[:MAX_TOLD]]
        count = self._wording.number(len(reminders))
        return _sentence(phrase.format(count=count, names=self._wording.joined(names)))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
