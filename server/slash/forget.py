"""The command that makes Sayso forget."""

from sayso.server.conversations.deletion import NotDeleted
from sayso.server.conversations.registry import StillUsed, called
from sayso.server.conversations.situation import Outcome, Situation
from sayso.server.slash.command import Command
from sayso.server.store.errors import StoreError

SURE = "yes"


async def _forget(situation: Situation) -> Outcome:
    here = situation.here.about
    if situation.text.strip().lower() != SURE:
        return Outcome(
            f"`/forget {SURE}` takes {called(here)} off the disk for good: what was said and what "
            "ran, who approved it, what can be undone, its reminders, and its folder if Sayso made "
            "that. A cloud model that you allowed keeps what its company keeps.",
            ok=False,
        )
    there = await situation.conversations.all(situation.person)
    others = [one for one in there if one.id != here.id]
    onward = others[0] if others else await situation.conversations.begin("", situation.person)
    await situation.move(onward)
    try:
        await situation.conversations.forget(here)
    except (StillUsed, NotDeleted, StoreError) as refusal:
        return Outcome(f"{refusal} This is {called(onward)} now.", ok=False)
    return Outcome(f"It is forgotten. This is {called(onward)} now.")


FORGETTING = (
    Command("forget", "take this conversation off the disk for good", _forget, "approve"),
)
