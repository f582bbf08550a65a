"""The tools `skill`, which reads a skill on use, and `teach_skill`, which keeps what a person
taught once they have seen it whole and said yes.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from sayso.server.agent.instructions.skill import (
    DESCRIPTION_CHARS,
    Skill,
    SkillError,
    catalogue,
)
from sayso.server.agent.tools.tool import Arguments, ArgumentsError, Tool, ToolContext, ToolRefused
from sayso.server.capabilities.skills.skill_files import (
    files_beside,
    keep,
    read_skills,
    written,
)
from sayso.server.runtimes.runtime import Ending, Output

_TOLD: Final = (
    "Skills, which the person keeps for how they want things done. Before you do what one is for,"
    " or when they name one, read it with the tool skill and keep to it; it grants you nothing:"
)
_TEACHING: Final = (
    "When the person wants to teach you something, let them tell or show it step by step, ask what"
    " is unclear, then call teach_skill with what you learnt: they are shown it before it is kept."
)

_NAMED: Final = "[The person's skill {name}, which they want you to keep to here:]\n{body}"
_AT_ONCE: Final = 2
"""Skills that one request names: more are read by the model itself."""

_BODY_CHARS: Final = 8_000
"""Of what is taught: a page or two that somebody reads before a yes."""


def _naming(name: str) -> Callable[[str], object]:
    """Finds whether a person names this skill: "use the invoices skill", "my skill invoices"."""
    spoken = re.escape(name).replace(r"\-", r"[\s-]+")
    called = r"(?:\s+(?:called|named|genannt))?[\s:]+[\"“„]?"
    pattern = rf"\b(?:{spoken}[\"”“]?[\s-]+skill\b|skill{called}{spoken}\b)|^\s*/{spoken}(?:\s|$)"
    return re.compile(pattern, re.IGNORECASE).search


class FolderSkills(Protocol):
    """The skills of the folders that a conversation works in."""

    @property
    def has_skills(self) -> bool:
        """Whether there are any, followed or not."""
        ...

    @property
    def skills(self) -> Mapping[str, Skill]:
        """Those that the person has Sayso follow, as they were when they said so."""
        ...


class ReadSkill(Tool):
    """Reads one skill."""

    name = "skill"
    use = "Read how the person wants something done, by the name of the skill."
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 80}},
        "required": ["name"],
        "additionalProperties": False,
    }
    undo = ""
    kind = "reads"
    outside = False

    def __init__(self, skills: Mapping[str, Skill], folder: FolderSkills | None = None) -> None:
        """`folder`: the prompt tells of its skills where it tells of the folder's instructions."""
        self._own = skills
        self._folder = folder
        self.told = f"{_TOLD}\n{catalogue(skills.values())}" if skills else ""

    @property
    def _skills(self) -> Mapping[str, Skill]:
        """The person's own come before a folder's of the same name."""
        return {**(self._folder.skills if self._folder else {}), **self._own}

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return ()

    def told_with(self, request: str) -> str:
        """The skills that the person names, so that no model has to think of reading them."""
        named = [skill for name, skill in self._skills.items() if _naming(name)(request)]
        return "\n\n".join(_NAMED.format(name=one.name, body=one.body) for one in named[:_AT_ONCE])

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        name = str(arguments["name"]).strip().lower().removeprefix("/").replace(" ", "-")
        skills = self._skills
        skill = skills.get(name)
        if skill is None:
            known = ", ".join(skills) or "none that the person follows"
            raise ToolRefused(f"There is no skill {name}; there are: {known}.")
        yield Output("result", f"{skill.body}\n")
        if name not in self._own:
            yield Output("result", f"What goes with it lies in {skill.folder}.\n")
        elif files := files_beside(skill):
            listed = "\n".join(f"  {each}" for each in files)
            yield Output("result", f"Beside it, in {skill.folder}:\n{listed}\n")
        yield Ending("ok", 0.0)


class TeachSkill(Tool):
    """Keeps a skill, on the person's yes to what is shown."""

    name = "teach_skill"
    use = (
        "Keep as a skill what the person taught you: name in small letters with hyphens, in the"
        " description when to use it, in the body the steps, exactly as they want them."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 64},
            "description": {"type": "string", "maxLength": DESCRIPTION_CHARS},
            "body": {"type": "string", "minLength": 1, "maxLength": _BODY_CHARS},
        },
        "required": ["name", "description", "body"],
        "additionalProperties": False,
    }
    undo = "deleting its folder takes it back"
    ways = frozenset({"call", "fence"})
    told = _TEACHING

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def source(self) -> str:
        return ""  # what comes back is ours

    def read(self, label: str, text: str) -> Arguments:
        arguments = super().read(label, text)
        try:
            written(arguments["name"], arguments["description"], arguments["body"])
        except SkillError as problem:
            raise ArgumentsError(f"This is no skill: {problem}.") from None
        return arguments

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        place = self._folder / str(arguments["name"])
        new = "write" if not place.exists() else "write anew, over the one that is there,"
        return (f"{new} the skill {place}, which later conversations keep to",)

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        name = str(arguments["name"])
        text = written(name, str(arguments["description"]), str(arguments["body"]))
        try:
            file = keep(self._folder, name, text)
        except OSError as problem:
            yield Output("error", f"It could not be written ({problem.strerror}).\n")
            yield Ending("error", 0.0)
            return
        yield Output("result", f"Kept as the skill {name}, in {file}.\n")
        yield Ending("ok", 0.0)


class Skills:
    """Gone through, it is the tools for the skills that are there now."""

    def __init__(
        self, own: Path, also: tuple[Path, ...] = (), folder: FolderSkills | None = None
    ) -> None:
        """`own`: the folder to which skills are written; `also`: further ones of the person's;
        `folder`: those of the folders that one conversation works in."""
        self._own = own
        self._also = also
        self._folder = folder

    def beside(self, folder: FolderSkills) -> "Skills":
        """The same, with the skills of one conversation's folders."""
        return Skills(self._own, self._also, folder)

    def __iter__(self) -> Iterator[Tool]:
        skills, _ = self.read()
        if skills or (self._folder and self._folder.has_skills):
            yield ReadSkill(skills, self._folder)
        yield TeachSkill(self._own)

    def read(self) -> tuple[Mapping[str, Skill], tuple[str, ...]]:
        """The skills by name, and what is wrong with others."""
        skills, complaints = read_skills((self._own, *self._also))
        return skills, tuple(complaints)
