"""One helper: an agent of its own in a copy, with a share of the budget and nobody to ask."""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

from sayso.server.agent.conversation_agent import ConversationAgent
from sayso.server.agent.events import (
    ApprovalRequest,
    CodeOut,
    CodeStart,
    ReplyDelta,
    WorkDone,
    WorkFailed,
)
from sayso.server.agent.limits import RequestLimits
from sayso.server.agent.stream_closing import closing
from sayso.server.capabilities.helpers.inside import (
    HandedError,
    content,
    copying,
    handed,
    handing,
)
from sayso.server.capabilities.helpers.result import FileChange, HelperResult, State
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.runtime import Output

log = logging.getLogger(__name__)

Tell = Callable[[str, str], Awaitable[None]]
"""Takes how far a helper is, in a line, and what its code has put out since."""

OpenHelper = Callable[[Path, RequestLimits], AbstractAsyncContextManager[ConversationAgent]]
"""Opens an agent that may read a folder and work in one of its own."""

COPY_S: Final = 120.0
"""For the copy: a large project on a slow disk."""

HAND_S: Final = 20.0
"""For handing back what there is, also of a helper that was stopped."""

_UNREADABLE: Final = "What it changed could not be handed back: {why}"
_TOLD_CHARS: Final = 300
"""Of why its work could not be handed back."""

_TASK: Final = """{task}

(You are a helper of another assistant, which reads what you say in the end, not the person. You \
work in a copy of {source}, in {copy}; nothing that you do changes the original. There is no \
network and nobody to ask. Do just this task, {how}, and end with a short account of what you \
found or changed.)"""
_HOW: Final = {True: "change files in your copy only", False: "and change no file"}


class Helper:
    """One of a call."""

    def __init__(self, name: str, task: str, *, write: bool, tell: Tell) -> None:
        self.name = name
        self.task = task
        self.write = write
        self._tell = tell
        self.state: State = "stopped"
        self.tokens = (0, 0)
        """In and out."""
        self.usd: float | None = None
        self.result: HelperResult | None = None
        """What it has handed back."""
        self._said = ""

    async def work(self, source: Path, limits: RequestLimits, opened: OpenHelper) -> None:
        """Do the task; afterwards `result` is there, also where this is cancelled."""
        async with opened(source, limits) as own:
            copy = Path(own.code_runner.where)
            try:
                word = secrets.token_hex(8)
                async with asyncio.timeout(COPY_S):
                    told = await output_of(own.code_runner, "bash", copying(source, copy, word))
                if f"{word} ready" not in told:
                    self.state = "failed"
                    self._said = f"Its copy could not be made: {told.strip()[-300:]}"
                    return
                await self._pursue(own, source, copy)
            except TimeoutError:
                self.state, self._said = "failed", "Its copy took too long."
            finally:
                if self.tokens == (0, 0):  # it came to no end, and what it used is used
                    used = own.agent.status
                    self.tokens, self.usd = (used.tokens, 0), used.usd
                await self._hand_back(own.code_runner, copy)

    async def _pursue(self, own: ConversationAgent, source: Path, copy: Path) -> None:
        text = _TASK.format(task=self.task, source=source, copy=copy, how=_HOW[self.write])
        steps = 0
        async with closing(own.agent.work(text, may_decide=False)) as events:
            async for event in events:
                match event:
                    case ReplyDelta(text=more):
                        self._said += more
                        await self._tell(self._said.strip().rpartition("\n")[2], "")
                    case CodeStart(language=language):
                        steps += 1
                        await self._tell(f"step {steps}, {language}", "")
                    case CodeOut(output=output):
                        await self._tell("", output.text)
                    case ApprovalRequest():  # within its copy nothing needs one; the rest is a no
                        own.agent.approvals.answer(event.id, event.nonce, "no", None, "")
                    case WorkDone():
                        self.tokens = (event.tokens_in, event.tokens_out)
                        self.usd = event.usd
                        asks = self._said.rstrip().endswith("?")
                        self.state = "at its limit" if asks else "done"
                    case WorkFailed(message=why):
                        self.state = "failed"
                        self._said += f"\n{why}"
                    case _:
                        pass

    async def _hand_back(self, runner: CodeRunner, copy: Path) -> None:
        """Put together what there is."""
        changes: dict[str, FileChange] = {}
        diff, untold = "", ""
        if self.write:
            try:
                async with asyncio.timeout(HAND_S):
                    told = await _handed(runner, copy)
                for path, (base, new, executable) in told["files"].items():
                    changes[path] = FileChange(content(base), content(new), bool(executable))
                diff = str(told["diff"])
                if told["left"]:
                    untold = f"Not handed back: {', '.join(map(str, told['left'][:10]))}."
            except (TimeoutError, KeyError, TypeError, ValueError, AttributeError) as problem:
                changes, untold = {}, _UNREADABLE.format(why=problem).rstrip(" :")
        self.result = HelperResult(
            self.name, self.task, self.state, self._said.strip(), changes, diff, untold
        )


async def _handed(runner: CodeRunner, copy: Path) -> Any:  # noqa: ANN401 - as `handed` tells it
    """What was changed in a copy. An interpreter that a busy machine did not start is started once
    more: nothing is lost for that. Raises HandedError."""
    for last in (False, True):
        word = secrets.token_hex(8)
        said = await output_of(runner, "python", handing(copy, word))
        try:
            return handed(said, word)
        except HandedError:
            log.warning("what a helper changed could not be read")
            if last:
                raise HandedError(said.strip()[-_TOLD_CHARS:]) from None
    return None


async def output_of(runner: CodeRunner, language: str, code: str) -> str:
    """All that code prints in an interpreter of its own."""
    said = ""
    async with closing(runner.run_alone(language, code)) as pieces:
        async for piece in pieces:
            said += piece.text if isinstance(piece, Output) else piece.detail
    return said
