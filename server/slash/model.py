"""Commands that choose for this conversation: which model answers."""

from typing import Final

from sayso.server.conversations.situation import Outcome, Situation
from sayso.server.slash.command import Command
from sayso.server.store.decisions import ModelChosen
from sayso.server.trust.principal import OWNER

USUAL: Final = "default"
"""The model of the settings."""


async def _model(situation: Situation) -> Outcome:
    name = situation.text.strip()
    if not name:
        return Outcome(
            f"Answers come from {situation.here.agent.model_name}. "
            "`/model NAME` takes another one for this conversation, "
            f"`/model {USUAL}` the usual one again."
        )
    usual = name.lower() == USUAL
    anywhere = situation.may_admin and situation.person == OWNER
    backend = await situation.here.think_with("" if usual else name, anywhere=anywhere)
    if backend.missing:
        return Outcome(backend.missing, ok=False)
    chosen = ModelChosen("" if usual else name, situation.device)
    await situation.here.journal.note("person", chosen)
    return Outcome(
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
