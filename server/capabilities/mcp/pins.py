"""Which tools of a server its person has seen, kept as a file; what differs stays closed."""

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from sayso.protocol.home import Home
from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.capabilities.mcp.definitions import (
    DefinitionError,
    McpDefinition,
    kept_definition,
)

FOLDER: Final = "mcp"


@dataclass(frozen=True, slots=True)
class Difference:
    """How what a server offers differs from what was seen."""

    new: Sequence[McpDefinition] = ()
    changed: Sequence[McpDefinition] = ()
    gone: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)


class Pins:
    """Of all servers."""

    def __init__(self, home: Home) -> None:
        self._folder = home.state / FOLDER

    def seen(self, server: str) -> Mapping[str, McpDefinition]:
        """The tools of a server that its person has seen, by name."""
        with contextlib.suppress(OSError, UntrustedJsonError, DefinitionError, TypeError, KeyError):
            kept = read_json(self._file(server).read_bytes())["tools"]
            return {one.name: one for one in map(kept_definition, kept)}
        return {}

    def keep(self, server: str, tools: Sequence[McpDefinition]) -> None:
        """The person has seen these, and no others. Raises OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=self._folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"tools": [asdict(tool) for tool in tools]}, file, ensure_ascii=False)
        Path(draft).replace(self._file(server))

    def forget(self, server: str) -> None:
        """The server is gone, and what it had given us with it. Raises OSError."""
        for file in (self._file(server), self.tokens(server)):
            file.unlink(missing_ok=True)

    def stamp(self, server: str) -> int:
        """Something that changes when another process keeps others."""
        try:
            return self._file(server).stat().st_mtime_ns
        except OSError:
            return 0

    def tokens(self, server: str) -> Path:
        """Where the tokens of a login are kept."""
        return self._folder / f"{server}.tokens"

    def _file(self, server: str) -> Path:
        return self._folder / f"{server}.json"


def difference(seen: Mapping[str, McpDefinition], offered: Sequence[McpDefinition]) -> Difference:
    """How what is offered differs from what was seen."""
    there = {tool.name for tool in offered}
    return Difference(
        tuple(tool for tool in offered if tool.name not in seen),
        tuple(tool for tool in offered if tool.name in seen and tool.pin != seen[tool.name].pin),
        tuple(name for name in seen if name not in there),
    )
