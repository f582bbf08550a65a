"""Where the program lies that works on files in the sandbox, and how tools ask it."""

import posixpath
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from sayso.server.agent.tools.tool import ToolContext, ToolRefused
from sayso.server.policy.actions import Actions, Touched
from sayso.server.runtimes.programs.confined_program import Program, ProgramError
from sayso.server.runtimes.programs.programs import LOOK_S

PROGRAM: Final = Program(Path(__file__).with_name("inside").joinpath("main.py").resolve())

Answer = Mapping[str, Any]
"""What it said. It read files that strangers may have made, so nothing of it is taken for more than
text."""

NOT_HERE: Final = "No code runs here now, so files can't be worked on either."


async def looked(
    context: ToolContext, request: Mapping[str, Any], seconds: float = LOOK_S
) -> Answer:
    """What it says about a request that writes nothing. Raises ToolRefused."""
    if context.programs is None:
        raise ToolRefused(NOT_HERE)
    try:
        answer = await context.programs.look(PROGRAM, request, seconds)
    except ProgramError as problem:
        raise ToolRefused(str(problem)) from None
    if refused := answer.get("refused"):
        raise ToolRefused(str(refused))
    return answer


async def ahead(context: ToolContext, request: Mapping[str, Any], at_once: float) -> Answer:
    """The same, if it is there after so many seconds; nothing else. It goes on, and what it has
    found out by then makes a later look short."""
    if context.programs is None:
        return {}
    return await context.programs.look_ahead(PROGRAM, request, at_once)


def reading(paths: Iterable[str], where: str) -> Actions:
    """That these places are read, as they are named from the conversation's folder."""
    named = (path if path.startswith("~") else posixpath.join(where, path) for path in paths)
    return Actions(paths=tuple(Touched(posixpath.normpath(path), "read") for path in named))


def texts(value: object, most: int = 1_000) -> list[str]:
    """A list of texts that it said; empty if that is none."""
    if not isinstance(value, list):
        return []
    return [each for each in value[:most] if isinstance(each, str)]


def hashes(value: object) -> dict[str, str]:
    """Names with hashes that it said."""
    if not isinstance(value, dict):
        return {}
    return {name: each for name, each in value.items() if isinstance(each, str)}
