"""Limits what one request may use, and counts what it used."""

import re
from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final

from sayso.server.agent.request_clock import RequestClock
from sayso.server.agent.spending import DailyLimits, DailySpending
from sayso.server.settings.defaults import Agent, Jobs
from sayso.server.store.records import Answered, Call

_USUAL: Final = Agent()


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one request, as the settings have them (`settings/defaults/agent.py`). Each ends in
    a question to the person, who may let it go on."""

    steps: int = _USUAL.steps
    """Times that code may run."""
    seconds: float = _USUAL.seconds
    """Time, without waits for the person's approval."""
    tokens: int = _USUAL.tokens
    """Tokens in and out."""
    usd: float = _USUAL.usd
    """US dollars, where the price is known."""
    output_chars: int = _USUAL.output_chars
    """Characters of a run's output given to the model."""


@dataclass(frozen=True, slots=True)
class JobLimits:
    """Limits of runs in the background."""

    at_once: int = 3
    """Of one conversation, where the settings leave it open. Each has an interpreter of its own, of
    some 60 MB before it does anything."""
    hours: float = Jobs().hours
    """For so long one may run."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What work may use: each request, and all of a day's together; and what goes on beside."""

    request: RequestLimits = field(default_factory=RequestLimits)
    day: DailySpending = field(default_factory=lambda: DailySpending(DailyLimits()))
    jobs: JobLimits = field(default_factory=JobLimits)


REPLY_CHARS: Final = 60_000
"""Characters of one reply. Nobody listens to more; a model that repeats itself never ends."""

LOOKS: Final = 60
"""Of one request: who gets to know a large project looks at some thirty of its files."""

SMALL_STEPS: Final = 80
"""Of one request, such as clicks: an errand on the web takes twenty or thirty."""

REPEATS: Final = 3
"""The third time of the same is no accident …"""
SMALL_REPEATS: Final = 10
"""… but for small steps: who looks for something scrolls a few times."""


class LimitReached(Exception):
    """The work stops here. The text is a question for the person."""


