"""The person's own commands: a file `commands/NAME.md` each, and each of their skills.

Such a command asks Sayso what stands in its file, as if the person had typed it. It grants nothing.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml

from sayso.protocol.visible import HIDDEN
from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.slash.command import Command

NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
ARGUMENTS: Final = "$ARGUMENTS"
"""Stands in a file for what follows the command's name; without it, that comes at the end."""

MOST: Final = 200
"""Files, and skills."""
TEXT_CHARS: Final = 16_000
"""Of one request that a command makes."""
_FILE_BYTES: Final = 4 * TEXT_CHARS
_ABOUT_CHARS: Final = 80

_HEAD: Final = re.compile(r"\ufeff?---[ \t]*\n(.*?)^---[ \t]*$\n?(.*)", re.DOTALL | re.MULTILINE)


class OwnCommands:
    """Gone through, it is the commands that are there now."""

    def __init__(self, folder: Path, skills: Callable[[], Mapping[str, str]]) -> None:
        """`skills`: what each of the person's skills is for, by its name."""
        self._folder = folder
        self._skills = skills

    def __iter__(self) -> Iterator[Command]:
        """A file comes before a skill of the same name."""
        found: dict[str, Command] = {}
        for path in self._files():
            if command := _of_file(path):
                found.setdefault(command.name, command)
        for name, description in list(self._skills().items())[:MOST]:
            found.setdefault(name, of_skill(name, description))
        yield from found.values()

    def _files(self) -> Sequence[Path]:
        try:
            return sorted(self._folder.glob("*.md"))[:MOST]
        except OSError:
            return ()


def _of_file(path: Path) -> Command | None:
    if not NAME.fullmatch(path.stem):
        return None
    try:
        with path.open("rb") as file:
            text = file.read(_FILE_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return None
    about, body = _parts(HIDDEN.sub("", text.replace("\r\n", "\n")))
    if not body:
        return None

    async def run(context: CommandContext) -> CommandResult:
        return _asking(filled(body, context.text.strip()))

    return Command(path.stem, about or "your own command", run, "talk")


def of_skill(name: str, description: str) -> Command:
    """The command that asks for what a skill is for."""

    async def run(context: CommandContext) -> CommandResult:
        wanted = context.text.strip()
        return _asking(f"Use the {name} skill{f': {wanted}' if wanted else '.'}")

    return Command(name, _in_a_line(f"your skill: {description}"), run, "talk")


def filled(body: str, arguments: str) -> str:
    """What a file asks for with these words behind its name."""
    if ARGUMENTS in body:
        return body.replace(ARGUMENTS, arguments)
    return f"{body}\n\n{arguments}" if arguments else body


def _asking(text: str) -> CommandResult:
    if len(text) > TEXT_CHARS:
        return CommandResult(
            f"That asks for more than {TEXT_CHARS:,} characters at once.", ok=False
        )
    return CommandResult("", asks=text)


def _parts(text: str) -> tuple[str, str]:
    """What a file says it is for, and what it asks."""
    match = _HEAD.match(text)
    if match is None:
        return "", text.strip()
    try:
        head = yaml.safe_load(match[1])
    except yaml.YAMLError:
        head = None
    about = head.get("description") if isinstance(head, dict) else None
    return _in_a_line(about) if isinstance(about, str) else "", match[2].strip()


def _in_a_line(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _ABOUT_CHARS else f"{line[: _ABOUT_CHARS - 1]}…"
