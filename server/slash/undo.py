"""Commands that take back what code did to files. They show what is said aloud otherwise."""

from sayso.server.agent.parsing.fences import fenced
from sayso.server.conversations.situation import Outcome, Situation
from sayso.server.slash.command import Command
from sayso.server.undo.results import Undone

_DONE = ("done", "nothing")


async def _undo(situation: Situation) -> Outcome:
    here = situation.here
    undone = await here.undo_requests.undo(situation.device)
    return Outcome(here.undo_answers.undone(undone), ok=undone.outcome in _DONE)


async def _redo(situation: Situation) -> Outcome:
    here = situation.here
    redone = await here.undo_requests.redo(situation.device)
    return Outcome(here.undo_answers.redone(redone), ok=redone.outcome in _DONE)


async def _diff(situation: Situation) -> Outcome:
    here = situation.here
    text = await here.undo_requests.diff()
    nothing = here.undo_answers.undone(Undone("nothing"))
    return Outcome(fenced("diff", text) if text else nothing)


UNDOING = (
    Command("undo", "put files back as they were before the last request", _undo, "approve"),
    Command("redo", "do again what was undone", _redo, "approve"),
    Command("diff", "what /undo would put back", _diff, "talk"),
)
