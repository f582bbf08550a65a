"""Reads and writes the person's skills: folders with a file SKILL.md.

What is malformed is left out and told, and hinders nothing else.
"""

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml

from sayso.server.agent.instructions.skill import (
    DESCRIPTION_CHARS,
    NAME,
    SKILL_BYTES,
    SKILL_FILE,
    Skill,
    SkillError,
    parse_skill,
)

SKILLS_MOST: Final = 200
LISTED_FILES: Final = 30


def files_beside(skill: Skill) -> Sequence[str]:
    """What lies beside its text."""
    found = (path for path in sorted(skill.folder.rglob("*")) if path.name != SKILL_FILE)
    names = [str(path.relative_to(skill.folder)) for path in found if path.is_file()]
    return names[:LISTED_FILES]


def read_skills(folders: Iterable[Path]) -> tuple[Mapping[str, Skill], Sequence[str]]:
    """The skills in these folders by name, the first of each; and what is wrong with others."""
    skills: dict[str, Skill] = {}
    complaints = []
    for folder in folders:
        try:
            places = sorted(path for path in folder.iterdir() if (path / SKILL_FILE).is_file())
        except OSError:
            continue
        for place in places[:SKILLS_MOST]:
            try:
                skill = read_skill(place)
            except SkillError as problem:
                complaints.append(f"{place / SKILL_FILE} is left out: {problem}.")
            else:
                skills.setdefault(skill.name, skill)
    return skills, complaints


def read_skill(folder: Path) -> Skill:
    """The skill in a folder. Raises SkillError."""
    try:
        with (folder / SKILL_FILE).open("rb") as file:
            text = file.read(SKILL_BYTES).decode()
    except OSError as error:
        raise SkillError(f"it cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise SkillError("it is no text in UTF-8") from None
    return parse_skill(text, folder)


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
    Path(draft).replace(place / SKILL_FILE)
    return place / SKILL_FILE
