"""The tool `take_over`: what helpers changed comes into the person's folder, in one question.

What is asked about is the whole difference to what is there now, merged of three: what the helper
began with, what it made of it, and what is there. Where two changes meet, nothing is taken over.
"""

import difflib
import hashlib
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Final

from sayso.protocol.visible import revealed
from sayso.server.agent.tools.tool import (
    Arguments,
    ArgumentsError,
    Tool,
    ToolContext,
    ToolRefused,
)
from sayso.server.capabilities.helpers.helper import output_of
from sayso.server.capabilities.helpers.inside import (
    HandedError,
    coded,
    content,
    handed,
    merging,
    writing,
)
from sayso.server.capabilities.helpers.result import HelperResult
from sayso.server.capabilities.helpers.tool import Results
from sayso.server.policy.judge import Judgement
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.runtime import Ending, Output

_SCHEMA: Final = {
    "type": "object",
    "properties": {"helpers": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
    "required": ["helpers"],
    "additionalProperties": False,
}

_PREPARED_MOST: Final = 4
"""Differences that were asked about, held until they are answered."""


class TakeOver(Tool):
    """Takes over what helpers changed, for one conversation."""

    name = "take_over"
    use = (
        "Bring what these helpers (h1, h2) changed in their copies into the folder: all of it or, "
        "where it conflicts, nothing. The person sees the whole difference first."
    )
    schema = _SCHEMA
    undo = ""
    outside = False
    needs_code = True
    ways = frozenset({"call", "fence"})

    def __init__(self, code_runner: Callable[[], CodeRunner], results: Results) -> None:
        self._code_runner = code_runner
        self._results = results
        self._prepared: dict[str, Mapping[str, Any]] = {}
        """What is written, by the difference that is shown of it."""

    def read(self, label: str, text: str) -> Arguments:
        if text in self._prepared:
            return {"difference": text}
        if not text.lstrip().startswith("{"):
            raise ArgumentsError(
                "A difference can only be taken over as it was shown; name the helpers again."
            )
        return super().read(label, text)

    def write(self, arguments: Arguments) -> str:
        if "difference" in arguments:
            return str(arguments["difference"])
        return super().write(arguments)

    def judge(self, arguments: Arguments) -> Judgement:
        return Judgement("ask")

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return (f"write these files in {self._code_runner().where}",)

    async def prepare(self, arguments: Arguments, context: ToolContext) -> Arguments:
        if "difference" in arguments:
            return arguments
        results = [self._found(name) for name in arguments["helpers"]]
        runner, word = self._code_runner(), secrets.token_hex(8)
        where = Path(runner.where)
        said = await output_of(runner, "python", merging(where, _steps(results), word))
        try:
            found, conflicts = handed(said, word)
            texts = {path: (content(parts[0]), content(parts[1])) for path, parts in found.items()}
        except (HandedError, TypeError, ValueError, AttributeError, IndexError):
            raise ToolRefused(f"It could not be merged: {said.strip()[-300:]}") from None
        if conflicts:
            raise ToolRefused(
                "Nothing was taken over, because changes meet in"
                f" {', '.join(sorted(map(str, conflicts)))}: mend that by hand, or take over one"
                " helper alone."
            )
        if not texts:
            raise ToolRefused("There is nothing to take over that is not there already.")
        run_by_name = {path for path in texts if found[path][2]}
        shown = _difference(results, texts, run_by_name)
        while len(self._prepared) >= _PREPARED_MOST:
            del self._prepared[next(iter(self._prepared))]
        self._prepared[shown] = {
            path: [coded(before), coded(now), bool(found[path][2])]
            for path, (before, now) in texts.items()
        }
        return {"difference": shown}

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        runner, word = self._code_runner(), secrets.token_hex(8)
        files = self._prepared.pop(str(arguments.get("difference", "")), None)
        if files is None:
            yield Ending("error", 0.0, "It is not known any more what was shown; ask again.")
            return
        said = await output_of(runner, "python", writing(Path(runner.where), files, word))
        if f"{word}done" in said:
            yield Output("stdout", f"Taken over: {', '.join(sorted(files))}.\n")
            yield Ending("ok", 0.0)
        else:
            yield Ending("error", 0.0, said.strip()[-400:] or "Nothing was taken over.")

    def _found(self, name: str) -> HelperResult:
        result = self._results.get(name)
        if result is None:
            known = ", ".join(each.name for each in self._results.all) or "none"
            raise ToolRefused(f"There is no helper {name[:40]} any more; there are: {known}.")
        return result


def _steps(results: Sequence[HelperResult]) -> dict[str, list[list[object]]]:
    """By path, what each helper made of what, in their order."""
    steps: dict[str, list[list[object]]] = {}
    for result in results:
        for path, change in result.changes.items():
            step: list[object] = [coded(change.base), coded(change.new), change.executable]
            steps.setdefault(path, []).append(step)
    return steps


def _difference(
    results: Sequence[HelperResult],
    texts: Mapping[str, tuple[bytes | None, bytes | None]],
    executable: Set[str],
) -> str:
    """All that is written, as a person reads it; what is no text by its size and its hash."""
    names = ", ".join(f"{each.name} ({each.state})" for each in results)
    lines = [f"What {names} changed:"]
    for path, (before, now) in sorted(texts.items()):
        lines.append("")
        old, new = _lines(before), _lines(now)
        if old is None or new is None:
            size = "gone" if now is None else f"{len(now)} bytes that are no text, {_hash(now)}"
            lines.append(f"{revealed(path)}: {size}")
            continue
        there = revealed(path)
        if path in executable:
            lines.append(f"{there} becomes a program that can be started:")
        first = "/dev/null" if before is None else there
        last = "/dev/null" if now is None else there
        lines += [line.rstrip("\n") for line in difflib.unified_diff(old, new, first, last)]
    return "\n".join(lines)


def _hash(content: bytes) -> str:
    return f"SHA-256 {hashlib.sha256(content).hexdigest()[:16]}"


def _lines(text: bytes | None) -> list[str] | None:
    if text is None:
        return []
    try:
        return text.decode().splitlines(keepends=True) if b"\0" not in text else None
    except UnicodeDecodeError:
        return None
