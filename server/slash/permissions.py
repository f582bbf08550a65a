"""Commands about permissions: what runs unasked, and what was granted."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sayso.server.agent.permissions.held_grants import HeldGrants
from sayso.server.agent.permissions.modes import MEANINGS, ModeError
from sayso.server.agent.record.conversation_settings import taken_back
from sayso.server.conversations.situation import Outcome, Situation
from sayso.server.slash.command import Command
from sayso.server.store.decisions import ModeChanged

_LOST: Final = (
    " The interpreters start anew for it then, and variables are lost: change it back before the"
    " next run to keep them."
)

_UNTIL: Final = {
    "conversation": "for this conversation",
    "good": "for good",
    "rule": "by your rule",
}


async def _mode(situation: Situation) -> Outcome:
    permissions = situation.here.agent.permissions
    wanted = situation.text.strip()
    if not wanted:
        lines = [
            f"{'▸' if mode == permissions.mode else ' '} {mode:<10} {meaning}"
            for mode, meaning in MEANINGS.items()
        ]
        return Outcome("\n".join(lines))
    try:
        mode = permissions.change_mode(wanted, at_console=situation.at_console)
    except ModeError as problem:
        return Outcome(str(problem), ok=False)
    await situation.here.journal.note("person", ModeChanged(mode, situation.device))
    held = "; it ends with the server" if mode == "full" else ""
    lost = _LOST if situation.here.agent.loses_variables else ""
    return Outcome(f"The mode is {mode} from the next run on: {MEANINGS[mode]}{held}.{lost}")


async def _grants(situation: Situation) -> Outcome:
    held = situation.here.agent.permissions.held
    match situation.text.split():
        case []:
            return Outcome(_listed(held) or "Nothing beyond the workspace is granted.")
        case ["forget" | "clear"]:
            wanted = [each for each in held if each.until == "conversation"]
        case ["forget" | "clear", *words]:
            wanted = _meant(" ".join(words), held)
        case _:
            return Outcome("`/grants` lists them, `/grants forget 1` takes one back.", ok=False)
    if not wanted:
        return Outcome("There is no such grant; `/grants` lists those that there are.", ok=False)
    return await _take_back(situation, wanted)


async def _take_back(situation: Situation, wanted: Sequence[HeldGrants]) -> Outcome:
    """The network at once, folders from the next run on; and written down."""
    here, told = situation.here, []
    for each in wanted:
        if trouble := await here.agent.permissions.take_back(each):
            told.append(trouble)
        if each.until != "rule":
            lasting = each.until == "good"
            await here.journal.note(
                "person", taken_back(each.part, situation.device, lasting=lasting)
            )
            when = "from the next run on" if each.part.folders else "at once"
            told.append(f"Taken back {when}: {each.line}.")
    return Outcome("\n".join(told))


def _listed(held: Sequence[HeldGrants]) -> str:
    width = max((len(each.line) for each in held), default=0)
    lines = [
        f"{number:>3}  {each.line:<{width}}  {_UNTIL[each.until]}"
        for number, each in enumerate(held, 1)
    ]
    return "\n".join([*lines, "`/grants forget 1` takes one back."]) if lines else ""


def _meant(text: str, held: Sequence[HeldGrants]) -> list[HeldGrants]:
    """By its number, its line, or the place or host in it."""
    if text.isdecimal():
        return [each for number, each in enumerate(held, 1) if text == str(number)]
    names = (text, str(Path(text).expanduser()))
    return [
        each
        for each in held
        if each.line in names or each.line.endswith(tuple(f" {name}" for name in names))
    ]


DECIDING = (
    Command(
        "mode", "what runs unasked: read-only, ask, workspace or full", _mode, "approve", "talk"
    ),
    Command(
        "grants",
        "what code may reach besides; `/grants forget 1` takes it back",
        _grants,
        "approve",
        "talk",
    ),
)
