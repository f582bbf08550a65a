"""Changes one key of a settings file and leaves every other character as the person wrote it.

The result is parsed again before it replaces the file: if it does not say exactly what was meant,
nothing is written and the person is told to edit by hand. Unusual TOML costs a refusal, never data.
"""

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

from sayso.server.settings.errors import UnusableFile
from sayso.server.settings.loading import COMMAND_LINE, check, parse
from sayso.server.settings.value_types import Value

HEADER = re.compile(r"^\s*\[\s*(?P<name>[A-Za-z0-9_.-]+)\s*\]\s*(#.*)?$")


def set_in_file(path: Path, dotted: str, raw: object) -> Value:
    """Set one key; a text is read as on a command line. Raises SettingsError.

    The file is replaced atomically, readable by its owner alone, and made if there is none.
    """
    value = check(dotted, raw, COMMAND_LINE)
    _change(path, dotted, value)
    return value


def unset_in_file(path: Path, dotted: str) -> None:
    """Remove one key, so that its default holds again. Raises SettingsError."""
    _change(path, dotted, None)


def add_table(path: Path, names: tuple[str, str], values: Mapping[str, Value]) -> None:
    """Add a table `[section.name]` in place of the one that there may be. Raises SettingsError."""
    remove_table(path, names)
    text, before = _text(path), parse(path)
    lines = [f"{name} = {to_toml(value)}" for name, value in values.items()]
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    edited = "\n".join([f"{text}{gap}[{'.'.join(names)}]", *lines, ""])
    _replace_if(path, edited, _with_table(before, names, _plain(values)))


def remove_table(path: Path, names: tuple[str, str]) -> bool:
    """Remove a table `[section.name]`; false if there is none. Raises SettingsError."""
    section, name = names
    before = parse(path)
    tables = before.get(section, {})
    if not isinstance(tables, dict) or name not in tables:
        return False
    lines = _text(path).splitlines(keepends=True)
    start = _section_start(lines, f"{section}.{name}")
    end = start or 0
    while end < len(lines) and not HEADER.match(lines[end]):
        end += 1
    edited = "".join([*lines[: (start or 1) - 1], *lines[end:]])
    _replace_if(path, edited, _with_table(before, names, None))
    return True


def _replace_if(path: Path, text: str, wanted: dict[str, object]) -> None:
    """Replace the file if this is what it is to say. Raises UnusableFile."""
    if _parsed(text) != wanted:
        raise UnusableFile(
            f"{path} is written in a way that cannot be changed here without losing something;"
            " edit it yourself."
        )
    _replace(path, text)


def _with_table(
    before: dict[str, object], names: tuple[str, str], table: dict[str, object] | None
) -> dict[str, object]:
    section, name = names
    tables = before.get(section, {})
    kept = (
        {each: old for each, old in tables.items() if each != name}
        if isinstance(tables, dict)
        else {}
    )
    if table is not None:
        kept[name] = table
    after = {each: old for each, old in before.items() if each != section}
    return {**after, section: kept} if kept else after


def _plain(values: Mapping[str, Value]) -> dict[str, object]:
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def to_toml(value: Value) -> str:
    """A value in TOML's spelling."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case tuple():
            return "[" + ", ".join(to_toml(one) for one in value) + "]"
        case _:
            return repr(value)


def _change(path: Path, dotted: str, value: Value | None) -> None:
    before = parse(path)
    section, _, name = dotted.partition(".")
    table = before.get(section, {})
    if not isinstance(table, dict):
        raise _by_hand(path, section, name, value)
    wanted = {**before, section: _with(table, name, value)}
    if value is None and name not in table:
        return
    text = _text(path)
    edited = _edited(text.replace("\r\n", "\n"), section, name, value)
    if "\r\n" in text:
        edited = edited.replace("\n", "\r\n")
    if _parsed(edited) != wanted:
        raise _by_hand(path, section, name, value)
    _replace(path, edited)


def _with(table: dict[str, object], name: str, value: Value | None) -> dict[str, object]:
    """The table as it should be."""
    after = {key: old for key, old in table.items() if key != name}
    if value is not None:
        after[name] = list(value) if isinstance(value, tuple) else value
    return after


def _text(path: Path) -> str:
    return path.read_bytes().decode() if path.exists() else ""


def _parsed(text: str) -> dict[str, object] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _by_hand(path: Path, section: str, name: str, value: Value | None) -> UnusableFile:
    line = f"without {name}" if value is None else f"{name} = {to_toml(value)}"
    return UnusableFile(
        f"{path} is written in a way that cannot be changed here without losing something; "
        f"edit it yourself: [{section}] {line}."
    )


def _edited(text: str, section: str, name: str, value: Value | None) -> str:
    lines = text.splitlines(keepends=True)
    start = _section_start(lines, section)
    if start is None:
        if value is None:
            return text
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[{section}]\n{name} = {to_toml(value)}\n"
    end = start
    while end < len(lines) and not HEADER.match(lines[end]):
        if re.match(rf"^\s*{re.escape(name)}\s*=", lines[end]):
            return _with_entry_replaced(lines, end, name, value)
        end += 1
    if value is None:
        return text
    while end > start and not lines[end - 1].strip():
        end -= 1
    if end and not lines[end - 1].endswith("\n"):
        lines[end - 1] += "\n"
    lines.insert(end, f"{name} = {to_toml(value)}\n")
    return "".join(lines)


def _section_start(lines: list[str], section: str) -> int | None:
    for number, line in enumerate(lines):
        header = HEADER.match(line)
        if header and header["name"] == section:
            return number + 1
    return None


def _with_entry_replaced(lines: list[str], start: int, name: str, value: Value | None) -> str:
    end = start + 1
    while end <= len(lines) and _parsed("".join(lines[start:end])) is None:
        end += 1
    entry = "".join(lines[start:end])
    if value is None:
        return "".join(lines[:start] + lines[end:])
    indent = entry[: len(entry) - len(entry.lstrip())]
    comment = _comment(entry)
    ending = f"  {comment}\n" if comment else "\n"
    changed = f"{indent}{name} = {to_toml(value)}{ending}"
    return "".join([*lines[:start], changed, *lines[end:]])


def _comment(entry: str) -> str:
    """The comment behind the value: from the first `#` before which the entry is already whole."""
    for place in (match.start() for match in re.finditer("#", entry)):
        if _parsed(entry[:place]) is not None:
            return entry[place:].strip()
    return ""


def _replace(path: Path, text: str) -> None:
    target = path.resolve()  # a linked settings file stays a link
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        reason = error.strerror or str(error)
        message = f"{path} cannot be written ({reason}); it is left as it was."
        raise UnusableFile(message) from error
