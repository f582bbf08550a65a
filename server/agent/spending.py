"""Counts what all conversations together use in a day, and enforces the daily limits.

The log is the account: what was used today is read from it at the start, and counted on from there.
So a day's limit holds across restarts, and nothing has to be kept twice.
"""

import re
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Self

from sayso.server.settings.defaults import Agent
from sayso.server.store.event_log import EventLog
from sayso.server.store.jobs import JobDetached, JobEnded
from sayso.server.store.records import (
    Answered,
    Event,
    Record,
    RunIntended,
    RunReported,
)
from sayso.server.store.steering import DayExtended, Explained

_USUAL: Final = Agent()


@dataclass(frozen=True, slots=True)
class DailyLimits:
    """Limits of one day, from midnight to midnight, as the settings have them
    (`settings/defaults/agent.py`). Each ends in a question to the person."""

    steps: int = _USUAL.day_steps
    """Times that code may run."""
    seconds: float = _USUAL.day_seconds
    """Time that models and code take, waiting for the person not counted."""
    tokens: int = _USUAL.day_tokens
    """Tokens in and out."""
    usd: float = _USUAL.day_usd
    """US dollars, where the price is known."""


@dataclass(slots=True)
class Used:
    """What was used."""

    steps: int = 0
    seconds: float = 0.0
    tokens: int = 0
    usd: float = 0.0
    background: set[str] = field(default_factory=set)
    """Runs that go on in the background, whose time is counted until they went there."""

    def count(self, record: Record) -> None:
        match record:
            case Answered() | Explained():
                self.tokens += record.tokens_in + record.tokens_out
                self.usd += record.usd or 0.0
                self.seconds += record.seconds
            case RunIntended():
                self.steps += 1
            case JobDetached():
                self.seconds += record.seconds
                self.background.add(record.run)
            case RunReported(run=run) if run in self.background:
                self.background.discard(run)  # nobody waited for the rest
            case RunReported():
                self.seconds += record.seconds
            case _:
                pass


_JOBS_LAST_S: Final = 31 * 86_400.0
"""Longer than the settings let a job go on."""

_YES: Final = re.compile(
    r"(yes|yeah|yep|ok|okay|sure|please|do|continue|carry on|go on|go ahead|keep going)"
    r"( please| do| go on| go ahead| continue| sure| it)*",
)


class DailySpending:
    """Keeps the account of the day."""

    def __init__(self, bounds: DailyLimits, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives Unix seconds."""
        self.used = Used()
        self._bounds = bounds
        self._clock = clock
        self._day = self._today()
        self._asked_ahead = False
        """Whether the day's limit stood in the way of a step that was not made."""
        self._times = 1
        """How often the limits may be used up: once, and once more for each time that the person
        said so."""

    @classmethod
    async def open(
        cls, log: EventLog, bounds: DailyLimits, clock: Callable[[], float] = time.time
    ) -> Self:
        """Read what was used today. Raises StoreError."""
        book = cls(bounds, clock)
        midnight = _midnight(clock())
        earlier = await log.of_types(JobDetached, JobEnded, since=midnight - _JOBS_LAST_S)
        book.used.background = _going_on(event for event in earlier if event.time < midnight)
        kinds = (Answered, Explained, RunIntended, RunReported, JobDetached, DayExtended)
        for event in await log.of_types(*kinds, since=midnight):
            book.saw(event.record)
        return book

    def saw(self, record: Record) -> None:
        """Something happened, in whatever conversation."""
        self._turn_the_page()
        if isinstance(record, DayExtended):
            self._times += 1
            self._asked_ahead = False
        self.used.count(record)

    def question_before(self, usd: float) -> str:
        """Asked of the person before a step that is expected to cost so much, if that is more than
        the day may; empty otherwise."""
        self._turn_the_page()
        if self.used.usd + usd <= self._bounds.usd * self._times:
            return ""
        self._asked_ahead = True
        return (
            f"Today has cost {self.used.usd:.2f} dollars so far, and the next step would cost about"
            f" {usd:.2f} more. Shall I go on?"
        )

    @property
    def is_over(self) -> bool:
        """Whether the person was asked, or is to be, whether the day may have more."""
        return self._asked_ahead or bool(self.question)

    @property
    def question(self) -> str:
        """Asked of the person when a limit is reached; empty before."""
        self._turn_the_page()
        used, bounds = self.used, self._bounds
        if used.usd >= bounds.usd * self._times:
            return f"Today has cost {used.usd:.2f} dollars so far. Shall I go on?"
        if used.tokens >= bounds.tokens * self._times:
            millions = used.tokens / 1_000_000
            return f"Today has taken {millions:.1f} million tokens so far. Shall I go on?"
        if used.steps >= bounds.steps * self._times:
            return f"I have run code {used.steps} times today. Shall I go on?"
        if used.seconds >= bounds.seconds * self._times:
            return f"I have worked for {used.seconds / 3600:.1f} hours today. Shall I go on?"
        return ""

    def _turn_the_page(self) -> None:
        today = self._today()
        if today != self._day:
            background = self.used.background
            self._day, self._times, self.used = today, 1, Used(background=background)
            self._asked_ahead = False

    def _today(self) -> str:
        return datetime.fromtimestamp(self._clock()).astimezone().date().isoformat()


def _going_on(events: Iterable[Event]) -> set[str]:
    """The runs that went on in the background after these."""
    runs: dict[str, str] = {}
    for event in events:
        match event.record:
            case JobDetached(id=job, run=run):
                runs[job] = run
            case JobEnded(id=job):
                runs.pop(job, None)
            case _:
                pass
    return set(runs.values())


def says_yes(text: str) -> bool:
    """Whether this is a yes to "Shall I go on?" and nothing else."""
    words = " ".join(re.findall(r"[a-z]+", text.lower()))
    return _YES.fullmatch(words) is not None


def _midnight(now: float) -> float:
    day = datetime.fromtimestamp(now).astimezone()
    return day.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()


class CostEstimate:
    """What a reply took whose end was not waited for, because its provider said nothing of it; and
    what the next one will take.

    Learned from the replies that were reported, since each model counts in its own tokens.
    """

    CHARS_PER_TOKEN: Final = 4.0
    """Of English text and code, in most models, until there is something to learn from."""

    REPLY_TOKENS: Final = 300
    """Of a reply at least, before it is made: some lines of code and a sentence."""

    REMEMBERED: Final = 8
    """Replies; the longest of them is what the next one is taken for."""

    def __init__(self) -> None:
        self._sent = self._said = self.CHARS_PER_TOKEN
        self._replies: deque[int] = deque([self.REPLY_TOKENS], maxlen=self.REMEMBERED)

    def next_tokens(self, sent: int) -> tuple[int, int]:
        """In and out, of a reply to so many characters."""
        return round(sent / self._sent), max(self._replies)

    def learn(self, sent: int, said: int, tokens_in: int, tokens_out: int) -> None:
        """A reply was reported: characters, and the tokens that they were."""
        self._replies.append(tokens_out)
        if sent and tokens_in:
            self._sent = sent / tokens_in
        if said and tokens_out:
            self._said = said / tokens_out

    def tokens(self, sent: int, said: int) -> tuple[int, int]:
        """In and out, as far as one can tell."""
        return round(sent / self._sent), round(said / self._said)
