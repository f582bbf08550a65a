"""Tells how far work is, without a language model, while it goes on."""

from collections.abc import Callable

from sayso.server.agent.record.work_status import WorkStatus
from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.reflex import Reflex, TellStatus
from sayso.server.reflexes.status.status_answers import Standing


class StatusActions:
    """Of one conversation."""

    def __init__(self, status: Callable[[], WorkStatus], answers: Callable[[str], Answers]) -> None:
        self._status = status
        self._answers = answers

    @property
    def is_working(self) -> bool:
        """A request is worked on."""
        return self._status().doing != "nothing"

    def answer(self, reflex: Reflex, language: str) -> str | None:
        """Say how far it is; None where this asks for something else, or nothing is worked on.
        What it took is told afterwards, too, of a request for which code ran."""
        now = self._status()
        words = self._answers(language).status
        match reflex:
            case TellStatus("all") if self.is_working:
                return words.doing(_standing(now))
            case TellStatus("left") if self.is_working:
                return words.left(_standing(now))
            case TellStatus("spent") if now.ever and (self.is_working or now.steps):
                return words.spent(_standing(now))
            case _:
                return None

    def stopped(self, language: str) -> str:
        """Say that it was stopped, and how far it is."""
        return self._answers(language).status.stopped(_standing(self._status()))


def _standing(now: WorkStatus) -> Standing:
    return Standing(
        now.doing,
        now.steps,
        now.since_s,
        now.whole_s,
        now.fraction,
        now.tests.passed if now.tests else 0,
        now.tests.failed if now.tests else 0,
        now.files,
        now.tokens,
        now.usd,
    )
