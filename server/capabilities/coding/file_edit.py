"""The base of tools that edit files: what they make of them is worked out before anybody is asked.

The person is asked for the difference that an edit really makes, and their yes is bound to that:
where the files are others by then, nothing is written.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Final

from sayso.server.agent.instructions.instruction_files import is_instruction_file
from sayso.server.agent.permissions.task_grant import changes_plain_files
from sayso.server.agent.tools.tool import Arguments, Tool, ToolContext
from sayso.server.capabilities.coding.inside.patch_parser import PatchError, parse
from sayso.server.capabilities.coding.program import NOT_HERE, PROGRAM, hashes, reading, texts
from sayso.server.capabilities.coding.seen_files import SeenFiles
from sayso.server.policy.actions import Actions, Touched
from sayso.server.runtimes.programs.confined_program import ProgramError
from sayso.server.runtimes.runtime import Ending, Output

FILES_SHOWN: Final = 12
PLANS_HELD: Final = 8
"""Differences that a person may be looking at."""

_OLD: Final = re.compile(r"^--- (?:a/)?(.*)\n\+\+\+ (?:b/)?(.*)$", re.MULTILINE)
_NONE: Final = "/dev/null"


class FileEdit(Tool):
    """Edits files in the sandbox. `prepare` ends with `planned`."""

    undo = ""
    outside = False
    needs_code = True

    def __init__(self, seen: SeenFiles) -> None:
        self._seen = seen
        self._plans: dict[str, str] = {}
        """The patch that a difference was worked out from."""

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        words = [f"{verb} {path}" for verb, path in _touched(arguments["patch"])]
        more = len(words) - FILES_SHOWN
        return (*words[:FILES_SHOWN], *([f"and {more} files more"] if more > 0 else ()))

    def looks_at(self, arguments: Arguments, where: str) -> Actions | None:
        try:
            edits = parse(arguments["patch"])
        except PatchError:
            return None  # it is looked at nowhere
        return reading((edit.path for edit in edits), where)

    def actions(self, arguments: Arguments, where: str) -> Actions | None:
        touched = _touched(arguments["patch"])
        if not touched:
            return None
        return Actions(
            paths=tuple(
                Touched(
                    path if path.startswith(("/", "~")) else f"{where}/{path}",
                    "delete" if verb == "delete" else "write",
                )
                for verb, path in touched
            )
        )

    def stays_in(self, arguments: Arguments, folder: str) -> bool:
        touched = _touched(arguments["patch"])
        return changes_plain_files(self.actions(arguments, folder), folder) and not any(
            is_instruction_file(path) for _, path in touched
        )

    def planned(self, difference: str, meant: str) -> Arguments:
        """What is asked about: the difference that something makes."""
        self._plans.pop(difference, None)
        self._plans[difference] = meant
        while len(self._plans) > PLANS_HELD:
            del self._plans[next(iter(self._plans))]
        return {"patch": difference}

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        clock = asyncio.get_running_loop().time
        began = clock()
        if context.programs is None:
            yield Ending("error", 0.0, NOT_HERE)
            return
        difference = arguments["patch"]
        request = {"do": "apply", "patch": difference}
        if meant := self._plans.pop(difference, ""):
            request = {"do": "apply", "patch": meant, "diff": difference}
        try:
            async with aclosing(context.programs.do(PROGRAM, request)) as said:
                async for answer in said:
                    if refused := answer.get("refused"):
                        yield Output("error", f"{refused}\n")
                        yield Ending("error", clock() - began)
                        return
        except ProgramError as problem:
            yield Output("error", f"{problem} What was written is unknown; look.\n")
            yield Ending("error", clock() - began)
            return
        written = str(answer.get("diff", ""))
        self._seen.saw(hashes(answer.get("seen")), context.history)
        for _, path in _touched(written):
            self._seen.fitted(path)
        notes = texts(answer.get("notes"))
        yield Output("result", "\n".join((_summary(written), *notes)) + "\n")
        yield Ending("ok", clock() - began)


def _touched(difference: str) -> list[tuple[str, str]]:
    """What is done to which files, by the heads of a difference."""
    found = []
    for old, new in _OLD.findall(difference):
        if old == _NONE:
            found.append(("make", new))
        elif new == _NONE:
            found.append(("delete", old))
        elif old != new:
            found += [("delete", old), ("make", new)]
        else:
            found.append(("change", old))
    return found


def _summary(difference: str) -> str:
    """In a line for each file, what was done."""
    parts = re.split(r"^(?=--- )", difference, flags=re.MULTILINE)
    lines = []
    for part in filter(None, parts):
        done = " and ".join(f"{verb} {path}" for verb, path in _touched(part))
        added = len(re.findall(r"^\+(?!\+\+ )", part, re.MULTILINE))
        removed = len(re.findall(r"^-(?!-- )", part, re.MULTILINE))
        if done:
            lines.append(f"{done} (+{added} -{removed})")
    return "Done: " + "; ".join(lines) + "." if lines else "Done."
