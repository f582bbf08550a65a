"""The tool `plan`: a model says what it means to do, a line for each step, and which it is at.

    x read the parser
    > write the tests
      mend it

The plan stands on screens, is kept with the request, and is what "what's left?" is answered from.
It does nothing and opens nothing.
"""

import re
from collections.abc import AsyncIterator
from typing import Final

from sayso.server.agent.tools.language_tool import LanguageTool, text_schema
from sayso.server.agent.tools.tool import Arguments, ArgumentsError, ToolContext
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.store.plans import PlanChanged

LEAST, MOST = 3, 12
"""Steps: fewer need no plan, and of more nobody keeps the thread."""
STEP_CHARS: Final = 100

_LINE: Final = re.compile(
    r"\s*(?:[-*•]\s+)?(?P<mark>>|x\b|✓|✔|\[[ xX>]?\])?\s*(?:\d{1,2}[.)]\s+)?(?P<text>\S.*?)\s*"
)
_DONE: Final = frozenset({"x", "✓", "✔", "[x]", "[X]"})
_NOW: Final = frozenset({">", "[>]"})

_WRONG: Final = (
    f"A plan has {LEAST} to {MOST} lines of at most {STEP_CHARS} characters, one for each step,"
    " with > before the one that you are at and x before those that are done. For less, just do it."
)


class Plan(LanguageTool):
    """Keeps the plan of the request."""

    name = "plan"
    use = "Say what you mean to do: a line for each step, > before the one that you are at."
    argument = "plan"
    schema = text_schema(argument, maxLength=4_000)
    undo = ""
    kind = "reads"
    shown = True
    outside = False
    ways = frozenset({"call", "fence"})

    def read(self, label: str, text: str) -> Arguments:
        steps, current = _steps(str(super().read(label, text)["plan"]))
        if not LEAST <= len(steps) <= MOST or any(len(step) > STEP_CHARS for step in steps):
            raise ArgumentsError(_WRONG)
        return {"plan": written(steps, current), "steps": steps, "current": current}

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return ()

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        steps, current = tuple(arguments["steps"]), int(arguments["current"])
        if context.note:
            await context.note(PlanChanged(context.run, steps, current))
        told = "done" if current == len(steps) else f"at step {current + 1} of {len(steps)}"
        yield Output("result", f"The person sees the plan, {told}.\n")
        yield Ending("ok", 0.0)


def _steps(text: str) -> tuple[tuple[str, ...], int]:
    """The steps, and which is worked on: the one that is marked, else the first that is not
    done."""
    found = [match for line in text.splitlines() if (match := _LINE.fullmatch(line))]
    steps = tuple(match["text"] for match in found)
    marks = [match["mark"] or "" for match in found]
    marked = next((at for at, mark in enumerate(marks) if mark in _NOW), None)
    undone = next((at for at, mark in enumerate(marks) if mark not in _DONE), len(steps))
    return steps, undone if marked is None else marked


def written(steps: tuple[str, ...], current: int) -> str:
    """The plan as it is kept and shown."""
    marks = ("x" if at < current else ">" if at == current else " " for at in range(len(steps)))
    return "\n".join(f"{mark} {step}" for mark, step in zip(marks, steps, strict=True))
