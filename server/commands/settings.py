"""`sayso settings`: every value and where it came from, what one means, and how to change it."""

import argparse
import json

from sayso.protocol.home import Home
from sayso.server.settings import UnknownKey, set_in_file, unset_in_file, user_file
from sayso.server.settings.keys import keys, meant
from sayso.server.settings.loading import Readings, read
from sayso.server.settings.reference import meanings
from sayso.server.settings.value_types import Key, Value
from sayso.server.settings.writing import to_toml

MISUSED = 2
WIDEST = 60
"""Characters of a value in the list; `sayso settings KEY` shows it whole."""


class SettingsCommand:
    summary = "show the settings and where each came from; change one"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.usage = (
            "sayso settings [--json] [KEY]\n"
            "       sayso settings set KEY VALUE...\n"
            "       sayso settings unset KEY"
        )
        parser.add_argument(
            "words", nargs="*", metavar="KEY | set KEY VALUE... | unset KEY", help="what to do"
        )
        parser.add_argument("--json", action="store_true", help="for programs")

    def run(self, arguments: argparse.Namespace) -> int:
        home = Home.find()
        match arguments.words:
            case ["set", key, *values] if values:
                return _set(home, key, values)
            case ["unset", key]:
                return _unset(home, key)
            case ["set" | "unset", *_]:
                print("Name the setting and its value: `sayso settings set voice.speed 1.2`.")
                return MISUSED
            case []:
                _show(read(home), as_json=arguments.json)
            case [name]:
                _explain(_known(name), read(home), as_json=arguments.json)
            case _:
                print("One setting at a time: `sayso settings voice.speed`.")
                return MISUSED
        return 0


def _set(home: Home, name: str, values: list[str]) -> int:
    key = _known(name)
    path = user_file(home)
    raw = ",".join(values) if key.kind == "list of texts" else " ".join(values)
    value = set_in_file(path, name, raw)
    print(f"{name} is {to_toml(value)} now, in {path}. It holds from the server's next start.")
    _tell_what_wins(home, key, value)
    return 0


def _unset(home: Home, name: str) -> int:
    key = _known(name)
    unset_in_file(user_file(home), name)
    print(f"{name} is no longer in {user_file(home)}; its default is {to_toml(key.default)}.")
    _tell_what_wins(home, key, key.default)
    return 0


def _tell_what_wins(home: Home, key: Key, value: Value) -> None:
    """Say so if another source names the key and wins."""
    readings = read(home)
    if readings.values[key.dotted] != value:
        origin = readings.origins[key.dotted]
        print(f"But {origin} says {to_toml(readings.values[key.dotted])}, and that wins.")


def _show(readings: Readings, *, as_json: bool) -> None:
    if as_json:
        record = {name: _record(key, readings) for name, key in keys().items()}
        print(json.dumps(record, indent=1, ensure_ascii=False))
        return
    shown = {name: _brief(to_toml(value)) for name, value in readings.values.items()}
    first = max(map(len, shown))
    second = max(map(len, shown.values()))
    for name, value in shown.items():
        print(f"{name:<{first}}  {value:<{second}}  {readings.origins[name]}")
    print("\n`sayso settings KEY` explains one; `sayso settings set KEY VALUE` changes it.")


def _brief(value: str) -> str:
    return value if len(value) <= WIDEST else f"{value[: WIDEST - 1]}…"


def _explain(key: Key, readings: Readings, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_record(key, readings), indent=1, ensure_ascii=False))
        return
    print(f"{key.dotted} = {to_toml(readings.values[key.dotted])}")
    print(f"  from      {readings.origins[key.dotted]}")
    print(f"  default   {to_toml(key.default)}")
    print(f"  allowed   {key.allowed}")
    print(f"  variable  {key.variable}")
    print(f"\n{meanings()[key.dotted]}")


def _record(key: Key, readings: Readings) -> dict[str, object]:
    origin = readings.origins[key.dotted]
    return {
        "value": readings.values[key.dotted],
        "default": key.default,
        "origin": origin.kind,
        "where": origin.where,
        "allowed": key.allowed,
        "variable": key.variable,
        "meaning": meanings()[key.dotted],
    }


def _known(name: str) -> Key:
    key = keys().get(name)
    if key is None:
        near = meant(name)
        hint = f"did you mean {near}?" if near else "`sayso settings` lists all that there are."
        message = f"{name} is no setting; {hint}"
        raise UnknownKey(message)
    return key


command = SettingsCommand()
