"""The tools `reminders` and `household_lists`: for sentences that no reflex matched.

Times are given in words, as a person says them ("tomorrow at nine", "in 20 minutes", "every weekday
at 7"), or as an ISO date and time: what a small model gets wrong is the working out, which is done
here. The tools keep what reflexes keep, within the same bounds, and answer in the same words.
"""

from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal, cast

from sayso.server.agent.tools.tool import Arguments, Tool, ToolContext, ToolRefused
from sayso.server.reflexes.asker import Asker
from sayso.server.reflexes.household.list_reflexes import (
    AddToList,
    ClearList,
    ReadList,
    TakeOffList,
    TellLists,
)
from sayso.server.reflexes.language_set import LanguageSet
from sayso.server.reflexes.reflex import (
    CancelTimer,
    ChangeAlarm,
    ChangeTimer,
    Kind,
    ListTimers,
    Reflex,
    SetReminder,
    SetTimer,
    Snooze,
)
from sayso.server.reflexes.time_expressions import After, At, When
from sayso.server.runtimes.runtime import Ending, Output

KINDS: Final[tuple[Kind, ...]] = ("timer", "alarm", "reminder")

LONGEST: Final = 120
"""Characters of what to remind of, or of a thing on a list: a line that somebody hears."""

_TEXT: Final = {"type": "string", "maxLength": LONGEST}

_REMINDERS: Final = {
    "type": "object",
    "properties": {
        "action": {"enum": ["set", "list", "cancel", "move", "pause", "resume", "snooze"]},
        "kind": {"enum": list(KINDS)},
        "when": _TEXT,
        "what": _TEXT,
        "old": _TEXT,
        "all": {"type": "boolean"},
    },
    "required": ["action"],
    "additionalProperties": False,
}
_LISTS: Final = {
    "type": "object",
    "properties": {
        "action": {"enum": ["add", "remove", "read", "clear", "lists"]},
        "name": _TEXT,
        "items": {"type": "array", "items": _TEXT, "maxItems": 20},
    },
    "required": ["action"],
    "additionalProperties": False,
}

Answer = Callable[[Reflex, Asker], Awaitable[str | None]]
"""Does what a reflex asks for, and says so."""


class _HouseholdTool(Tool):
    """Does what a reflex does."""

    undo = "saying so takes it back"
    kind = "keeps"
    outside = False
    ways = frozenset({"call", "fence"})

    def __init__(
        self,
        answer: Answer,
        asker: Callable[[], Asker],
        languages: LanguageSet,
        now: Callable[[], datetime],
    ) -> None:
        """`asker`: who asked last in this conversation."""
        self._answer = answer
        self._asker = asker
        self._languages = languages
        self._now = now

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return ()

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        asker = self._asker()
        said = [await self._answer(reflex, asker) for reflex in self._reflexes(arguments)]
        yield Output("result", " ".join(one for one in said if one))
        yield Ending("ok", 0.0)

    @abstractmethod
    def _reflexes(self, arguments: Arguments) -> list[Reflex]:
        """What is to be done, in order. Raises ToolRefused."""


class ReminderTool(_HouseholdTool):
    """Sets, lists and cancels timers, alarms and reminders."""

    name = "reminders"
    use = (
        "Set, list or cancel timers, alarms and reminders; move (an alarm to when; old: its time"
        " now), pause or resume (a timer), snooze (what rings). when: as said, like"
        " 'in 20 minutes', 'tomorrow at 9', 'every weekday at 7', or an ISO date and time."
        " what: its name, or what to remind of."
    )
    schema = _REMINDERS

    def _reflexes(self, arguments: Arguments) -> list[Reflex]:
        kind = cast("Kind | None", arguments.get("kind"))
        what = str(arguments.get("what", ""))
        match arguments["action"]:
            case "list":
                return [ListTimers(each) for each in ([kind] if kind else KINDS)]
            case "cancel":
                if kind is None:
                    raise ToolRefused("Say which kind to cancel: timer, alarm or reminder.")
                which: Literal["one", "all"] = "all" if arguments.get("all") else "one"
                when = self._clock(arguments, "when")
                seconds = when.seconds if isinstance(when, After) else 0
                at = when if isinstance(when, At) else None
                return [CancelTimer(kind, which, what, seconds, at)]
            case "move":
                found = self._required(str(arguments.get("when", "")))
                old = self._clock(arguments, "old")
                return [ChangeAlarm(found, old if isinstance(old, At) else None)]
            case "pause" | "resume" as action:
                every: Literal["one", "all"] = "all" if arguments.get("all") else "one"
                return [ChangeTimer(action, name=what, which=every)]
            case "snooze":
                return [Snooze(self._length(arguments))]
            case _:
                return [self._set(kind or "reminder", str(arguments.get("when", "")), what)]

    def _set(self, kind: Kind, when: str, what: str) -> Reflex:
        found = self._found(when)
        if kind == "timer":
            if not isinstance(found.when, After) or found.when.days:
                raise ToolRefused("A timer takes a length like '10 minutes'; else set an alarm.")
            return SetTimer(found.when.seconds, what)
        setting: Literal["alarm", "reminder"] = "alarm" if kind == "alarm" else "reminder"
        return replace(found, what=what, kind=setting)

    def _found(self, when: str) -> SetReminder:
        found = self._when(when)
        if found is None:
            raise ToolRefused(
                f"The time {when!r} was not understood: say it like 'in 20 minutes',"
                " 'tomorrow at 9' or 'every weekday at 7', or as an ISO date and time."
            )
        return found

    def _required(self, when: str) -> When:
        found = self._found(when).when
        if found is None:
            raise ToolRefused("Say when.")
        return found

    def _clock(self, arguments: Arguments, name: str) -> When | None:
        """The time by which one of several is told; None if it was not given."""
        said = str(arguments.get(name, ""))
        return self._required(said) if said else None

    def _length(self, arguments: Arguments) -> int:
        """For how long, in seconds; zero if it was not given."""
        when = self._clock(arguments, "when")
        return when.seconds if isinstance(when, After) else 0

    def _when(self, said: str) -> SetReminder | None:
        """A time as it was given, in whichever language."""
        try:
            moment = datetime.fromisoformat(said.strip())
        except ValueError:
            return self._languages.time_in(said, self._asker().language)
        now = self._now()
        ahead = moment.replace(tzinfo=moment.tzinfo or now.tzinfo).timestamp() - now.timestamp()
        return SetReminder(After(round(ahead))) if ahead > 0 else None


class ListTool(_HouseholdTool):
    """Adds to, takes off, reads and clears lists."""

    name = "household_lists"
    use = (
        "Add to, remove from, read or clear a list of the household, or tell which lists there are."
        " name: shopping, todo, …"
    )
    schema = _LISTS

    def _reflexes(self, arguments: Arguments) -> list[Reflex]:
        name, items = str(arguments.get("name", "")), ", ".join(arguments.get("items", ()))
        match arguments["action"]:
            case "read":
                return [ReadList(name)]
            case "clear":
                return [ClearList(name)]
            case "lists":
                return [TellLists()]
            case action:
                if not items:
                    raise ToolRefused(f"Say what to {action}, as a list of items.")
                return [AddToList(items, name) if action == "add" else TakeOffList(items, name)]
