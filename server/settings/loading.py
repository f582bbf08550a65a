"""From the sources to values: which source names a key first, and whether its value is allowed."""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sayso.protocol.home import Home
from sayso.server.settings.defaults import SECTIONS
from sayso.server.settings.errors import NotByProject, UnknownKey, UnusableFile, WrongValue
from sayso.server.settings.keys import keys, meant, meant_variable
from sayso.server.settings.profiles import CHOICE, profile_file, profile_names
from sayso.server.settings.value_types import Key, NotAllowed, Value

PROJECT_FILE = "sayso.toml"
MCP = "mcp"
"""The section of MCP servers, which `mcp_servers.py` reads."""
USER_FILE = "settings.toml"
MAX_FILE_BYTES = 1_000_000
"""Settings are a page of text; anything larger is some other file."""

COMMAND_LINE = "Command line"
"""How its errors begin."""

SourceKind = Literal["flag", "environment", "project", "user", "profile", "default"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from."""

    kind: SourceKind
    where: str = ""
    """The file, the variable or the flag."""

    def __str__(self) -> str:
        return self.where or self.kind


@dataclass(frozen=True, slots=True)
class Readings:
    """What the sources say: the value of every key, and where it came from."""

    values: Mapping[str, Value]
    origins: Mapping[str, Origin]


def user_file(home: Home) -> Path:
    """The person's own settings."""
    return home.config / USER_FILE


def project_file(folder: Path) -> Path:
    """The settings that come with a folder."""
    return folder / PROJECT_FILE


def read(
    home: Home,
    *,
    flags: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Readings:
    """Ask every source for every key. Raises SettingsError at the first thing that is wrong.

    Flags are named by their dotted keys; a text is read as on a command line.
    """
    values: dict[str, Value] = {key.dotted: key.default for key in keys().values()}
    origins = dict.fromkeys(values, Origin("default"))
    own = [
        *_from_file(user_file(home), "user"),
        *_from_file(project_file(folder or Path.cwd()), "project"),
        *_from_environment(os.environ if environment is None else environment),
        *_from_flags(flags or {}),
    ]
    chosen = [(str(value), origin) for dotted, value, origin in own if dotted == CHOICE]
    profile = _from_profile(home, *chosen[-1]) if chosen else []
    for source in (profile, own):
        for dotted, value, origin in source:
            values[dotted] = value
            origins[dotted] = origin
    return Readings(values, origins)


def parse(path: Path) -> dict[str, object]:
    """A settings file as TOML; nothing, if there is no such file. Raises UnusableFile."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"{path} cannot be read ({reason}); make it readable or remove it."
        raise UnusableFile(message) from error
    if len(raw) > MAX_FILE_BYTES:
        message = f"{path} is too large for a settings file; remove it."
        raise UnusableFile(message)
    try:
        return tomllib.loads(raw.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"{path} is not valid TOML ({error}); correct that place or remove the file."
        raise UnusableFile(message) from error


def check(dotted: str, raw: object, where: str) -> Value:
    """The value of a key as a Python or TOML value, or from text. Raises UnknownKey, WrongValue."""
    key = _known(dotted, where)
    try:
        return key.from_text(raw) if isinstance(raw, str) else key.from_toml(raw)
    except NotAllowed:
        raise _wrong(key, raw, where) from None


def _from_flags(flags: Mapping[str, object]) -> Iterator[tuple[str, Value, Origin]]:
    for dotted, raw in flags.items():
        yield dotted, check(dotted, raw, COMMAND_LINE), Origin("flag", "the command line")


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Value, Origin]]:
    by_variable = {key.variable: key for key in keys().values()}
    for variable, text in environment.items():
        if not variable.startswith("SAYSO_"):
            continue
        if key := by_variable.get(variable):
            try:
                value = key.from_text(text)
            except NotAllowed:
                raise _wrong(key, text, f"{variable} in the environment") from None
            yield key.dotted, value, Origin("environment", variable)
        elif near := meant_variable(variable):
            message = f"The environment variable {variable} is no setting; did you mean {near}?"
            raise UnknownKey(message)


def _from_file(path: Path, kind: Literal["user", "project"]) -> Iterator[tuple[str, Value, Origin]]:
    for section, table in parse(path).items():
        if not isinstance(table, dict):
            raise _unknown(section, str(path))
        if section == MCP:
            if kind == "project":
                raise NotByProject(f"{path} names MCP servers; add them with `sayso mcp add`.")
            continue
        if section not in SECTIONS and not table:
            raise _unknown(section, str(path))
        for name, raw in table.items():
            key = _known(f"{section}.{name}", str(path))
            if kind == "project" and not key.by_project:
                message = (
                    f"{path} sets {key.dotted}, which no project decides for you; "
                    f"set it yourself with `sayso settings set {key.dotted} VALUE`."
                )
                raise NotByProject(message)
            try:
                value = key.from_toml(raw)
            except NotAllowed:
                raise _wrong(key, raw, str(path)) from None
            yield key.dotted, value, Origin(kind, str(path))


def _from_profile(home: Home, name: str, named: Origin) -> list[tuple[str, Value, Origin]]:
    path = profile_file(home, name)
    if path is None:
        there = ", ".join(profile_names(home))
        raise WrongValue(f"{named}: there is no profile {name!r}; there are {there}.")
    origin = Origin("profile", f"the profile {name}")
    settings = [(dotted, value, origin) for dotted, value, _ in _from_file(path, "user")]
    if any(dotted == CHOICE for dotted, _, _ in settings):
        raise WrongValue(f"{path}: a profile cannot name another one; take {CHOICE} out of it.")
    return settings


def _known(dotted: str, where: str) -> Key:
    key = keys().get(dotted)
    if key is None:
        raise _unknown(dotted, where)
    return key


def _unknown(name: str, where: str) -> UnknownKey:
    near = meant(name)
    hint = f"did you mean {near}?" if near else "`sayso settings` lists all that there are."
    return UnknownKey(f"{where}: {name} is no setting; {hint}")


def _wrong(key: Key, raw: object, where: str) -> WrongValue:
    shown = repr(raw) if isinstance(raw, str) else str(raw)
    return WrongValue(f"{where}: {key.dotted} is {shown[:80]}, but it must be {key.allowed}.")
