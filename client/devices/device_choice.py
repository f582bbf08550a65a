"""Keeps the microphone and loudspeaker that the person chose, in a small file of this client."""

import json
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from sayso.client.errors import ClientError
from sayso.protocol.home import Home

FILE = "client.toml"
LONGEST_NAME = 200
"""Characters; no sound card has a longer name."""


class NotRemembered(ClientError):
    """The choice cannot be read or kept. The sentence says what to do."""


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """Parts of names; an empty one means the system's own choice."""

    microphone: str = ""
    loudspeaker: str = ""


def recall(home: Home) -> DeviceChoice:
    """What was chosen before."""
    path = home.config / FILE
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
    except FileNotFoundError:
        return DeviceChoice()
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise NotRemembered(f"{path} cannot be read: {error}. Mend it, or delete it.") from error
    return DeviceChoice(_text(found, "microphone"), _text(found, "loudspeaker"))


def remember(
    home: Home, *, microphone: str | None = None, loudspeaker: str | None = None
) -> DeviceChoice:
    """Keeps a new choice; None leaves what there is."""
    chosen = recall(home)
    if microphone is not None:
        chosen = replace(chosen, microphone=microphone[:LONGEST_NAME])
    if loudspeaker is not None:
        chosen = replace(chosen, loudspeaker=loudspeaker[:LONGEST_NAME])
    path = home.config / FILE
    lines = [
        "# Written by `sayso devices`. Parts of names; empty is the system's own choice.",
        f"microphone = {_quoted(chosen.microphone)}",
        f"loudspeaker = {_quoted(chosen.loudspeaker)}",
    ]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(f"{path}.new")
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise NotRemembered(f"{path} cannot be written: {error.strerror}.") from error
    return chosen


def _text(found: dict[str, object], key: str) -> str:
    value = found.get(key, "")
    return value if isinstance(value, str) else ""


def _quoted(text: str) -> str:
    # A JSON string without control characters is a basic string of TOML.
    return json.dumps("".join(letter for letter in text if letter.isprintable()))
