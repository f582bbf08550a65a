"""`/os`: lets the model take over the person's screen."""

from typing import Final

from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.slash.command import Command

_NONE: Final = "There are no screens for this conversation."


async def _os_mode(context: CommandContext) -> CommandResult:
    set_mode, wanted = context.here.os_mode, context.text.strip()
    if set_mode is None:
        return CommandResult(_NONE, ok=False)
    told = set_mode(wanted.lower() != "off")
    asks = "" if wanted.lower() in ("", "on", "off") else wanted
    return CommandResult(told, asks=asks)


OPERATING = (
    Command(
        "os",
        "take over the screen where `sayso desktop allow` was said; what to do there may follow,"
        " or off",
        _os_mode,
        "approve",
    ),
)
