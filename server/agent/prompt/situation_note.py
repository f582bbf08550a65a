"""Words the circumstances of a request for a model, which is told what is new in them. Pure.

What never changes within a conversation stands in the system prompt, which providers keep in their
caches. The rest goes before the request that it holds for: whole with the first that is told, and
with later ones only what has changed since.
"""

from typing import Final

from sayso.server.agent.prompt.server_notes import between_marks
from sayso.server.store.records import Situation

_IN_A_SANDBOX: Final = (
    "in a sandbox that can write only in its own folder and in what was opened for writing, and"
    " reaches only hosts that were opened"
)
MODES: Final = {
    "read-only": "Mode read-only: code runs unasked; it can change nothing and has no network.",
    "ask": f"Mode ask: the person is shown each run and says yes or no; code runs {_IN_A_SANDBOX}.",
    "workspace": f"Mode workspace: code runs unasked, {_IN_A_SANDBOX}.",
    "full": (
        "Mode full: code runs unasked and without a sandbox, with all of the person's own rights;"
        " ask them before what can't be taken back."
    ),
}
"""What each mode means for code that is written in it."""

RENEWED: Final = "The next code begins in new interpreters: variables of earlier code are gone."
MOST_LISTED: Final = 20
"""Grants, and jobs: as many as a person has an eye on."""


def situation_note(now: Situation, before: Situation | None) -> str:
    """What is new, as lines that go before the request; `before`: what was told last."""
    parts = [_when(now, before), _who(now, before)]
    if before is None or before.mode != now.mode:
        parts.append(MODES.get(now.mode, ""))
    if now.renewed:
        parts.append(RENEWED)
    told = " ".join(part for part in parts if part)
    granted, running = (before.granted, before.running) if before else ((), ())
    return (
        (f"({told})\n" if told else "")
        + _listed("Open to code", now.granted, granted)
        + _listed("Going on in the background", now.running, running)
    )


def _when(now: Situation, before: Situation | None) -> str:
    if before is None or (before.day, before.zone) != (now.day, now.zone):
        return f"It is {now.day}, {now.time} ({now.zone})." if now.day else ""
    return "" if before.time == now.time else f"It is {now.time}."


def _who(now: Situation, before: Situation | None) -> str:
    """Who asks and where; nothing as long as it is the owner at the server itself."""
    told = (before.person, before.device) if before else ("", "")
    if told == (now.person, now.device):
        return ""
    where = f"at the device {now.device!r}" if now.device else "at this computer"
    return f"Asked by {now.person!r} {where}." if now.person else f"Asked {where}."


def _listed(what: str, now: tuple[str, ...], before: tuple[str, ...]) -> str:
    """Names that others gave, between marks; nothing where nothing changed."""
    if now == before:
        return ""
    if not now:
        return f"({what}: nothing any more.)\n"
    rest = len(now) - MOST_LISTED
    names = "\n".join((*now[:MOST_LISTED], *([f"and {rest} more"] if rest > 0 else ())))
    return f"{what}:\n{between_marks('names', names)}\n"
