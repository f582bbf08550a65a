"""The tools that look: `read`, `search`, `outline`, `repo_map`, `git`.

What they see is what code may see at that moment, in the conversation's folder and in what was
granted, by a program in the sandbox that can write nothing and has no network. So nobody is asked,
unless a rule of the person's asks about the place.
"""

import asyncio
import posixpath
from collections.abc import AsyncIterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Final

from sayso.server.agent.tools.tool import Arguments, Kind, Tool, ToolContext, ToolRefused
from sayso.server.capabilities.coding.program import ahead, hashes, looked, reading
from sayso.server.capabilities.coding.seen_files import SeenFiles
from sayso.server.policy.actions import Actions, Touched
from sayso.server.runtimes.runtime import Ending, Output

AT_ONCE_S: Final = 0.7
"""So long a first request may wait for the map of its folder, before the model is asked."""
UNASKED_S: Final = 8
"""For drawing a map that nobody asked for: the model's own looks wait for it."""

_GIT: Final = ".git"
_ABOUT_CHARS: Final = 1_000

_TEXT: Final = {"type": "string", "maxLength": 1_000}
_NUMBER: Final = {"type": "integer", "minimum": 1, "maximum": 100_000_000}


def _schema(*required: str, **properties: object) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


class Look(Tool):
    """Asks the program one thing, and shows what it says."""

    kind: ClassVar[Kind] = "looks"
    outside = False
    needs_code = True
    undo = ""

    def __init__(self, seen: SeenFiles) -> None:
        self._seen = seen

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return (f"read {arguments.get('path') or 'the folder of this conversation'}",)

    def actions(self, arguments: Arguments, where: str) -> Actions | None:
        return reading((str(arguments.get("path") or "."),), where)

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        try:
            answer = await looked(context, {**arguments, "do": self.name})
        except ToolRefused as problem:
            yield Output("error", f"{problem}\n")
            yield Ending("error", 0.0)
            return
        self._seen.saw(hashes(answer.get("seen")), context.history)
        yield Output("result", f"{answer.get('text', '')}\n")
        yield Ending("ok", 0.0)


class Read(Look):
    """Reads a part of a file."""

    name = "read"
    use = "Read a file, or lines of it, with line numbers; or list the files of a folder."
    schema = _schema("path", path=_TEXT, **{"from": _NUMBER, "to": _NUMBER})


class Search(Look):
    """Searches files for a pattern."""

    name = "search"
    use = (
        "Search files for a regular expression (Python's), file by file, with line numbers. files:"
        " a pattern of names, like *.py. literal: as it is written."
    )
    schema = _schema("pattern", pattern=_TEXT, path=_TEXT, files=_TEXT, literal={"type": "boolean"})


class Outline(Look):
    """Shows what a file defines."""

    name = "outline"
    use = "Functions, classes and types of a source file, or of each file of a folder, with lines."
    schema = _schema(path=_TEXT)


class RepoMap(Look):
    """Shows the most used files and symbols of a project."""

    name = "repo_map"
    use = (
        "A page about a project: the files and symbols that matter most. about: words of the task."
    )
    schema = _schema(path=_TEXT, about=_TEXT)

    async def told_first(self, request: str, context: ToolContext) -> str:
        """A repository's map, if it is drawn at once; a large one's is told later."""
        where = Path(context.where)
        if context.programs is None or not await asyncio.to_thread((where / _GIT).is_dir):
            return ""
        wanted = {"do": self.name, "about": request[:_ABOUT_CHARS], "seconds": UNASKED_S}
        answer = await ahead(context, wanted, AT_ONCE_S)
        return str(answer.get("text", "")) if answer.get("files") else ""


class GitLook(Look):
    """Shows what git knows."""

    name = "git"
    use = (
        "Look at git: status, log (count), diff (staged; revision may be a range), or show a"
        " revision or REVISION:PATH. It can change nothing and asks nobody; path narrows it."
    )
    schema = _schema(
        "command",
        command={"enum": ["status", "log", "diff", "show"]},
        path=_TEXT,
        revision={"type": "string", "maxLength": 200},
        staged={"type": "boolean"},
        count=_NUMBER,
    )

    def actions(self, arguments: Arguments, where: str) -> Actions | None:
        """What a revision holds is not told from the files that it is about: a rule about one of
        them is about a look at all, too. Where its repository begins is not known: a path in a
        revision is one from any folder on the way."""
        place = reading((str(arguments.get("path") or "."),), where)
        _, colon, inner = str(arguments.get("revision") or "").partition(":")
        if not colon:
            return place
        start = PurePosixPath(place.paths[0].path)
        folders = dict.fromkeys((where, str(start), *map(str, start.parents)))
        named = (posixpath.normpath(posixpath.join(each, inner)) for each in folders)
        touched = (Touched(each, "read") for each in (*named, where))
        return Actions(paths=(*place.paths, *touched))
