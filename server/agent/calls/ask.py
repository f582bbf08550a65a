"""`sayso.ask`: code asks the person, and gets the answer as a value."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Final

from sayso.protocol.visible import revealed
from sayso.server.agent.calls import arguments as read
from sayso.server.agent.calls.questions import CodeQuestions, UnansweredError
from sayso.server.agent.event_stream import Emit
from sayso.server.agent.events import CodeAsked
from sayso.server.agent.limits import RequestUsage
from sayso.server.agent.record.journal import Journal
from sayso.server.runtimes.calls.function import CallingRun, CallRefusedError
from sayso.server.store.decisions import CodeQuestioned
from sayso.server.store.errors import StoreError

QUESTIONS_MOST: Final = 10
"""Of one run: a form with a few fields. More is code that asks in a loop."""

QUESTION_CHARS: Final = 300
"""Two or three sentences, which are said aloud; what is longer, code prints before it asks."""

CHOICES_MOST: Final = 10
CHOICE_CHARS: Final = 80

IN_BACKGROUND: Final = "It runs in the background, where nobody waits to be asked."

_WITHOUT_WORDS: Final = "it waits for a line of text"


class Ask:
    """Puts the questions of one run to the person."""

    name = "ask"

    def __init__(
        self,
        questions: CodeQuestions,
        journal: Journal,
        reckoning: RequestUsage,
        attention: asyncio.Lock,
        emit: Emit,
        left: asyncio.Event,
    ) -> None:
        """`attention` is held while the person is asked anything else. `left`: the run goes on in
        the background."""
        self._questions = questions
        self._journal = journal
        self._reckoning = reckoning
        self._attention = attention
        self._emit = emit
        self._left = left
        self._asked = 0

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        read.only(arguments, ("question", "choices"))
        if self._left.is_set():
            raise CallRefusedError(IN_BACKGROUND)
        question = _line(read.text(arguments, "question"), QUESTION_CHARS) or _WITHOUT_WORDS
        choices = tuple(_line(each, CHOICE_CHARS) for each in read.texts(arguments, "choices"))
        if len(choices) > CHOICES_MOST or not all(choices) or len(set(choices)) < len(choices):
            raise CallRefusedError(f"choices must be {CHOICES_MOST} different texts at most.")
        self._asked += 1
        if self._asked > QUESTIONS_MOST:
            raise CallRefusedError(f"One run may ask {QUESTIONS_MOST} times at most.")
        async with self._attention:
            if self._left.is_set():  # while it waited for its turn
                raise CallRefusedError(IN_BACKGROUND)
            return await self._attended(self._ask(question, choices, run))

    async def _attended(self, asking: Coroutine[None, None, str]) -> str:
        """The answer, as long as somebody waits for the run. It goes to the background with no
        question open: what is asked next would wait for that."""
        left = asyncio.create_task(self._left.wait())
        answer = asyncio.create_task(asking)
        try:
            await asyncio.wait({left, answer}, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
        finally:
            left.cancel()
            answer.cancel()
            await asyncio.wait({answer})
        await self._emit(CodeAsked())
        raise CallRefusedError(IN_BACKGROUND)

    async def _ask(self, question: str, choices: tuple[str, ...], run: CallingRun) -> str:
        answer = by = ""
        try:
            with self._reckoning.paused():
                answer, by = await self._questions.ask(question, choices, self._emit)
        except UnansweredError:
            seconds = self._questions.answer_s
            raise CallRefusedError(f"Nobody answered within {seconds:.0f} seconds.") from None
        finally:
            await self._note(CodeQuestioned(run.id, question, choices, answer, by))
        return answer

    async def _note(self, asked: CodeQuestioned) -> None:
        try:
            await self._journal.note("person" if asked.by else "server", asked)
        except StoreError:
            raise CallRefusedError("The question could not be written down.") from None


def _line(text: str, most: int) -> str:
    """Code's text as one line of at most so many characters, all of which are seen."""
    if len(text) > most:
        raise CallRefusedError(f"A question or choice has {most} characters at most.")
    return revealed(" ".join(text.split()))
