"""Asks the person what a tool wants to know while it works, one thing at a time."""

import asyncio
from typing import Final

from sayso.protocol.visible import revealed
from sayso.server.agent.calls.ask import CHOICE_CHARS, QUESTION_CHARS, QUESTIONS_MOST
from sayso.server.agent.calls.questions import UnansweredError
from sayso.server.agent.limits import RequestUsage
from sayso.server.agent.permissions.access_syntax import LANGUAGE
from sayso.server.agent.permissions.approvals import Approvals, Proposal
from sayso.server.agent.permissions.host_reapproval import HostReapproval
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.tools.person import NoAnswerError
from sayso.server.store.decisions import CodeQuestioned
from sayso.server.store.errors import StoreError

_NOBODY: Final = "Nobody can be asked here."


class AskedPerson:
    """Who is asked in the course of one run."""

    def __init__(
        self,
        questions: HostReapproval,
        approvals: Approvals,
        journal: Journal,
        reckoning: RequestUsage,
        left: asyncio.Event,
    ) -> None:
        """`questions`: of the same run. `left`: it goes on in the background, where nobody waits to
        be asked."""
        self._attention = questions.attention
        self._run = questions.run
        self._where = questions.where
        self._emit = questions.emit
        self._approvals = approvals
        self._journal = journal
        self._reckoning = reckoning
        self._left = left
        self._asked = 0

    async def ask(self, question: str, choices: tuple[str, ...] = ()) -> str:
        """Their answer. Raises NoAnswerError."""
        questions = self._approvals.of_code
        self._count(answerable=questions.answerable)
        question = _line(question, QUESTION_CHARS)
        choices = tuple(_line(each, CHOICE_CHARS) for each in choices)
        answer = by = ""
        async with self._attention:
            try:
                with self._reckoning.paused():
                    answer, by = await questions.ask(question, choices, self._emit)
            except UnansweredError:
                raise NoAnswerError("Nobody answered in time.") from None
            finally:
                await self._note(CodeQuestioned(self._run, question, choices, answer, by))
        return answer

    async def confirm(self, what: str, lines: tuple[str, ...], why: str) -> bool:
        """Whether they allow it, by a tap. Raises NoAnswerError."""
        self._count(answerable=self._approvals.of_code.answerable)
        proposal = Proposal(
            run=f"{self._run}:asked{self._asked}",
            language=LANGUAGE,
            code=what,
            where=self._where,
            may_touch=lines,
            kind="access",
            why=why,
            tap=True,
            once=True,
        )
        async with self._attention:
            try:
                with self._reckoning.paused():
                    return (await self._approvals.ask(proposal, self._emit)).decision == "yes"
            except StoreError:
                return False  # what could not be kept counts for nothing

    def _count(self, *, answerable: bool) -> None:
        self._asked += 1
        if not answerable or self._left.is_set():
            raise NoAnswerError(_NOBODY)
        if self._asked > QUESTIONS_MOST:
            raise NoAnswerError(f"One run may ask {QUESTIONS_MOST} times at most.")

    async def _note(self, asked: CodeQuestioned) -> None:
        try:
            await self._journal.note("person" if asked.by else "server", asked)
        except StoreError:
            raise NoAnswerError("The question could not be written down.") from None


def _line(text: str, most: int) -> str:
    """A text as one line of at most so many characters, all of which are seen."""
    line = revealed(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"
