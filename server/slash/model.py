"""Commands that choose for this conversation: which model answers."""

from typing import Final

from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.slash.command import Command
from sayso.server.store.decisions import ModelChosen
from sayso.server.trust.principal import OWNER

USUAL: Final = "default"
"""The model of the settings."""


async def _model(context: CommandContext) -> CommandResult:
    name = context.text.strip()
    if not name:
        return CommandResult(
            f"Answers come from {context.here.agent.model_name}. "
            "`/model NAME` takes another one for this conversation, "
            f"`/model {USUAL}` the usual one again."
        )
    usual = name.lower() == USUAL
    anywhere = context.may_admin and context.person == OWNER
    backend = await context.here.think_with("" if usual else name, anywhere=anywhere)
    if backend.missing:
        return CommandResult(backend.missing, ok=False)
    chosen = ModelChosen("" if usual else name, context.device)
    await context.here.journal.note("person", chosen)
    return CommandResult(
        backend.sentence if usual else f"{backend.sentence} That holds for this conversation."
    )


CHOOSING = (
    Command(
        "model",
        "which language model answers; a name takes another one",
        _model,
        "approve",
        to_look="talk",
    ),
)
