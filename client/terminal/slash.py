"""Parses the /commands that a person types in a conversation.

A few are the terminal's own; the others are the server's, which tells in its welcome which there
are. Names may be shortened as long as they are clear: `/conv` is `/conversations`.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from sayso.client.session.one_shot import COMMAND

Slash = Literal["help", "stop", "quit"]

_ABOUT: dict[Slash, str] = {
    "help": "this list",
    "stop": "stop the answer, or the code that runs (Ctrl-C does the same)",
    "quit": "leave (Ctrl-C twice, or Ctrl-D, do the same)",
}
_ALSO: dict[str, Slash] = {"?": "help", "exit": "quit", "bye": "quit", "q": "quit", "h": "help"}


def parse(line: str) -> Slash | None:
    """Finds the terminal's own command that a line with `/` means. None: there is none."""
    word = line.removeprefix("/").strip().lower()
    if word in get_args(Slash):
        return next(name for name in _ABOUT if name == word)
    return _ALSO.get(word)


def for_server(line: str, commands: Mapping[str, str]) -> tuple[str, str] | None:
    """The server's command that a line means, and what follows it. None: there is none.

    One that was not told of is the server's to know: it may be new since.
    """
    word, _, rest = line.removeprefix("/").strip().partition(" ")
    word = word.lower()
    if word not in commands:
        near = [name for name in _known(commands) if word and name.startswith(word)]
        if near and (len(near) > 1 or near[0] not in commands):
            return None
        if not (near or COMMAND.fullmatch(word)):
            return None
        word = near[0] if near else word
    return word, rest.strip()


def complete(line: str, commands: Mapping[str, str]) -> str:
    """The line with its command completed, as far as it is clear."""
    word = line.removeprefix("/").lower()
    near = [name for name in _known(commands) if name.startswith(word)]
    if not line.startswith("/") or " " in line or not near:
        return line
    if len(near) == 1:
        return f"/{near[0]} "
    shared = near[0]
    while not all(name.startswith(shared) for name in near):
        shared = shared[:-1]
    return f"/{shared}"


def hint(line: str, commands: Mapping[str, str]) -> str:
    """What the command that is being typed may become."""
    word = line.removeprefix("/").partition(" ")[0].lower()
    known = _known(commands)
    if word in known:
        return f"/{word}: {known[word]}"
    near = [name for name in known if name.startswith(word)]
    return "  ".join(f"/{name}" for name in near) or "/help lists what there is"


def unknown(line: str) -> str:
    return f"There is no {line.split(maxsplit=1)[0]}; /help lists what there is."


def help_text(keys: list[str], commands: Mapping[str, str] | None = None) -> str:
    """What one can do, with the keys that work here first."""
    known = _known(commands or {})
    width = max(map(len, known))
    lines = [f"/{name:<{width}} {about}" for name, about in known.items()]
    return "\n".join([*keys, *lines])


def _known(commands: Mapping[str, str]) -> dict[str, str]:
    return {**commands, **{str(name): about for name, about in _ABOUT.items()}}
