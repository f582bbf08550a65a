"""The command that makes Sayso forget."""

from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.conversations.deletion import NotDeleted
from sayso.server.conversations.registry import StillUsed, called
from sayso.server.slash.command import Command
from sayso.server.store.errors import StoreError

SURE = "yes"


async def _forget(context: CommandContext) -> CommandResult:
    here = context.here.about
    if context.text.strip().lower() != SURE:
        return CommandResult(
            f"`/forget {SURE}` takes {called(here)} off the disk for good: what was said and what "
            "ran, who approved it, what can be undone, its reminders, and its folder if Sayso made "
            "that. A cloud model that you allowed keeps what its company keeps.",
            ok=False,
        )
    there = await context.conversations.all(context.person)
    others = [one for one in there if one.id != here.id]
    onward = others[0] if others else await context.conversations.begin("", context.person)
    await context.move(onward)
    try:
        await context.conversations.forget(here)
    except (StillUsed, NotDeleted, StoreError) as refusal:
        return CommandResult(f"{refusal} This is {called(onward)} now.", ok=False)
    return CommandResult(f"It is forgotten. This is {called(onward)} now.")


FORGETTING = (
    Command("forget", "take this conversation off the disk for good", _forget, "approve"),
)
