"""Commands about conversations: list them, begin, go on, name, begin anew."""

from datetime import datetime

from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.conversations.registry import called
from sayso.server.slash.command import Command
from sayso.server.slash.past import in_words
from sayso.server.store.records import Conversation

LISTED = 20
"""Conversations in a list: a screen."""

SHOWN_OF_PAST = 2
"""Turns that are shown of a conversation that is taken up; `/past` shows more."""


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
    past = await (await context.conversations.enter(about)).past()
    before = in_words(past["turns"], SHOWN_OF_PAST)
    told = f"This is {called(about)}; it goes on where it was."
    return CommandResult(f"{told}\n\n{before}" if before else told)


async def _save(context: CommandContext) -> CommandResult:
    name = context.text.strip()
    if not name:
        return CommandResult("Everything is kept anyway; `/save NAME` gives this a name.", ok=False)
    await context.conversations.rename(context.here.about.id, name)
    return CommandResult(
        f"This conversation is called {name} now; `/resume {name}` comes back to it."
    )


async def _pin(context: CommandContext) -> CommandResult:
    wanted = context.text.strip().lower()
    if wanted not in ("", "on", "off"):
        return CommandResult(
            "`/pin` keeps this at the top of the list, `/pin off` no more.", ok=False
        )
    await context.conversations.pin(context.here.about.id, on=wanted != "off")
    where = "is where its day puts it" if wanted == "off" else "stays at the top of the list"
    return CommandResult(f"This conversation {where}.")


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
    Command("pin", "keep this conversation at the top of the list; `off`: no more", _pin, "talk"),
    Command("reset", "begin anew in this conversation; files stay", _reset, "approve"),
)
