"""Commands about folders: where the code of a conversation runs."""

import asyncio
from pathlib import Path

from sayso.server.conversations.files.workspace_choice import chosen_folder
from sayso.server.conversations.registry import called
from sayso.server.conversations.situation import Outcome, Situation
from sayso.server.runtimes.grants import GrantError
from sayso.server.slash.command import Command
from sayso.server.slash.forget import SURE

OWN = "own"
"""The folder that a conversation has if nobody chooses another."""


async def _folder(situation: Situation) -> Outcome:
    here = situation.here
    if not situation.text.strip():
        return Outcome(
            f"Code runs in {here.code_runner.where}. `/folder PATH` takes another one for this "
            f"conversation, `/folder {OWN}` its own."
        )
    if situation.text.strip().lower() == OWN:
        await here.work_in(None, situation.device)
        return Outcome(f"Code runs in {here.code_runner.where} from now on; variables are gone.")
    place = await _chosen(situation, "folder")
    if isinstance(place, Outcome):
        return place
    if str(place) == here.code_runner.where:
        return Outcome(f"Code runs in {place} already.")
    await here.work_in(place, situation.device)
    return Outcome(
        f"Code runs in {place} from now on, and may change what is there; variables are gone."
    )


async def _open(situation: Situation) -> Outcome:
    place = await _chosen(situation, "open")
    if isinstance(place, Outcome):
        return place
    there = await situation.conversations.all(situation.person)
    about = next((one for one in there if one.workspace == str(place)), None)
    known = about is not None
    if about is None:
        about = await situation.conversations.begin(
            place.name, situation.person, workspace=str(place)
        )
    await situation.move(about)
    told = "goes on where it was" if known else "is new"
    return Outcome(f"This is {called(about)}; it {told}. Code runs in {place}.")


async def _chosen(situation: Situation, name: str) -> Path | Outcome:
    """The folder that is meant; or what to tell instead."""
    text, sure = situation.text.strip(), False
    if text.endswith(f" {SURE}"):
        text, sure = text.removesuffix(f" {SURE}").strip(), True
    if not text:
        return Outcome(f"Name the folder: `/{name} ~/notes`.", ok=False)
    permissions = situation.here.agent.permissions
    try:
        place, warnings = await asyncio.to_thread(chosen_folder, text, permissions)
    except GrantError as problem:
        return Outcome(str(problem), ok=False)
    if warnings and not sure:
        told = "\n".join((*warnings, f"`/{name} {text} {SURE}` takes it all the same."))
        return Outcome(told, ok=False)
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
