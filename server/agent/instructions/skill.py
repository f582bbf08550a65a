"""What a skill is, in the open SKILL.md format: a head that says what it is for, then the steps.

    ---
    name: invoices
    description: Write an invoice. Use it when the person wants to bill somebody.
    ---
    What to do, in the person's words.

Settings of others in the head, such as tools that go unasked, count for nothing. Pure.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from sayso.protocol.visible import HIDDEN

SKILL_FILE: Final = "SKILL.md"
NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
DESCRIPTION_CHARS: Final = 1_024
BODY_CHARS: Final = 40_000
"""Of one skill: many times the usual ones."""

SKILL_BYTES: Final = 200_000
HEAD_CHARS: Final = 8_000
CATALOGUE_CHARS: Final = 8_000
"""Of all skills in the prompt, some 2,000 tokens."""

_PARTS: Final = re.compile(
    r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$(.*)", re.DOTALL | re.MULTILINE
)


class SkillError(ValueError):
    """This is no skill that can be used; the text says why, as a clause."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill."""

    name: str
    description: str
    folder: Path
    body: str


def parse_skill(text: str, folder: Path) -> Skill:
    """The skill that a file of this folder says. Raises SkillError."""
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
