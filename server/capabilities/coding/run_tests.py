"""The tool `tests`: finds a project's own tests, runs them where code runs, and says how they came
out, what is new since the last time, what was skipped, and which tests were changed.
"""

import asyncio
import posixpath
from collections.abc import AsyncIterator, Collection
from contextlib import aclosing, suppress
from typing import Any, Final

from sayso.server.agent.record.test_evidence import edited_tests
from sayso.server.agent.record.test_results import MOST, read_test_result
from sayso.server.agent.tools.tool import Arguments, Tool, ToolContext
from sayso.server.capabilities.coding.program import NOT_HERE, PROGRAM, Answer, looked, texts
from sayso.server.runtimes.programs.confined_program import ProgramError
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.store.errors import StoreError
from sayso.server.store.testing import Tested

TESTS_S: Final = 540.0
"""A request may take ten minutes."""
NAMES_TOLD: Final = 8
_KEPT_CHARS: Final = 20_000
"""Of what tests print, where the counts are read out of that."""

SCHEMA: Final = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "maxLength": 1_000},
        "command": {"type": "string", "maxLength": 1_000},
        "only": {
            "type": "array",
            "items": {"type": "string", "maxLength": 300},
            "maxItems": 50,
        },
    },
    "additionalProperties": False,
}


class RunTests(Tool):
    """Runs a project's tests."""

    name = "tests"
    use = (
        "Run the project's own tests (pytest, unittest, npm, cargo, go, make; by its .venv, if it"
        " has one). path: the project's folder. only: files or ids. command: if none is found."
    )
    schema = SCHEMA
    undo = ""
    outside = False
    needs_code = True

    def __init__(self) -> None:
        self._failed: dict[str, frozenset[str]] = {}
        """By command, what failed the last time."""
        self._skipped: dict[str, frozenset[str]] = {}
        self._found: set[str] = set()
        """Commands that the project's own files name, and not the model."""

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return ("run the tests of the project, which is its own code",)

    def stays_in(self, arguments: Arguments, folder: str) -> bool:
        place = posixpath.normpath(posixpath.join(folder, str(arguments.get("path") or ".")))
        inside = place == folder or place.startswith(f"{folder}/")
        return inside and arguments.get("command") in self._found

    async def prepare(self, arguments: Arguments, context: ToolContext) -> Arguments:
        """With the command that was found, which the person is shown."""
        if arguments.get("command"):
            return arguments
        found = await looked(context, {**arguments, "do": "find_tests"})
        self._found.add(str(found.get("command", "")))
        kept = {"path": arguments["path"]} if "path" in arguments else {}
        return {**kept, "command": str(found.get("command", ""))}

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        clock = asyncio.get_running_loop().time
        began, printed = clock(), ""
        if context.programs is None:
            yield Ending("error", 0.0, NOT_HERE)
            return
        answer: Answer = {}
        request = {**arguments, "do": "tests"}
        try:
            async with aclosing(context.programs.do(PROGRAM, request, TESTS_S)) as said:
                async for answer in said:
                    text = str(answer.get("out", ""))
                    printed = (printed + text)[-_KEPT_CHARS:]
        except ProgramError as problem:
            yield Output("error", f"{printed[-2_000:]}\n{problem}\n")
            yield Ending("error", clock() - began)
            return
        if refused := answer.get("refused"):
            yield Output("error", f"{refused}\n")
            yield Ending("error", clock() - began)
            return
        tested = self._tested(answer, printed, context)
        for line in self._told(answer, tested):
            yield Output("result", f"{line}\n")
        if tested and context.note:
            with suppress(StoreError):  # the tests ran; the log says that they were to
                await context.note(tested)
        fine = tested is not None and not tested.failed and answer.get("code") in (0, None)
        yield Ending("ok" if fine else "error", clock() - began)

    def _tested(self, answer: Answer, printed: str, context: ToolContext) -> Tested | None:
        exchange = context.history.exchanges[-1]
        command = str(answer.get("command", ""))[:500]
        edited = edited_tests(exchange)
        run = context.run.partition(":")[0]
        if answer.get("counted"):
            failed, skipped = len(texts(answer["failed"])), len(texts(answer["skipped"]))
            return Tested(run, command, _number(answer["passed"]), failed, skipped, edited)
        if found := read_test_result(printed):
            return Tested(run, command, found.passed, found.failed, found.skipped, edited)
        return None

    def _told(self, answer: Answer, tested: Tested | None) -> list[str]:
        command = str(answer.get("command", ""))[:500]
        if tested is None:
            code = answer.get("code")
            told = f"{command} ended with exit status {code}, and printed no counts of tests."
            return [str(answer.get("last", "")), told]
        lines = texts(answer.get("why")) or ([str(answer.get("last", ""))] if tested.failed else [])
        lines += self._news(command, frozenset(texts(answer.get("failed"))))
        skipped = frozenset(texts(answer.get("skipped")))
        new = skipped - self._skipped.get(command, frozenset())
        self._skipped[command] = skipped
        if new:
            lines.append(f"Skipped: {_listed(new)}.")
        if tested.files:
            lines.append(f"Tests that this request changed: {_listed(tested.files)}.")
        if not tested.failed and answer.get("code") not in (0, None):
            lines += [str(answer.get("last", "")), f"It ended with exit status {answer['code']}."]
        counts = f"{tested.passed} passed, {tested.failed} failed, {tested.skipped} skipped"
        lines += [command, f"{counts} in {_number(answer.get('seconds')):.1f}s"]
        return lines

    def _news(self, command: str, failed: frozenset[str]) -> list[str]:
        """What is other than the last time."""
        before = self._failed.get(command)
        self._failed[command] = failed
        if before is None:
            return []
        told = []
        if new := failed - before:
            told.append(f"Failing since the last time: {_listed(new)}.")
        if mended := before - failed:
            told.append(f"No longer failing: {_listed(mended)}.")
        return told


def _number(value: Any) -> int:  # noqa: ANN401 - what the program said
    return max(0, min(MOST, int(value))) if isinstance(value, int | float) else 0


def _listed(names: Collection[str]) -> str:
    told = sorted(names)[:NAMES_TOLD]
    more = len(names) - len(told)
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")
