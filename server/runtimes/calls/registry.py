"""Which functions the code of a conversation may call now, and for which run."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from sayso.server.runtimes.calls.function import CallFunction, CallingRun


@dataclass(frozen=True, slots=True)
class CallableFunctions:
    """The functions of one run."""

    run: CallingRun
    functions: Mapping[str, CallFunction]
    """By name."""


NOTHING: Final = CallableFunctions(CallingRun(""), {})


class CallRegistry:
    """Of one conversation: what each run that begins may call."""

    def __init__(self) -> None:
        self.now = NOTHING
        """What a run that begins now may call."""

    @contextmanager
    def offering(self, run: str, functions: Sequence[CallFunction]) -> Iterator[None]:
        """Let the run that begins within call these."""
        by_name = {function.name: function for function in functions}
        offered = self.now = CallableFunctions(CallingRun(run), by_name)
        try:
            yield
        finally:
            if self.now is offered:  # else another run has begun beside it
                self.now = NOTHING
