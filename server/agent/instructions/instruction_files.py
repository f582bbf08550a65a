"""Reads how a folder wants those who work in it to work: AGENTS.md, or else CLAUDE.md, and its
skills.

They are opened from a descriptor of the folder, without following a link, and only bytes are read.
"""

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from sayso.server.agent.instructions.skill import (
    NAME,
    SKILL_BYTES,
    SKILL_FILE,
    Skill,
    SkillError,
    parse_skill,
)
from sayso.server.runtimes.protection import paths_beneath
from sayso.server.runtimes.protection.folder_identity import Identity, open_folder

NAMES: Final = ("AGENTS.md", "CLAUDE.md")
"""The first that is there counts."""

SHOWN_CHARS: Final = 32_000
"""Of one file: what a person can still look through before a yes. No more is told to a model."""

MOST_BYTES: Final = 1024**2
"""A longer file is no page of instructions, and is left alone."""

SKILLS: Final = ".agents/skills"
"""Where a folder's skills lie."""

SKILLS_MOST: Final = 50
"""Of one folder: more were looked through by nobody."""

ENTRIES_MOST: Final = 1_000
"""Names in that folder that are looked at: code may have made very many."""


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """As it was when it was read."""

    folder: str
    """A whole path."""
    name: str
    text: str
    """As much of it as is shown, and told at most."""
    cut: bool
    """Whether there is more of it."""
    digest: str
    """Of the folder's path, the names and all bytes: what a yes is bound to."""
    skills: tuple[Skill, ...] = ()
    """Those that are shown, whole."""
    shown: str = ""
    """The text, and the files of the skills."""
    left_out: tuple[str, ...] = ()
    """What is wrong with other skills, in sentences."""

    @property
    def title(self) -> str:
        """What it is called before a person."""
        if not self.skills:
            return self.name
        names = ", ".join(skill.name for skill in self.skills)
        several = "skills" if len(self.skills) > 1 else "skill"
        skills = f"the {several} {names}"
        return f"{self.name} and {skills}" if self.text else skills

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it was read from, below the folder."""
        of_skills = (f"{SKILLS}/{skill.folder.name}/{SKILL_FILE}" for skill in self.skills)
        return (self.name, *of_skills)


def read_instructions(folder: Path, known: Identity | None = None) -> InstructionFile | None:
    """What is there; None where nothing is. `known`: which folder it must be. Looks at the disk."""
    try:
        root = open_folder(folder, known)
    except OSError:
        return None
    try:
        skills = _skill_files(root)
        for name in NAMES:
            data = _read(root, name)
            if data.strip():
                return _file(folder, name, data, skills)
        only_skills = _file(folder, SKILLS, b"", skills)
        return only_skills if only_skills.skills else None
    finally:
        os.close(root)


def _read(root: int, name: str) -> bytes:
    try:
        return paths_beneath.text(root, name, MOST_BYTES) or b""
    except OSError:
        return b""


def _skill_files(root: int) -> dict[str, bytes]:
    """What the folder's skills say, by the names of their own folders."""
    found: dict[str, bytes] = {}
    with contextlib.suppress(OSError), paths_beneath.folder(root, SKILLS) as holder:
        with os.scandir(holder) as entries:
            names = [entry.name for entry in islice(entries, ENTRIES_MOST)]
        for name in sorted(filter(NAME.fullmatch, names))[:SKILLS_MOST]:
            with contextlib.suppress(OSError), paths_beneath.folder(holder, name) as place:
                found[name] = paths_beneath.text(place, SKILL_FILE, SKILL_BYTES) or b""
    return {name: data for name, data in found.items() if data.strip()}


def _file(folder: Path, name: str, data: bytes, skill_files: dict[str, bytes]) -> InstructionFile:
    whole = data.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    text = shortened(whole, SHOWN_CHARS)
    skills, left_out, shown = [], [], [text] if text else []
    for place, bytes_of in skill_files.items():
        at = f"{SKILLS}/{place}/{SKILL_FILE}"
        try:
            said = bytes_of.decode()
            skill = parse_skill(said, folder / SKILLS / place)
        except UnicodeDecodeError:
            left_out.append(f"{at} is left out: it is no text in UTF-8.")
        except SkillError as problem:
            left_out.append(f"{at} is left out: {problem}.")
        else:
            part = f"── {at}\n{said.strip()}"
            if sum(map(len, shown)) + len(part) > SHOWN_CHARS:
                left_out.append(f"{at} is left out: it is too long to be shown with the rest.")
            else:
                skills.append(skill)
                shown.append(part)
    bound = json.dumps([str(folder), name]).encode() + data
    for place, bytes_of in skill_files.items():
        bound += json.dumps([place, len(bytes_of)]).encode() + bytes_of
    return InstructionFile(
        str(folder),
        name,
        text,
        text != whole,
        hashlib.sha256(bound).hexdigest(),
        tuple(skills),
        "\n\n".join(shown),
        tuple(left_out),
    )


def shortened(text: str, most: int) -> str:
    """The lines that fit into so many characters."""
    if len(text) <= most:
        return text
    return text[: text.rfind("\n", 0, most) + 1 or most].rstrip()


def is_instruction_file(path: str) -> bool:
    """Whether a file is one by its name, in any letters: what says how to work is nobody's plain
    edit."""
    names = {name.casefold() for name in (*NAMES, SKILL_FILE)}
    return path.rpartition("/")[2].casefold() in names
