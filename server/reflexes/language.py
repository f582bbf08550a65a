"""What a language consists of: sentences that are understood, manners, phrases that are said.

The fields are the sections of a language's file (`language_file.py`); docs/reflexes.md tells more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from sayso.server.reflexes.figures.sum_words import Sums


@dataclass(frozen=True, slots=True)
class Manners:
    """What surrounds a request and changes nothing."""

    anywhere: tuple[str, ...]
    """Sounds of thinking, which mean nothing wherever they are."""
    softening: tuple[str, ...]
    """Words that may stand anywhere in a polite request."""
    before: tuple[str, ...]
    """Said to whoever listens."""
    asking: tuple[str, ...]
    """Asks for what follows, so that it is no consent."""
    after: tuple[str, ...]
    """Also cut off what to remind of, if a comma sets it apart."""
    after_what: tuple[str, ...]
    """Cut off what to remind of even without a comma."""
    remarks: tuple[str, ...]
    """With these a sentence begins that says why something is asked for: `I've`."""
    compounds: tuple[str, ...]
    """Words that are written in one with the word before them: `Timer` in `Nudeltimer`."""


@dataclass(frozen=True, slots=True)
class Doubts:
    """Words that make something else of what seems to be a reminder or a name."""

    what: tuple[str, ...]
    """In what to remind of: it would have to come again, or on a condition."""
    what_before_time: tuple[str, ...]
    """In what to remind of, where the time follows: some of the time was not understood."""
    untimed: tuple[str, ...]
    """In what to remind of where no time was said, beside `what_before_time`."""
    items: tuple[str, ...]
    """In what is to stand on a list: it is no thing that a household keeps lists of."""
    name: tuple[str, ...]
    """In the name of a timer: more was said than a name."""


@dataclass(frozen=True, slots=True)
class Names:
    """What may stand in braces in a phrase."""

    allowed: tuple[str, ...]


_OfTime = Annotated[str, Names(("hour", "next", "minute"))]
_OfDay = Annotated[str, Names(("name", "ordinal", "month"))]
_OfOne = Annotated[
    str, Names(("name", "what", "length", "left", "late", "clock", "moment", "when"))
]
_OfMany = Annotated[str, Names(("count", "names"))]
_OfPlace = Annotated[str, Names(("place", "clock", "moment"))]
_OfSum = Annotated[str, Names(("said", "result"))]
_OfList = Annotated[str, Names(("items", "list"))]
_OfSpeech = Annotated[str, Names(("percent", "name"))]
_OfDays = Annotated[str, Names(("days", "clock", "names"))]
_OfChanges = Annotated[str, Names(("what", "names", "reason", "old", "new"))]


@dataclass(frozen=True, slots=True)
class Units:
    """How many of each unit of time, by the language's plural categories."""

    day: Mapping[str, _OfMany]
    hour: Mapping[str, _OfMany]
    minute: Mapping[str, _OfMany]
    second: Mapping[str, _OfMany]
    week: Mapping[str, _OfMany]


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """How a clock time is said."""

    hours: Literal["12", "24"]
    minutes: Mapping[str, _OfTime]
    """Minutes that have a phrase of their own, such as `15`."""
    low: _OfTime
    """From one to nine minutes past."""
    other: _OfTime
    numbers: Mapping[str, str]
    """Hours whose word is not the number's."""
    whole: Mapping[str, str]
    """Full hours with a name of their own: `0` for midnight, `12` for noon."""
    parts: Mapping[str, str]
    """From which hour on which part of the day is added, where the day needs to be clear."""


@dataclass(frozen=True, slots=True)
class Days:
    """How a day is said."""

    names: tuple[str, ...]
    """Monday first."""
    months: tuple[str, ...]
    ordinals: str
    """Which of the number rules' ordinals `later` takes."""
    today: _OfDay
    tomorrow: _OfDay
    soon: _OfDay
    """Two to six days ahead."""
    later: _OfDay
    moment: Annotated[str, Names(("day", "clock"))]
    whole: Annotated[str, Names(("day", "clock"))]
    """The same with a full hour that has a name of its own."""
    after: Annotated[str, Names(("length",))]


@dataclass(frozen=True, slots=True)
class Form:
    """What is said of one kind of reminder in the course of its life."""

    set: _OfOne
    due: _OfOne
    late: _OfOne
    """Nobody could be told in time."""
    open: _OfOne
    gone: _OfOne
    """It was cancelled."""
    called: _OfOne
    """Its name in the middle of a sentence."""


@dataclass(frozen=True, slots=True)
class Forms:
    """Each kind; a name, or something to remind of, makes another form."""

    timer: Form
    named_timer: Form
    alarm: Form
    reminder: Form
    bare_reminder: Form


@dataclass(frozen=True, slots=True)
class PerKind:
    timer: _OfMany
    alarm: _OfMany
    reminder: _OfMany

    def of(self, kind: Literal["timer", "alarm", "reminder"]) -> str:
        match kind:
            case "timer":
                return self.timer
            case "alarm":
                return self.alarm
            case "reminder":
                return self.reminder


@dataclass(frozen=True, slots=True)
class Changing:
    """What is said when a timer or an alarm is changed, and of what comes again and again."""

    how_long: str
    """A timer is wanted, and it was not said how long."""
    when: str
    """The same with an alarm or a reminder."""
    changed: _OfOne
    """A timer has more or less time now."""
    paused: _OfOne
    open_paused: _OfOne
    """In a list of what is open."""
    resumed: _OfOne
    too_short: str
    """More is to be taken off a timer than it has left."""
    moved: _OfOne
    """An alarm rings at another time now."""
    moved_reminder: _OfOne
    snoozed: _OfOne
    not_ringing: str
    stopped: str
    repeats: _OfDays
    """An alarm was set that comes again and again."""
    repeats_reminder: Annotated[str, Names(("days", "clock", "what"))]
    repeats_gone: _OfDays
    """Such an alarm was cancelled."""
    every_day: str
    workdays: str
    weekends: str
    each: _OfDays
    """On single weekdays."""
    each_names: tuple[str, ...]
    """Weekdays in it, Monday first."""
    asking: tuple[Annotated[str, Names(("when",))], ...]
    """Sentences that ask to be reminded, by which a time that stands alone is understood."""


