"""Follows the instructions and skills of the folders that one conversation works in, as far as they
are trusted, and asks about those that are not.

A person is asked before the first thing is done there, with the text before their eyes. Their
answer holds for this conversation, or for good where they say so, and is bound to the text's hash:
one that is not the same, whoever changed it, is asked about again, and until then followed by
nobody. To follow opens nothing: what needs a yes still does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sayso.server.agent.instructions.instruction_files import (
    SHOWN_CHARS,
    InstructionFile,
    read_instructions,
    shortened,
)
from sayso.server.agent.instructions.skill import Skill, catalogue
from sayso.server.agent.instructions.trusted_instructions import TrustedInstructions
from sayso.server.agent.permissions.approvals import ApprovalDecision, Proposal
from sayso.server.agent.record.journal import Journal
from sayso.server.policy.actions import home_as_tilde
from sayso.server.policy.hidden_code import looks
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.store.decisions import InstructionsAnswered

LANGUAGE: Final = "instructions"
"""Stands for the language in a question about them."""

_MEANS: Final = (
    "This says how to work in {folder}. With a yes, Sayso keeps to it in this conversation, with a"
    " yes for good in all, until it changes. It opens nothing: what needs your yes still does."
)
_CHANGED: Final = "It is not what you said yes to before: it was changed."
_BY_CODE: Final = "Code of this conversation wrote it."
_CUT: Final = "It is longer: only what is shown is followed."

Ask = Callable[[Proposal], Awaitable[ApprovalDecision]]


@dataclass(frozen=True, slots=True)
class WorkPlace:
    """Where code of a conversation may write now."""

    folder: str
    identity: Identity | None
    reach: Grants
    """What was granted besides."""


@dataclass(slots=True)
class FolderInstructions:
    """Of one conversation."""

    trusted: TrustedInstructions | None = None
    """None: nobody's here are followed, and nobody is asked."""
    given: Sequence[InstructionFile] = ()
    """Those of whoever started this conversation's work, which hold without being asked about."""
    followed: Sequence[InstructionFile] = ()
    """What the model is told of."""
    has_skills: bool = False
    """Whether a folder has any, followed or not."""
    _answered: dict[str, bool] = field(default_factory=dict)
    """By hash, whether it is followed in this conversation; silence counts as a no."""

    async def look(self, place: WorkPlace) -> None:
        """See what is there now, and follow what is trusted of it."""
        found = await self._found(place)
        self.has_skills = any(one.skills for one in (*self.given, *found))
        self.followed = (*self.given, *(one for one in found if self._is_followed(one)))

    @property
    def skills(self) -> Mapping[str, Skill]:
        """Those that are followed, by name; of two of one name the first folder's."""
        found: dict[str, Skill] = {}
        for file in self.followed:
            for skill in file.skills:
                found.setdefault(skill.name, skill)
        return found

    async def ask_about_new(
        self, run: str, place: WorkPlace, journal: Journal, ask: Ask
    ) -> Sequence[InstructionFile]:
        """Ask about what nobody was asked about yet; return what is followed from now on besides.
        Raises StoreError."""
        added = []
        for file in await self._found(place):
            if self.trusted is None or file.digest in self._answered or self._is_followed(file):
                continue
            decision = await ask(self._question(run, file, place, journal))
            self._answered[file.digest] = follow = decision.allows
            if decision.decision not in ("yes", "no"):
                continue
            record = InstructionsAnswered(
                run,
                file.folder,
                file.title,
                file.digest,
                follow=follow,
                by=decision.by,
                lasting=decision.lasting,
            )
            await journal.note("person", record)
            if decision.lasting:
                await asyncio.to_thread(self.trusted.keep, file)
            added += [file] if follow else []
        if added:
            await self.look(place)
        return added

    def forget(self) -> None:
        """Begin anew: what was answered for this conversation is asked about again."""
        self._answered.clear()
        self.followed = self.given

    def _is_followed(self, file: InstructionFile) -> bool:
        here = self._answered.get(file.digest)
        for_good = self.trusted is not None and self.trusted.holds(file)
        return for_good if here is None else here

    async def _found(self, place: WorkPlace) -> list[InstructionFile]:
        """One of each folder in which code may write, the conversation's own first."""
        if self.trusted is None:
            return []
        folders = [(Path(place.folder), place.identity)]
        granted = (each for each in place.reach.folders if each.access == "write")
        folders += [(each.path, each.identity) for each in granted]
        found = [
            await asyncio.to_thread(read_instructions, folder, identity)
            for folder, identity in folders
        ]
        return [one for one in found if one]

    def _question(
        self, run: str, file: InstructionFile, place: WorkPlace, journal: Journal
    ) -> Proposal:
        told = home_as_tilde(file.folder, str(Path.home()))
        changed = file.folder in (one.folder for one in self.followed) or (
            self.trusted is not None and self.trusted.followed_before(file)
        )
        warnings = (
            _MEANS.format(folder=told),
            _CHANGED if changed else "",
            _BY_CODE if _written_by_code(file, place.folder, journal) else "",
            _CUT if file.cut else "",
            *file.left_out,
            *looks(file.shown),
        )
        return Proposal(
            run=f"{run}:{LANGUAGE}",
            language=LANGUAGE,
            code=file.shown,
            where=file.folder,
            may_touch=place.reach.words(Path(place.folder)),
            kind="access",
            warnings=tuple(filter(None, warnings)),
            tap=True,
            question=f"Shall I keep to {file.title} of {told}?",
        )


def told_to_model(files: Sequence[InstructionFile], most: int) -> str:
    """The instructions for a model that can make use of so many characters of each; empty if there
    are none."""
    parts = []
    for file in files:
        text = shortened(file.text, min(most, SHOWN_CHARS))
        if skills := catalogue(file.skills) if most else "":
            parts.append(f"{_SKILLS.format(folder=file.folder)}\n{skills}")
        if not text:
            continue
        cut = (
            "\n(It is longer; read the rest in the file.)" if file.cut or text != file.text else ""
        )
        parts.append(f"{file.folder}/{file.name}:\n{text}{cut}")
    return "\n\n".join((_TOLD, *parts)) if parts else ""


_TOLD: Final = (
    "The person has you follow the instructions below when you work in these folders. What the"
    " person says goes before them, and they open nothing: what is asked about still is."
)


_SKILLS: Final = (
    "Skills of {folder}, which say how things are done there. Before you do what one is for, read"
    " it with the tool skill and keep to it; it grants you nothing:"
)


def _written_by_code(file: InstructionFile, where: str, journal: Journal) -> bool:
    """Whether a run of this conversation changed any of it."""
    base = "" if file.folder == where else f"{file.folder}/"
    own = {f"{base}{path}" for path in file.paths}
    for exchange in journal.history.exchanges:
        for step in exchange.steps:
            for act in step.acts:
                changes = act.report.changes if act.report else None
                if changes and not own.isdisjoint(
                    (*changes.added, *changes.changed, *(one.new for one in changes.renamed))
                ):
                    return True
    return False
