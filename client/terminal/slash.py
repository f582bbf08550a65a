"""The /commands that a person types in the middle of a conversation."""

from typing import Literal, get_args

Slash = Literal["help", "stop", "quit"]

_ABOUT: dict[Slash, str] = {
    "help": "this list",
    "stop": "stop the answer, or the code that runs (Ctrl-C does the same)",
    "quit": "leave (Ctrl-C twice, or Ctrl-D, do the same)",
}
_ALSO: dict[str, Slash] = {"?": "help", "exit": "quit", "bye": "quit", "q": "quit", "h": "help"}


def parse(line: str) -> Slash | None:
    """Finds the command that a line beginning with `/` means. None: there is none."""
    word = line.removeprefix("/").strip().lower()
    if word in get_args(Slash):
        return next(name for name in _ABOUT if name == word)
    return _ALSO.get(word)


def unknown(line: str) -> str:
    return f"There is no {line.split(maxsplit=1)[0]}; /help lists what there is."


def help_text(keys: list[str]) -> str:
    """What one can do, with the keys that work here first."""
    commands = [f"/{name:<5} {about}" for name, about in _ABOUT.items()]
    return "\n".join([*keys, *commands])
