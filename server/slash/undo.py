"""Commands that take back what code did to files. They show what is said aloud otherwise."""

from sayso.server.agent.parsing.fences import fenced
from sayso.server.slash.command import Command, Outcome, Situation
from sayso.server.undo.results import Undone

_DONE = ("done", "nothing")


async def _undo(situation: Situation) -> Outcome:
    here = situation.here
    undone = await here.taking_back.undo(situation.device)
    return Outcome(here.of_undoing.undone(undone), ok=undone.outcome in _DONE)


async def _redo(situation: Situation) -> Outcome:
    here = situation.here
    redone = await here.taking_back.redo(situation.device)
    return Outcome(here.of_undoing.redone(redone), ok=redone.outcome in _DONE)


async def _diff(situation: Situation) -> Outcome:
    here = situation.here
    text = await here.taking_back.diff()
    nothing = here.of_undoing.undone(Undone("nothing"))
    return Outcome(fenced("diff", text) if text else nothing)


UNDOING = (
    Command("undo", "put files back as they were before the last request", _undo, "approve"),
    Command("redo", "do again what was undone", _redo, "approve"),
    Command("diff", "what /undo would put back", _diff, "talk"),
)
