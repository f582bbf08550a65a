"""Commands that take back what code did to files. They show what is said aloud otherwise."""

from sayso.server.agent.parsing.fences import fenced
from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.slash.command import Command
from sayso.server.undo.results import Undone

_DONE = ("done", "nothing")

_DIGITS = 3
"""Of how many requests; nobody goes back further."""


async def _undo(context: CommandContext) -> CommandResult:
    here = context.here
    undone = await here.undo_requests.undo(context.device, *_meant(context.text))
    return CommandResult(here.undo_answers.undone(undone), ok=undone.outcome in _DONE)


async def _redo(context: CommandContext) -> CommandResult:
    here = context.here
    redone = await here.undo_requests.redo(context.device)
    return CommandResult(here.undo_answers.redone(redone), ok=redone.outcome in _DONE)


async def _diff(context: CommandContext) -> CommandResult:
    here = context.here
    text = await here.undo_requests.diff(*_meant(context.text))
    nothing = here.undo_answers.undone(Undone("nothing"))
    return CommandResult(fenced("diff", text) if text else nothing)


def _meant(text: str) -> tuple[int, str]:
    """How many of the last requests, and the words of the one that was named."""
    text = text.strip()
    if text.isdecimal() and len(text) <= _DIGITS:
        return max(1, int(text)), ""
    return 1, text


UNDOING = (
    Command(
        "undo",
        "put files back as they were before the last request, the last 3, or one that is named",
        _undo,
        "approve",
    ),
    Command("redo", "do again what was undone", _redo, "approve"),
    Command("diff", "what /undo would put back", _diff, "talk"),
)
