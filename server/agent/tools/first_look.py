"""Tells the model of a folder with the first request there, unasked, as far as that takes no time.

It is what tools that only look would show it, so rules about places hold, and it is told as what
others wrote: between marks, and marking the work.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.server.agent.permissions.outside_content import read_besides
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.prompt.server_notes import between_marks
from sayso.server.agent.tools.tool import Tool, ToolContext, ToolRefused

CHARS: Final = 3_600
"""Some 1,000 tokens."""

_BEGINS: Final = "(A look at {where} as it is now, by {tool}:)"


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What was seen."""

    text: str = ""
    outside: tuple[str, ...] = ()
    """From where strangers' words may have come with it."""


async def first_look(
    tools: Iterable[Tool], request: str, context: ToolContext, permissions: Permissions
) -> FirstLook:
    """What these tools show; nothing where the model was told already, or it is not there yet."""
    told = []
    for tool in tools:
        begins = _BEGINS.format(where=context.where, tool=tool.name)
        if any(begins in exchange.told_with for exchange in context.history.told):
            continue
        known = tool.actions({}, context.where)
        if permissions.judge(tool.name, "", known=known).verdict in ("ask", "deny"):
            continue
        try:
            shown = await tool.told_first(request, context)
        except ToolRefused:
            continue
        if shown:
            told.append(f"{begins}\n{between_marks(tool.name, shown[:CHARS])}")
    if not told:
        return FirstLook()
    reach = permissions.reach
    left = await permissions.take_up((Path(context.where), *reach.writable(Path(context.where))))
    outside = (*read_besides(reach), *left)
    permissions.outside_content.read(outside)
    return FirstLook("\n\n".join(told), outside)