class RequestUsage:
    """What one request has used. Raises LimitReached where it is too much."""

    def __init__(self, budget: Budget) -> None:
        self._day = budget.day
        self.limits = budget.request
        self.tokens_in = 0
        self.tokens_out = 0
        self.usd: float | None = None
        self.runs = 0
        self._looks = 0
        self._small_steps = 0
        self._repeats = REPEATS
        """So often may the latest call be the same."""
        self.agreed_to_cost = False
        """The person has said yes to what the next step costs."""
        self._last_code: list[str] = []
        self._last_failures: list[str] = []
        self._outcomes: Counter[tuple[str, str]] = Counter()
        self.clock = RequestClock(self.limits.seconds)
        """To be entered around the work; it expires with TimeoutError."""

    def paused(self) -> AbstractContextManager[None]:
        """Time that the person takes is not the work's."""
        return self.clock.paused()

    def time_is_up(self) -> LimitReached:
        """The limit, for the one who sees the clock expire."""
        return LimitReached(f"{self._worked} Shall I go on?")

    def goes_on_without(self) -> LimitReached:
        """The same, where what ran is in the background now."""
        return LimitReached(
            f"{self._worked} It goes on in the background, and I tell you when it ends."
        )

    @property
    def time_question(self) -> str:
        """Asked of the person before the time is up, while what runs goes on."""
        worked = _duration(self.clock.worked)
        return f"This has taken {worked} so far. Shall I go on, stop, or do it in the background?"

    @property
    def _worked(self) -> str:
        return f"I have worked on this for {_duration(self.clock.worked)}."

    @property
    def out_of_time(self) -> bool:
        """Whether it is the clock that stops the work."""
        return self.clock.expired

    @property
    def day_is_over(self) -> bool:
        """Whether all that one day may use is used."""
        return self._day.is_over

    def check_day(self) -> None:
        """Go on only if the day's limits allow it."""
        if question := self._day.question:
            raise LimitReached(question)

    def before_reply(self, usd: float | None) -> None:
        """The model is about to be asked, which is expected to cost so much; none: nobody knows."""
        agreed, self.agreed_to_cost = self.agreed_to_cost, False
        if usd is None or agreed:
            return
        spent = self.usd or 0.0
        if spent + usd > self.limits.usd:
            told = (
                f"This has cost {spent:.2f} dollars so far, and the next step would cost about"
                f" {usd:.2f} more."
                if spent
                else f"This alone would cost about {usd:.2f} dollars, and one request may cost"
                f" {self.limits.usd:.2f}."
            )
            raise LimitReached(f"{told} Shall I go on?")
        if question := self._day.question_before(usd):
            raise LimitReached(question)

    def during_reply(self, characters: int) -> None:
        """The model's reply is this long by now."""
        if characters > REPLY_CHARS:
            raise LimitReached("My answer is getting very long. Shall I go on?")

    def after_reply(self, answer: Answered) -> None:
        """The model has replied."""
        self.tokens_in += answer.tokens_in
        self.tokens_out += answer.tokens_out
        if answer.usd is not None:
            self.usd = (self.usd or 0.0) + answer.usd

    def shared(self, tokens_in: int, tokens_out: int, usd: float | None) -> None:
        """A helper has used so much of it."""
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        if usd is not None:
            self.usd = (self.usd or 0.0) + usd

    def before_run(self, call: Call, *, looks: bool = False, small: bool = False) -> None:
        """The model wants code run; or something looked at, or a small step such as a click taken,
        which are not counted as that."""
        code = f"{call.language} {_plain(call.code)}"
        self._repeats = SMALL_REPEATS if small else REPEATS
        self._last_code = [*self._last_code, code][-SMALL_REPEATS:]
        if self._last_code[-self._repeats :] == [code] * self._repeats:
            raise LimitReached("I keep writing the same code. Shall I try another way?")
        if small and self._small_steps >= SMALL_STEPS:
            raise LimitReached(f"I have taken {SMALL_STEPS} small steps. Shall I go on?")
        if looks and self._looks >= LOOKS:
            raise LimitReached(f"I have looked at files {LOOKS} times. Shall I go on?")
        is_run = not looks and not small
        if is_run and self.runs >= self.limits.steps:
            raise LimitReached(f"I have run code {self.runs} times and am not done. Shall I go on?")
        if self.tokens_in + self.tokens_out >= self.limits.tokens:
            raise LimitReached("This has become a long piece of work. Shall I go on?")
        if self.usd is not None and self.usd >= self.limits.usd:
            raise LimitReached(f"This has cost {self.usd:.2f} dollars so far. Shall I go on?")
        self.check_day()
        self._looks += looks
        self._small_steps += small
        self.runs += is_run

    def after_run(self, call: Call, failure: str, output: str) -> None:
        """Code has run; `failure` is its last line if it failed."""
        self._last_failures = [*self._last_failures, failure][-REPEATS:]
        if failure and self._last_failures == [failure] * REPEATS:
            raise LimitReached(
                f"I get the same error again and again: {failure} Shall I try another way?"
            )
        outcome = f"{call.language} {_plain(call.code)}", output
        self._outcomes[outcome] += 1
        if self._outcomes[outcome] >= self._repeats:
            raise LimitReached("I am going round in circles. Shall I try another way?")


def last_line(text: str) -> str:
    """The line that says what went wrong, at the end of a traceback."""
    lines = text.strip().splitlines()
    return _sentence(lines[-1]) if lines else ""


_SPOKEN_CHARS: Final = 160
"""Nobody can follow more of a spoken error message than this."""


def _sentence(text: str) -> str:
    text = text.strip()[:_SPOKEN_CHARS]
    return text if text.endswith((".", "!", "?")) else text + "."


def _plain(code: str) -> str:
    return re.sub(r"\s+", " ", code).strip()


def _duration(seconds: float) -> str:
    if seconds < 90:  # noqa: PLR2004 (below it "one minute" would be wrong)
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes"
