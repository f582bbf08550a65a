"""Reads and writes skills: folders with a file SKILL.md, whose head says what the skill is for.

    ---
    name: invoices
    description: Write an invoice. Use it when the person wants to bill somebody.
    ---
    What to do, in the person's words.

What is malformed is left out and told, and hinders nothing else. Settings of others in the head,
such as tools that go unasked, count for nothing.
"""

import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from sayso.protocol.visible import HIDDEN

FILE: Final = "SKILL.md"
NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
DESCRIPTION_CHARS: Final = 1_024
BODY_CHARS: Final = 40_000
"""Of one skill: many times the usual ones."""

FILE_BYTES: Final = 200_000
HEAD_CHARS: Final = 8_000
SKILLS_MOST: Final = 200
CATALOGUE_CHARS: Final = 8_000
"""Of all skills in the prompt, some 2,000 tokens."""

_PARTS: Final = re.compile(
    r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$(.*)", re.DOTALL | re.MULTILINE
)

LISTED_FILES: Final = 30


class SkillError(ValueError):
    """This is no skill that can be used; the text says why, as a clause."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill."""

    name: str
    description: str
    folder: Path
    body: str

    @property
    def files(self) -> Sequence[str]:
        """What lies beside its text."""
        found = (path for path in sorted(self.folder.rglob("*")) if path.name != FILE)
        names = [str(path.relative_to(self.folder)) for path in found if path.is_file()]
        return names[:LISTED_FILES]


def read_skills(folders: Iterable[Path]) -> tuple[Mapping[str, Skill], Sequence[str]]:
    """The skills in these folders by name, the first of each; and what is wrong with others."""
    skills: dict[str, Skill] = {}
    complaints = []
    for folder in folders:
        try:
            places = sorted(path for path in folder.iterdir() if (path / FILE).is_file())
        except OSError:
            continue
        for place in places[:SKILLS_MOST]:
            try:
                skill = read_skill(place)
            except SkillError as problem:
                complaints.append(f"{place / FILE} is left out: {problem}.")
            else:
                skills.setdefault(skill.name, skill)
    return skills, complaints


def read_skill(folder: Path) -> Skill:
    """The skill in a folder. Raises SkillError."""
    try:
        with (folder / FILE).open("rb") as file:
            text = file.read(FILE_BYTES).decode()
    except OSError as error:
        raise SkillError(f"it cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise SkillError("it is no text in UTF-8") from None
    match = _PARTS.match(text)
    if match is None or len(match[1]) > HEAD_CHARS:
        raise SkillError("it does not begin with a head between two lines of ---")
    try:
        head = yaml.safe_load(match[1])
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 2
        raise SkillError(f"its head is no YAML, line {line}") from None
    if not isinstance(head, dict):
        raise SkillError("its head has no name and description")
    name, description = head.get("name"), head.get("description")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise SkillError("its name must be small letters, digits and hyphens")
    if not isinstance(description, str) or not description.strip():
        raise SkillError("it does not say in its description what it is for")
    plain = " ".join(HIDDEN.sub("", description).split())
    body = HIDDEN.sub("", match[2].replace("\r\n", "\n")).strip()
    return Skill(name, plain[:DESCRIPTION_CHARS], folder, body[:BODY_CHARS])


def written(name: str, description: str, body: str) -> str:
    """A skill as its file. Raises SkillError."""
    if not NAME.fullmatch(name):
        raise SkillError("its name must be small letters, digits and hyphens")
    if not description.strip() or len(description) > DESCRIPTION_CHARS:
        raise SkillError(f"its description must have 1 to {DESCRIPTION_CHARS} characters")
    head = yaml.safe_dump(
        {"name": name, "description": " ".join(description.split())},
        allow_unicode=True,
        sort_keys=False,
        width=10_000,
    )
    return f"---\n{head}---\n\n{body.strip()}\n"


def keep(folder: Path, name: str, text: str) -> Path:
    """Write a skill's file; return it. Raises OSError."""
    place = folder / name
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=place)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(draft).replace(place / FILE)
    return place / FILE


def catalogue(skills: Iterable[Skill]) -> str:
    """All skills, a line each; where there is no room, descriptions are cut before names are."""
    skills = list(skills)
    names = sum(len(skill.name) + len("- : \n") for skill in skills)
    share = max(0, CATALOGUE_CHARS - names) // max(1, len(skills))
    lines = []
    for skill in skills:
        said = skill.description
        if len(said) > share:
            said = f"{said[: share - 1]}…" if share > 1 else ""
        lines.append(f"- {skill.name}: {said}" if said else f"- {skill.name}")
    text = "\n".join(lines)
    return text if len(text) <= CATALOGUE_CHARS else text[:CATALOGUE_CHARS].rpartition("\n")[0]