@dataclass(frozen=True, slots=True)
class Dates:
    """What is said of days and of the time elsewhere."""

    of_day: Annotated[str, Names(("weekday", "ordinal", "month", "year"))]
    week: _OfMany
    elsewhere: _OfPlace
    """The time in another place, on the same day as here."""
    elsewhere_day: _OfPlace
    """The same on another day."""
    later: _OfPlace
    """The time in a while, today."""
    later_day: _OfPlace
    """The same on another day."""
    until: Annotated[str, Names(("length",))]
    since: Annotated[str, Names(("length",))]
    until_today: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What is said of sums, measures and chance."""

    result: _OfSum
    about: _OfSum
    """The result is rounded."""
    measure: _OfSum
    measure_about: _OfSum
    heads: str
    tails: str
    die: _OfMany
    dice: _OfMany
    """Several of them, and what they come to."""


@dataclass(frozen=True, slots=True)
class ListPhrases:
    """What is said of lists."""

    usual: str
    """The list that is meant if none is named: a key of `names`."""
    names: Mapping[str, str]
    """What lists are called in a sentence, by their key."""
    other: Annotated[str, Names(("name",))]
    """What a list without a key is called."""
    separators: tuple[str, ...]
    """Words between things that are named in a row."""
    articles: tuple[str, ...]
    """Words before a thing that do not name it."""
    added: _OfList
    there: _OfList
    """It was on the list before."""
    taken: _OfList
    absent: _OfList
    holds: _OfList
    empty: _OfList
    found: _OfList
    not_found: _OfList
    cleared: _OfList
    full: _OfList
    all: _OfMany
    """Which lists hold anything; `none` if none does."""
    none: str


@dataclass(frozen=True, slots=True)
class Speaking:
    """What is said of the voice."""

    slower: str
    faster: str
    slowest: str
    fastest: str
    louder: str
    quieter: str
    loudest: str
    quietest: str
    normal: str
    volume: _OfSpeech
    voice: _OfSpeech
    no_voice: _OfSpeech
    no_other_voice: str
    nothing_said: str
    """There is no answer to be repeated."""


@dataclass(frozen=True, slots=True)
class Undoing:
    """What is said of taking back what code did to files."""

    files: Mapping[str, _OfMany]
    folders: Mapping[str, _OfMany]
    """So many things, one of them a folder at least."""
    names_more: _OfMany
    """Stands for the names that are not told."""
    asked: _OfChanges
    """Which requests these were, where it is not plain."""
    quoted: _OfChanges
    """How the words of one of them are told, and a commit's."""
    back: _OfChanges
    removed: _OfChanges
    renamed: _OfChanges
    """For both directions; `names` are each `renaming`."""
    renaming: _OfChanges
    commits: _OfChanges
    commits_again: _OfChanges
    again: _OfChanges
    gone_again: _OfChanges
    left: _OfChanges
    left_several: _OfChanges
    reasons: Mapping[str, str]
    """Why something was left as it is, in the middle of `left`; by the reason's name."""
    elsewhere: str
    """What is never taken back."""
    blocked: str
    """Nothing at all could be put back; `left` follows."""
    nothing: str
    unknown: str
    """No request that can be taken back was asked for in such words; `asked` follows."""
    nothing_again: str
    running: str
    switched_off: str


@dataclass(frozen=True, slots=True)
class Phrases:
    """What is said in answer."""

    time: Annotated[str, Names(("clock",))]
    date: Annotated[str, Names(("weekday", "ordinal", "month", "year"))]
    date_ordinals: str
    """Which of the number rules' ordinals `date` takes."""
    units: Units
    units_after: Units
    """As they are said after words such as `in`."""
    joined: Annotated[str, Names(("first", "last"))]
    listed: Annotated[str, Names(("first", "last"))]
    """Joins all but the last of three and more."""
    time_of_day: TimeOfDay
    days: Days
    forms: Forms
    none: PerKind
    """Nothing of this kind is open."""
    unmatched: PerKind
    """There are some, but not the one that was named."""
    which: PerKind
    """It was not said which of several."""
    all_gone: PerKind
    more: Mapping[str, _OfMany]
    """What is not told one by one, by plural category."""
    too_many: _OfMany
    too_far: str
    passed: str
    not_kept: str
    """The disk did not take it."""
    changing: Changing
    dates: Dates
    figures: Figures
    lists: ListPhrases
    speaking: Speaking
    talk: Mapping[str, str]
    """By topic: see `reflex.Topic`."""
    elsewhere: Mapping[str, str]
    """By what it needs (`reflex.Need`); `away`, `unknown`: the house falls silent."""
    status: Mapping[str, str]
    undoing: Undoing
    memory: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Language:
    """All that Sayso knows of a language, without a language model."""

    code: str
    sentences: Mapping[str, object]
    """hassil's part: lists, expansion rules and intents."""
    manners: Manners
    doubts: Doubts
    sums: Sums
    places: Mapping[str, str]
    """Time zones of places, by what the language calls them, beyond those named in a zone."""
    phrases: Phrases
    examples: Mapping[str, tuple[str, ...]]
    """For each intent some sentences that mean it: tried when Sayso starts, and in the tests."""
