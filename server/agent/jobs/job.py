"""One job and the states that it can be in. Pure.

running ── end ──▶ done | failed | cancelled | unknown
"""

from dataclasses import dataclass, replace
from typing import Final, Literal, Self

from sayso.protocol.visible import revealed

Where = Literal["foreground", "background"]
"""`background`: its request goes on, or is over, without it."""

JobState = Literal["running", "done", "failed", "cancelled", "unknown"]
"""`unknown`: the server ended while it ran."""

TITLE_CHARS: Final = 80
"""A line of a list."""
TEXT_CHARS: Final = 200
"""A line of a screen that is wide."""
OUTPUT_CHARS: Final = 2_000
"""The end of the output, which is what tells how it went; the whole of a run is kept elsewhere."""


class JobIsOverError(Exception):
    """Something was told of a job that had ended."""


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work that lasts, as it stands."""

    id: str
    kind: str
    """`run`: a piece of code. `processes`: what a run that is over has left running. `helper`: a
    helper that works for a run."""
    title: str
    """What it is for, in a line."""
    run: str = ""
    """The run that it is, or in which it began."""
    turn: int = 0
    """The request that it belongs to, counted from 1 in its conversation."""
    state: JobState = "running"
    text: str = ""
    """The last line that it told."""
    fraction: float | None = None
    """How much is done, from 0 to 1; none: it did not say."""
    output: str = ""
    """The end of what it has put out."""
    where: Where = "foreground"
    by: str = ""
    """The device on which it was asked for."""
    began: float = 0.0
    """Unix seconds."""
    over: float = 0.0
    """When it ended, in Unix seconds; 0 while it goes on."""

    def progressed(self, text: str, fraction: float | None) -> Self:
        """The job, further on. Without a fraction the one that it told before still holds."""
        self._check_running()
        told = self.fraction if fraction is None else within(fraction)
        return replace(self, text=one_line(text, TEXT_CHARS), fraction=told)

    def wrote(self, output: str) -> Self:
        """The job, with more output."""
        self._check_running()
        return replace(self, output=(self.output + output)[-OUTPUT_CHARS:])

    def reported(self, output: str) -> Self:
        """The job, with the whole of its output in place of what was told of it before."""
        self._check_running()
        return replace(self, output=output[-OUTPUT_CHARS:])

    def detached(self, output: str) -> Self:
        """The job, in the background from now on."""
        return replace(self.reported(output), where="background")

    def ended(self, state: JobState, text: str = "", at: float = 0.0) -> Self:
        """The job, over."""
        self._check_running()
        return replace(self, state=state, text=one_line(text, TEXT_CHARS) or self.text, over=at)

    def _check_running(self) -> None:
        if self.state != "running":
            raise JobIsOverError(self.id)


def within(fraction: float) -> float | None:
    """A fraction as code gave it, as one from 0 to 1; none if it is no number."""
    return min(1.0, max(0.0, fraction)) if fraction == fraction else None  # noqa: PLR0124 (NaN)


def one_line(text: str, most: int) -> str:
    """Text of a person's or of code's, as one line of at most so many characters that are seen."""
    shown = revealed(" ".join(text[: 4 * most].split()))
    return shown if len(shown) <= most else shown[: most - 1] + "…"
