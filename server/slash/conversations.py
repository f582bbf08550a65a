"""Commands about conversations: list them, begin, go on, name, begin anew."""

from datetime import datetime

from sayso.server.conversations.registry import called
from sayso.server.conversations.situation import Outcome, Situation
from sayso.server.slash.command import Command
from sayso.server.store.records import Conversation

LISTED = 20
"""Conversations in a list: a screen."""


async def _list(situation: Situation) -> Outcome:
    there = await situation.conversations.all(situation.person)
    lines = [
        _line(number, one, here=one.id == situation.here.about.id)
        for number, one in enumerate(there[:LISTED], 1)
    ]
    if len(there) > LISTED:
        lines.append(f"… and {len(there) - LISTED} older ones; /resume finds them by name.")
    return Outcome("\n".join(lines) or "There is none yet.")


async def _new(situation: Situation) -> Outcome:
    about = await situation.conversations.begin(situation.text, situation.person)
    await situation.move(about)
    return Outcome(f"This is a new conversation, {called(about)}.")


async def _resume(situation: Situation) -> Outcome:
    if not situation.text.strip():
        return await _list(situation)
    about = await situation.conversations.find(situation.text, situation.person)
    if about.id == situation.here.about.id:
        return Outcome(f"This is {called(about)} already.")
    await situation.move(about)
    return Outcome(f"This is {called(about)}; it goes on where it was.")


async def _save(situation: Situation) -> Outcome:
    name = situation.text.strip()
    if not name:
        return Outcome("Everything is kept anyway; `/save NAME` gives this a name.", ok=False)
    await situation.conversations.rename(situation.here.about.id, name)
    return Outcome(f"This conversation is called {name} now; `/resume {name}` comes back to it.")


async def _reset(situation: Situation) -> Outcome:
    await situation.conversations.reset(situation.here.about.id)
    return Outcome(
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
