"""Commands that choose for this conversation: which model answers."""

from typing import Final

from sayso.server.slash.command import Command, Outcome, Situation
from sayso.server.store.decisions import ModelChosen

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
    if refusal := not_here(situation):
        return refusal
    usual = name.lower() == USUAL
    mind = await situation.here.think_with("" if usual else name)
    if mind.missing:
        return Outcome(mind.missing, ok=False)
    chosen = ModelChosen("" if usual else name, situation.device)
    await situation.here.journal.note("person", chosen)
    return Outcome(mind.sentence if usual else f"{mind.sentence} That holds for this conversation.")


def not_here(situation: Situation) -> Outcome | None:
    """Who may not approve, may not choose what needs no approval, nor who is told what is said."""
    if situation.may_approve:
        return None
    return Outcome("This device may not decide that; do it on one that may approve.", ok=False)


CHOOSING = (Command("model", "which language model answers; a name takes another one", _model),)
