"""Commands about folders: where the code of a conversation runs."""

import asyncio
from pathlib import Path

from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.conversations.files.workspace_choice import chosen_folder
from sayso.server.conversations.registry import called
from sayso.server.runtimes.grants import GrantError
from sayso.server.slash.command import Command
from sayso.server.slash.forget import SURE

OWN = "own"
"""The folder that a conversation has if nobody chooses another."""


async def _folder(context: CommandContext) -> CommandResult:
    here = context.here
    if not context.text.strip():
        return CommandResult(
            f"Code runs in {here.code_runner.where}. `/folder PATH` takes another one for this "
            f"conversation, `/folder {OWN}` its own."
        )
    if context.text.strip().lower() == OWN:
        await here.work_in(None, context.device)
        return CommandResult(
            f"Code runs in {here.code_runner.where} from now on; variables are gone."
        )
    place = await _chosen(context, "folder")
    if isinstance(place, CommandResult):
        return place
    if str(place) == here.code_runner.where:
        return CommandResult(f"Code runs in {place} already.")
    await here.work_in(place, context.device)
    return CommandResult(
        f"Code runs in {place} from now on, and may change what is there; variables are gone."
    )


async def _open(context: CommandContext) -> CommandResult:
    place = await _chosen(context, "open")
    if isinstance(place, CommandResult):
        return place
    there = await context.conversations.all(context.person)
    about = next((one for one in there if one.workspace == str(place)), None)
    known = about is not None
    if about is None:
        about = await context.conversations.begin(place.name, context.person, workspace=str(place))
    await context.move(about)
    told = "goes on where it was" if known else "is new"
    return CommandResult(f"This is {called(about)}; it {told}. Code runs in {place}.")


async def _chosen(context: CommandContext, name: str) -> Path | CommandResult:
    """The folder that is meant; or what to tell instead."""
    text, sure = context.text.strip(), False
    if text.endswith(f" {SURE}"):
        text, sure = text.removesuffix(f" {SURE}").strip(), True
    if not text:
        return CommandResult(f"Name the folder: `/{name} ~/notes`.", ok=False)
    permissions = context.here.agent.permissions
    try:
        place, warnings = await asyncio.to_thread(chosen_folder, text, permissions)
    except GrantError as problem:
        return CommandResult(str(problem), ok=False)
    if warnings and not sure:
        told = "\n".join((*warnings, f"`/{name} {text} {SURE}` takes it all the same."))
        return CommandResult(told, ok=False)
    return place


PLACING = (
    Command(
        "folder",
        "where code runs; a path takes another folder, `own` its own",
        _folder,
        "approve",
        "talk",
    ),
    Command(
        "open", "go on with the conversation of a folder, or begin one there", _open, "approve"
    ),
)
