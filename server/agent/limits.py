"""Limits what one request may use, and counts what it used."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from sayso.server.agent.spending import DailyLimits, DailySpending
from sayso.server.store.records import Answered, Call


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one request. Each ends in a question to the person, who may let it go on."""

    steps: int = 12
    """Times that code may run. Most requests take one to four; a loop never ends by itself."""
    seconds: float = 600.0
    """Time, without waits for the person's approval. Longer than anyone waits in a talk."""
    tokens: int = 200_000
    """Tokens in and out: a dozen steps with full outputs; a runaway stops before it is dear."""
    usd: float = 1.0
    """US dollars, where the price is known. More than a request of a few cents ever needs."""
    output_chars: int = 8_000
    """Characters of a run's output given to the model: a page or two, some 2,500 tokens."""
    reply_chars: int = 60_000
    """Characters of one reply. Nobody listens to more; a model that repeats itself never ends."""
    history_chars: int = 120_000
    """Characters of conversation given to the model: 30,000 tokens, which most models take."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What work may use: each request, and all of a day's together."""

    request: RequestLimits = field(default_factory=RequestLimits)
    day: DailySpending = field(default_factory=lambda: DailySpending(DailyLimits()))


REPEATS: Final = 3
"""The third time of the same is no accident."""


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
        self._last_code: list[str] = []
        self._last_failures: list[str] = []
        self._outcomes: Counter[tuple[str, str]] = Counter()
        self._deadline = asyncio.timeout(self.limits.seconds)

    @property
    def deadline(self) -> asyncio.Timeout:
        """To be entered around the work; it expires with TimeoutError."""
        return self._deadline

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time that the person takes is not the work's."""
        clock = asyncio.get_running_loop().time
        when = self._deadline.when()
        left = None if when is None else when - clock()
        self._deadline.reschedule(None)
        try:
            yield
        finally:
            if not self._deadline.expired():
                self._deadline.reschedule(None if left is None else clock() + left)

    def time_is_up(self) -> LimitReached:
        """The limit, for the one who sees the deadline expire."""
        return LimitReached(
            f"I have worked on this for {_duration(self.limits.seconds)}. Shall I go on?"
        )

    @property
    def out_of_time(self) -> bool:
        """Whether it is the deadline that stops the work."""
        return self._deadline.expired()

    @property
    def day_is_over(self) -> bool:
        """Whether all that one day may use is used."""
        return bool(self._day.question)

    def check_day(self) -> None:
        """Go on only if the day's limits allow it."""
        if question := self._day.question:
            raise LimitReached(question)

    def during_reply(self, characters: int) -> None:
        """The model's reply is this long by now."""
        if characters > self.limits.reply_chars:
            raise LimitReached("My answer is getting very long. Shall I go on?")

    def after_reply(self, answer: Answered) -> None:
        """The model has replied."""
        self.tokens_in += answer.tokens_in
        self.tokens_out += answer.tokens_out
        if answer.usd is not None:
            self.usd = (self.usd or 0.0) + answer.usd

    def before_run(self, call: Call) -> None:
        """The model wants code run."""
        code = _plain(call.code)
        self._last_code = [*self._last_code, code][-REPEATS:]
        if self._last_code == [code] * REPEATS:
            raise LimitReached("I keep writing the same code. Shall I try another way?")
        if self.runs >= self.limits.steps:
            raise LimitReached(f"I have run code {self.runs} times and am not done. Shall I go on?")
        if self.tokens_in + self.tokens_out >= self.limits.tokens:
            raise LimitReached("This has become a long piece of work. Shall I go on?")
        if self.usd is not None and self.usd >= self.limits.usd:
            raise LimitReached(f"This has cost {self.usd:.2f} dollars so far. Shall I go on?")
        self.check_day()
        self.runs += 1

    def after_run(self, call: Call, failure: str, output: str) -> None:
        """Code has run; `failure` is its last line if it failed."""
        self._last_failures = [*self._last_failures, failure][-REPEATS:]
        if failure and self._last_failures == [failure] * REPEATS:
            raise LimitReached(
                f"I get the same error again and again: {failure} Shall I try another way?"
            )
        outcome = _plain(call.code), output
        self._outcomes[outcome] += 1
        if self._outcomes[outcome] >= REPEATS:
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
