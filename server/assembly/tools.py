"""Tools of other packages: entry points of the group `sayso.tools`, on once settings name them.

    [project.entry-points."sayso.tools"]
    lamp = "my_home.lamps:lamp"        # an annotated function, or a Tool

Nothing of a package is imported before its owner names it. Of two packages with one name neither is
taken: the one that came later could else put itself in the place of the one that was meant.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from sayso.server.agent.tools.function import Function, check_tool
from sayso.server.agent.tools.tool import Tool

GROUP: Final = "sayso.tools"

OWNER: Final = "tool"
"""What a person is told that a function of another package is."""


class ToolError(Exception):
    """A tool that the settings name cannot be had; the message says why and what to do."""


def load_tools(names: Sequence[str]) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """Return the tools that the settings name, and what is wrong with the other names.

    Imports the packages that bring them, so call it in a thread.
    """
    found: dict[str, Tool] = {}
    complaints: list[str] = []
    for name in dict.fromkeys(names):
        try:
            tool = _load(name)
        except ToolError as error:
            complaints.append(str(error))
            continue
        if tool.name in found:
            complaints.append(f"Two tools are called {tool.name}; turn one of them off.")
        found.setdefault(tool.name, tool)
    return tuple(found.values()), tuple(complaints)


def _load(name: str) -> Tool:
    there = list(entry_points(group=GROUP, name=name))
    if not there:
        known = ", ".join(sorted({entry.name for entry in entry_points(group=GROUP)})) or "none"
        raise ToolError(
            f"agent.tools has {name}, which no package brings (there are: {known}); install the"
            " package, or take the name out."
        )
    if len({entry.value for entry in there}) > 1:
        packages = " and ".join(sorted(entry.value for entry in there))
        raise ToolError(f"{packages} both bring the tool {name}; uninstall one of them.")
    try:
        return _made(there[0])
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise ToolError(f"The tool {name} cannot be loaded ({why}); mend it.") from error


def _made(entry: EntryPoint) -> Tool:
    given: Tool | type[Tool] | Callable[..., Any] = entry.load()
    if isinstance(given, type) and issubclass(given, Tool):
        given = given()
    tool = given if isinstance(given, Tool) else Function(given, OWNER)
    check_tool(tool)
    return tool
