"""Changes one key of a settings file and leaves every other character as the person wrote it.

The result is parsed again before it replaces the file: if it does not say exactly what was meant,
nothing is written and the person is told to edit by hand. Unusual TOML costs a refusal, never data.
"""

import copy
import json
import os
import re
import tempfile
import tomllib
from pathlib import Path

from sayso.server.settings.errors import UnusableFile
from sayso.server.settings.keys import Value
from sayso.server.settings.loading import check, parse

HEADER = re.compile(r"^\s*\[\s*(?P<name>[A-Za-z0-9_.-]+)\s*\]\s*(#.*)?$")


def set_in_file(path: Path, dotted: str, raw: object) -> Value:
    """Set one key; a text is read as on a command line. Raises SettingsError.

    The file is replaced atomically, readable by its owner alone, and made if there is none.
    """
    value = check(dotted, raw, "the command line")
    _change(path, dotted, value)
    return value


def unset_in_file(path: Path, dotted: str) -> None:
    """Remove one key, so that its default holds again. Raises SettingsError."""
    _change(path, dotted, None)


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
    wanted = _with(before, section, name, value)
    if wanted == before:
        return
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    edited = _edited(text, section, name, value)
    try:
        faithful = tomllib.loads(edited) == wanted
    except tomllib.TOMLDecodeError:
        faithful = False
    if not faithful:
        line = f"{name} = {to_toml(value)}" if value is not None else f"without {name}"
        message = (
            f"{path} is written in a way that cannot be changed here without losing something; "
            f"edit it yourself: [{section}] {line}."
        )
        raise UnusableFile(message)
    _replace(path, edited)


def _with(
    before: dict[str, object], section: str, name: str, value: Value | None
) -> dict[str, object]:
    after = copy.deepcopy(before)
    table = after.setdefault(section, {})
    if not isinstance(table, dict):
        return after
    if value is None:
        table.pop(name, None)
        if section not in before:
            del after[section]
    else:
        table[name] = list(value) if isinstance(value, tuple) else value
    return after


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
    while end <= len(lines) and not _is_toml("".join(lines[start:end])):
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
        if _is_toml(entry[:place]):
            return entry[place:].strip()
    return ""


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _replace(path: Path, text: str) -> None:
    target = path.resolve()  # a linked settings file stays a link
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
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
