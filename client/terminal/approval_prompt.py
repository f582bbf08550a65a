"""Asks the person, line by line, whether code may run.

What was typed before the question had stood there for a moment is dropped: it was meant for
something else.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

from sayso.client.errors import ClientError
from sayso.client.session.one_shot import Decide
from sayso.client.terminal.input.editor import edit
from sayso.client.terminal.input.lines import Lines
from sayso.client.terminal.plain import PlainScreen, indented
from sayso.client.terminal.question_keys import answers_to
from sayso.protocol.messages import ApprovalRequest, Approve

CARELESS_SECONDS = 0.6
"""What is typed so soon after a question appeared was meant for something else."""
TOO_SOON = "That came before the question could be read. Please answer once more."


class Attention:
    """Tells whether what is typed now may answer the question that was shown last."""

    def __init__(self, typed: Lines, say: Callable[[str], None]) -> None:
        self._typed = typed
        self._say = say
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_due(self) -> bool:
        """A line that is read now was begun after the question could be read."""
        return self._timer is None

    def shown(self) -> None:
        """A question stands on the screen: all that was typed until now is dropped, and all that
        is typed for a moment more."""
        self.close()
        self._drop()
        self._timer = asyncio.get_running_loop().call_later(CARELESS_SECONDS, self._look)

    def close(self) -> None:
        """There is nothing to wait for any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def _look(self) -> None:
        """By this, and not by the clock, an answer is known to be in time: a line may have waited
        in the terminal for as long as this program was held up."""
        self._timer = None
        if not self._drop():
            self.shown()

    def _drop(self) -> bool:
        waited = self._typed.waits
        ours = self._typed.drop()
        if waited and ours:
            self._say(TOO_SOON)
        return ours


def ask_at_terminal(screen: PlainScreen) -> Decide:
    """Reads the answer from standard input. The screen has shown the question."""

    async def decide(request: ApprovalRequest) -> Approve:
        typed = Lines()
        attention = Attention(typed, screen.say)
        attention.shown()
        try:
            async with aclosing(typed.read()) as answers:
                async for line in answers:
                    if not attention.is_due:
                        screen.say(TOO_SOON)
                        continue
                    decision = await understand(line, request, screen)
                    if decision is not None:
                        return decision
                    attention.shown()
            return Approve(request.id, request.nonce, "no")
        finally:
            attention.close()

    return decide


async def read_answer(screen: PlainScreen) -> str:
    """What is typed next, for code that asks; empty once nobody types any more."""
    typed = Lines()
    attention = Attention(typed, screen.say)
    attention.shown()
    try:
        async with aclosing(typed.read()) as lines:
            async for line in lines:
                if not attention.is_due:
                    screen.say(TOO_SOON)
                elif line.strip():
                    return line
        return ""
    finally:
        attention.close()


async def understand(line: str, request: ApprovalRequest, screen: PlainScreen) -> Approve | None:
    """Turns what the person wrote into an answer; none: ask again."""
    word = line.strip().lower()
    if word in {"y", "yes"}:
        return Approve(request.id, request.nonce, "yes")
    if word in {"n", "no"}:
        return Approve(request.id, request.nonce, "no")
    letters = list(answers_to(request))
    if "a" in letters and word in {"a", "always", "for good"}:
        return Approve(request.id, request.nonce, "yes", lasting=True)
    if "e" not in letters or word not in {"e", "edit"}:
        screen.say(f"Please answer {', '.join(letters[:-1])} or {letters[-1]}.")
        return None
    try:
        code = await edit(request.code, request.language)
    except ClientError as error:
        screen.say(f"{error} y, n or e?")
        return None
    if code.strip() == request.code.strip():
        screen.say("Nothing was changed. Run it as it is? y, n or e?")
        return None
    screen.say(f"Running instead:\n{indented(code)}")
    return Approve(request.id, request.nonce, "edit", code)
