"""Commands about permissions: what runs unasked, and what was granted."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sayso.server.agent.permissions.grants_text import HeldGrants, HeldLease
from sayso.server.agent.permissions.permissions import MEANINGS, ModeError
from sayso.server.agent.record.conversation_settings import taken_back
from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.policy.actions import home_as_tilde
from sayso.server.slash.command import Command
from sayso.server.store.decisions import InstructionsAnswered, ModeChanged, ReachTakenBack

_LOST: Final = (
    " The interpreters start anew for it then, and variables are lost: change it back before the"
    " next run to keep them."
)

_UNTIL: Final = {
    "conversation": "for this conversation",
    "good": "for good",
    "rule": "by your rule",
}


async def _mode(context: CommandContext) -> CommandResult:
    permissions = context.here.agent.permissions
    wanted = context.text.strip()
    if not wanted:
        lines = [
            f"{'▸' if mode == permissions.mode else ' '} {mode:<10} {meaning}"
            for mode, meaning in MEANINGS.items()
        ]
        return CommandResult("\n".join(lines))
    try:
        mode = permissions.change_mode(wanted, at_console=context.at_console)
    except ModeError as problem:
        return CommandResult(str(problem), ok=False)
    await context.here.journal.note("person", ModeChanged(mode, context.device))
    held = "; it ends with the server" if mode == "full" else ""
    lost = _LOST if context.here.agent.loses_variables else ""
    return CommandResult(f"The mode is {mode} from the next run on: {MEANINGS[mode]}{held}.{lost}")


async def _grants(context: CommandContext) -> CommandResult:
    permissions = context.here.agent.permissions
    held: list[HeldGrants | HeldLease] = [*permissions.held, *permissions.leases]
    match context.text.split():
        case []:
            return CommandResult(_listed(held) or "Nothing beyond the workspace is granted.")
        case ["forget" | "clear"]:
            wanted = [
                each for each in held if isinstance(each, HeldLease) or each.until == "conversation"
            ]
        case ["forget" | "clear", *words]:
            wanted = _meant(" ".join(words), held)
        case _:
            return CommandResult(
                "`/grants` lists them, `/grants forget 1` takes one back.", ok=False
            )
    if not wanted:
        return CommandResult(
            "There is no such grant; `/grants` lists those that there are.", ok=False
        )
    return await _take_back(context, wanted)


async def _take_back(
    context: CommandContext, wanted: Sequence[HeldGrants | HeldLease]
) -> CommandResult:
    """The network at once, folders from the next run on; and written down."""
    here, told = context.here, []
    for each in wanted:
        if isinstance(each, HeldLease):
            each.end()
            await here.journal.note("person", ReachTakenBack((each.line,), context.device))
            told.append(f"Taken back at once: {each.line}.")
            continue
        if trouble := await here.agent.permissions.take_back(each):
            told.append(trouble)
        if each.until != "rule":
            lasting = each.until == "good"
            await here.journal.note(
                "person", taken_back(each.part, context.device, lasting=lasting)
            )
            when = "from the next run on" if each.part.folders else "at once"
            told.append(f"Taken back {when}: {each.line}.")
    return CommandResult("\n".join(told))


def _listed(held: Sequence[HeldGrants | HeldLease]) -> str:
    width = max((len(each.line) for each in held), default=0)
    lines = [
        f"{number:>3}  {each.line:<{width}}  {_until(each)}" for number, each in enumerate(held, 1)
    ]
    return "\n".join([*lines, "`/grants forget 1` takes one back."]) if lines else ""


def _until(held: HeldGrants | HeldLease) -> str:
    return held.until if isinstance(held, HeldLease) else _UNTIL[held.until]


def _meant(text: str, held: Sequence[HeldGrants | HeldLease]) -> list[HeldGrants | HeldLease]:
    """By its number, its line, or the place or host in it."""
    if text.isdecimal():
        return [each for number, each in enumerate(held, 1) if text == str(number)]
    names = (text, str(Path(text).expanduser()))
    return [
        each
        for each in held
        if each.line in names or each.line.endswith(tuple(f" {name}" for name in names))
    ]


async def _instructions(context: CommandContext) -> CommandResult:
    instructions = context.here.agent.permissions.instructions
    trusted = instructions.trusted
    if trusted is None:
        return CommandResult(
            "Here no folder's instructions are followed; they are the owner's.", ok=False
        )
    folders = list(trusted.folders)
    match context.text.split(maxsplit=1):
        case []:
            lines = [
                f"{number:>3}  {folder}/{one.name}"
                for number, (folder, one) in enumerate(trusted.folders.items(), 1)
            ]
            told = "\n".join([*lines, "`/instructions forget 1` has it asked about anew."])
            return CommandResult(
                told if lines else "You were asked about no folder's instructions yet."
            )
        case ["forget", which]:
            wanted = [
                folder
                for number, folder in enumerate(folders, 1)
                if which in (str(number), folder, home_as_tilde(folder, str(Path.home())))
            ]
        case _:
            return CommandResult(
                "`/instructions` lists them, `/instructions forget 1` takes one back.", ok=False
            )
    if not wanted:
        return CommandResult("There are none of that folder; `/instructions` lists them.", ok=False)
    (folder,) = wanted
    before = trusted.folders[folder]
    trouble = await asyncio.to_thread(trusted.forget, folder)
    taken = InstructionsAnswered(
        "", folder, before.name, before.digest, follow=False, by=context.device
    )
    await context.here.journal.note("person", taken)
    told = (
        f"{folder}/{before.name} is followed no more from the next request on, until you are asked."
    )
    return CommandResult(" ".join(filter(None, (told, trouble))))


DECIDING = (
    Command(
        "mode", "what runs unasked: read-only, ask, workspace or full", _mode, "approve", "talk"
    ),
    Command(
        "grants",
        "what code and the browser may reach besides; `/grants forget 1` takes it back",
        _grants,
        "approve",
        "talk",
    ),
    Command(
        "instructions",
        "which folders' AGENTS.md are followed; `/instructions forget 1` takes it back",
        _instructions,
        "approve",
        "talk",
    ),
)
