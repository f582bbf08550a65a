"""Finds folders and files that a person names: "tidy my Downloads", "add up ~/may.csv".

Naming one grants nothing. It is what the person is asked about, before anything else, as soon as
code needs it: then they decide once, where otherwise code would fail and the model would have to
ask. What is offered is found here by the server, from the person's own words and the code.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from sayso.server.agent.permissions.access_syntax import RequestedFolder
from sayso.server.policy.actions import UNKNOWN, home_as_tilde
from sayso.server.policy.code_reader import read
from sayso.server.runtimes.grants import GrantError, folder, of_the_system, personal

MOST: Final = 4
"""In one request: more are not named in a sentence."""

LONGEST: Final = 4_000
"""Characters of a request that are looked through: who pastes a page into it names no folder."""

_QUOTED: Final = re.compile(r"([\"'`])(~?/.+?)\1")
_BARE: Final = re.compile(r"(?<![\w\"'`/~.:])(~?/[^\s\"'`,;:!?)]+)")
_KIND: Final = r"desktop|documents|downloads|music|pictures|videos"
_USUAL: Final = re.compile(rf"\bmy ({_KIND})\b|\b({_KIND}) (?:folder|directory)\b", re.IGNORECASE)
_OWN: Final = re.compile(r"\bmy ([\w.-]+(?: [\w.-]+)?) (?:folder|directory)\b", re.IGNORECASE)

_CHANGING: Final = re.compile(
    r"\b(tidy|sort|clean|organi[sz]e|rename|move|delete|remove|save|store|write|put|add|append|edit"
    r"|change|replace|fix|update|create|export|convert|shrink|resize|pack|unpack|unzip|back up"
    r"|empty)\b",
    re.IGNORECASE,
)
"""Who asks for this wants something to be different afterwards."""

_CHANGING_A_FILE: Final = re.compile(
    r"\b(sort|clean up|rename|move|delete|remove|append|edit|change|replace|fix|correct|update)\b",
    re.IGNORECASE,
)
"""Who asks for this and names a file wants that very file to be different. What is drawn of it,
saved from it, added up in it or made of it is another one."""


def named_places(text: str) -> tuple[str, ...]:
    """What is named of the person's own, and there, as whole paths. Looks at the disk."""
    found: dict[str, None] = {}
    for name in _names(text[:LONGEST]):
        try:
            place = folder(personal(name), "read").path
        except GrantError:
            continue
        if not of_the_system(place) and place != Path.home():
            found[str(place)] = None
    return tuple(found)[:MOST]


def needed(
    places: Iterable[str], asked: str, language: str, code: str, workspace: str
) -> tuple[RequestedFolder, ...]:
    """Of what was named, what this code is about, and for what. Pure."""
    about = [
        place
        for place in places
        if not Path(place).is_relative_to(workspace) and _mentions(code, Path(place))
    ]
    if not about:
        return ()
    written = _written(language, code)

    def writes(place: str) -> bool:
        changing = _CHANGING_A_FILE if Path(place).suffix else _CHANGING
        return bool(changing.search(asked)) or any(_lies_in(each, place) for each in written)

    return tuple(RequestedFolder(each, "write" if writes(each) else "read") for each in about)


def _names(text: str) -> Iterator[str]:
    quoted = list(_QUOTED.finditer(text))
    yield from (found[2] for found in quoted)
    rest = _QUOTED.sub(" ", text)
    yield from (found[1].rstrip(".") for found in _BARE.finditer(rest))
    yield from (f"~/{found[1] or found[2]}" for found in _USUAL.finditer(rest))
    wanted = [found[1].casefold() for found in _OWN.finditer(rest)]
    if wanted:
        yield from (str(one) for one in _at_home() if one.name.casefold() in wanted)


def _at_home() -> Iterator[Path]:
    try:
        yield from (one for one in Path.home().iterdir() if one.is_dir())
    except OSError:
        return


def _mentions(code: str, place: Path) -> bool:
    return re.search(rf"(?<!\w){re.escape(place.name)}(?!\w)", code) is not None


def _written(language: str, code: str) -> list[str]:
    """What the code would change, as far as it can be read."""
    return [each.path for each in read(language, code).paths if each.how != "read"]


def _lies_in(path: str, place: str) -> bool:
    """Whether it may: what is only known when the code runs may lie anywhere."""
    home = str(Path.home())
    path, place = home_as_tilde(path, home), home_as_tilde(place, home)
    return path == place or path.startswith((UNKNOWN, f"{place}/"))
