"""Commands about conversations: list them, begin, go on, name, begin anew."""

from datetime import datetime

from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.conversations.registry import called
from sayso.server.slash.command import Command
from sayso.server.store.records import Conversation

LISTED = 20
"""Conversations in a list: a screen."""


async def _list(context: CommandContext) -> CommandResult:
    there = await context.conversations.all(context.person)
    lines = [
        _line(number, one, here=one.id == context.here.about.id)
        for number, one in enumerate(there[:LISTED], 1)
    ]
    if len(there) > LISTED:
        lines.append(f"… and {len(there) - LISTED} older ones; /resume finds them by name.")
    return CommandResult("\n".join(lines) or "There is none yet.")


async def _new(context: CommandContext) -> CommandResult:
    about = await context.conversations.begin(context.text, context.person)
    await context.move(about)
    return CommandResult(f"This is a new conversation, {called(about)}.")


async def _resume(context: CommandContext) -> CommandResult:
    if not context.text.strip():
        return await _list(context)
    about = await context.conversations.find(context.text, context.person)
    if about.id == context.here.about.id:
        return CommandResult(f"This is {called(about)} already.")
    await context.move(about)
    return CommandResult(f"This is {called(about)}; it goes on where it was.")


async def _save(context: CommandContext) -> CommandResult:
    name = context.text.strip()
    if not name:
        return CommandResult("Everything is kept anyway; `/save NAME` gives this a name.", ok=False)
    await context.conversations.rename(context.here.about.id, name)
    return CommandResult(
        f"This conversation is called {name} now; `/resume {name}` comes back to it."
    )


async def _reset(context: CommandContext) -> CommandResult:
    await context.conversations.reset(context.here.about.id)
    return CommandResult(
        "We begin anew: what was said is no longer told to the model, and variables are gone. "
        "Files in the workspace stay."
    )


def _line(number: int, one: Conversation, *, here: bool) -> str:
    when = datetime.fromtimestamp(one.last).astimezone().strftime("%d %b %H:%M")
    mark = "▸" if here else " "
    place = f"  ({one.workspace})" if one.workspace else ""
    return f"{number:>3} {mark} {when}  {called(one)}{place}"


CONVERSING = (
    Command("conversations", "list the conversations", _list, "talk"),
    Command("new", "begin another conversation; a name may follow", _new, "talk"),
    Command("resume", "go on with another conversation: its name or number", _resume, "talk"),
    Command("save", "give this conversation a name", _save, "talk"),
    Command("reset", "begin anew in this conversation; files stay", _reset, "approve"),
)
