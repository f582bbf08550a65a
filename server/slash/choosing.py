"""Commands that choose for this conversation: which model answers, and what is asked about."""

from typing import get_args

from sayso.server.agent.performing import Mode
from sayso.server.slash.command import Command, Outcome, Situation

_MODES: dict[Mode, str] = {
    "ask": "every run is asked about",
    "workspace": "what stays inside the sandbox runs unasked",
}


async def _model(situation: Situation) -> Outcome:
    name = situation.text.strip()
    if not name:
        return Outcome(
            f"Answers come from {situation.here.agent.model_name}. "
            "`/model NAME` takes another one for this conversation."
        )
    if refusal := _not_here(situation):
        return refusal
    mind = await situation.here.think_with(name)
    if mind.missing:
        return Outcome(mind.missing, ok=False)
    return Outcome(f"{mind.sentence} That holds for this conversation, until Sayso ends.")


async def _mode(situation: Situation) -> Outcome:
    agent, wanted = situation.here.agent, situation.text.strip().lower()
    if not wanted:
        lines = [
            f"{'▸' if mode == agent.mode else ' '} {mode:<10} {about}"
            for mode, about in _MODES.items()
        ]
        return Outcome("\n".join(lines))
    for mode in get_args(Mode):
        if mode == wanted:
            if refusal := _not_here(situation):
                return refusal
            agent.mode = mode
            return Outcome(
                f"From the next request on: {_MODES[mode]}. That holds until Sayso ends."
            )
    return Outcome(f"There is no mode {wanted}; there are {', '.join(_MODES)}.", ok=False)


def _not_here(situation: Situation) -> Outcome | None:
    """Who may not approve, may not choose what needs no approval, nor who is told what is said."""
    if situation.may_approve:
        return None
    return Outcome("This device may not decide that; do it on one that may approve.", ok=False)


CHOOSING = (
    Command("model", "which language model answers; a name takes another one", _model),
    Command("mode", "what is asked about before it runs", _mode),
)
