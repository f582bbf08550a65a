"""Commands that choose for this conversation: which model answers."""

from sayso.server.slash.command import Command, Outcome, Situation


async def _model(situation: Situation) -> Outcome:
    name = situation.text.strip()
    if not name:
        return Outcome(
            f"Answers come from {situation.here.agent.model_name}. "
            "`/model NAME` takes another one for this conversation."
        )
    if refusal := not_here(situation):
        return refusal
    mind = await situation.here.think_with(name)
    if mind.missing:
        return Outcome(mind.missing, ok=False)
    return Outcome(f"{mind.sentence} That holds for this conversation, until Sayso ends.")


def not_here(situation: Situation) -> Outcome | None:
    """Who may not approve, may not choose what needs no approval, nor who is told what is said."""
    if situation.may_approve:
        return None
    return Outcome("This device may not decide that; do it on one that may approve.", ok=False)


CHOOSING = (Command("model", "which language model answers; a name takes another one", _model),)
