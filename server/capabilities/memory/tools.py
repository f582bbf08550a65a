"""The tool `memory`: remembers, recalls and forgets for the person, or for the folder in which code
runs. All of it is told to models, within the bound of its files.

It keeps what the person wants kept: once strangers' words were read, it keeps nothing more.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sayso.server.agent.tools.tool import Arguments, Tool, ToolContext, ToolRefused
from sayso.server.reflexes.memory.memories import (
    LONGEST,
    Memories,
    Memory,
    MemoryFullError,
    TooLongError,
)
from sayso.server.runtimes.runtime import Ending, Output

_TOLD: Final = (
    "What the person had you remember, in their words, with the day; it may be out of date, so look"
    " at files before you rely on what it says of them:"
)


class MemoryTool(Tool):
    """Remembers for one person."""

    name = "memory"
    use = (
        "Remember a fact for good when the person asks for it ('remember'), tell what is remembered"
        " ('recall'), or forget it ('forget' with words of it). where: 'person', or 'folder' for"
        " what is about the folder in which code runs."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "action": {"enum": ["remember", "recall", "forget"]},
            "what": {"type": "string", "maxLength": LONGEST},
            "where": {"enum": ["person", "folder"]},
        },
        "required": ["action"],
        "additionalProperties": False,
    }
    undo = "saying so takes it back"
    kind = "keeps"
    outside = False
    ways = frozenset({"call", "fence"})

    def __init__(self, memories: Memories, person: str, folder: Callable[[], str]) -> None:
        """`folder`: in which code runs now."""
        self._memories = memories
        self._person = person
        self._folder = folder

    @property
    def told(self) -> str:  # type: ignore[override]
        """What is remembered, for the model."""
        memories = self._memories
        own = memories.all(memories.of_person(self._person))
        here = memories.all(self._file("folder"))
        lines = [one.line for one in own]
        if here:
            lines += ["of this folder:", *(one.line for one in here)]
        return "\n".join((_TOLD, *lines)) if lines else ""

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return ()

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        yield Output("result", await asyncio.to_thread(self._done, arguments))
        yield Ending("ok", 0.0)

    def _file(self, where: str) -> Path:
        if where == "folder":
            return self._memories.of_folder(self._folder(), self._person)
        return self._memories.of_person(self._person)

    def _done(self, arguments: Arguments) -> str:
        what = str(arguments.get("what", ""))
        file = self._file(str(arguments.get("where", "person")))
        try:
            match arguments["action"]:
                case "remember":
                    new = self._memories.keep(file, what, "")
                    return f"Remembered: {what}" if new else "That is remembered already."
                case "recall":
                    return _listed(self._memories.about(file, what)) or "Nothing is remembered."
                case _:
                    return self._forgotten(file, what)
        except MemoryFullError:
            raise ToolRefused("As much is remembered as may be; something must go first.") from None
        except TooLongError:
            raise ToolRefused(f"Say what to remember, in {LONGEST} characters at most.") from None
        except OSError as problem:
            raise ToolRefused(f"It could not be written down ({problem.strerror}).") from None

    def _forgotten(self, file: Path, what: str) -> str:
        found = self._memories.about(file, what) if what.strip() else ()
        if len(found) != 1:
            listed = _listed(found or self._memories.all(file))
            raise ToolRefused(f"Say in its words which one to forget:\n{listed}")
        self._memories.forget(file, found)
        return f"Forgotten: {found[0].text}"


def _listed(found: Sequence[Memory]) -> str:
    return "\n".join(one.line for one in found)
