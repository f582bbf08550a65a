"""Lets a tool work out what is asked about, within the person's rules about places."""

from typing import Final

from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.tools.tool import Arguments, Tool, ToolContext, ToolRefused

_ASKED_FIRST: Final = (
    "It can't be done as it is written; why is not told, because a rule of the person's asks about"
    " a place that was looked at for it: read that first."
)


async def prepared(
    tool: Tool, arguments: Arguments, context: ToolContext, permissions: Permissions
) -> Arguments:
    """What is asked about and carried out instead of these arguments. Raises ToolRefused.

    Nobody was asked yet: a place that a rule closes is not looked at, and of one that a rule asks
    about, nothing is told.
    """
    known = tool.looks_at(arguments, context.where)
    verdict, reason = "none", ""
    if known:
        judged = permissions.judge(tool.name, "", known=known)
        verdict, reason = judged.verdict, judged.reason
    if verdict == "deny":
        raise ToolRefused(reason)
    try:
        return await tool.prepare(arguments, context)
    except ToolRefused as problem:
        if verdict == "ask":
            raise ToolRefused(_ASKED_FIRST, problem.told) from None
        raise
