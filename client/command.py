"""Runs the `sayso` command. Its verbs are entry points of the package, and none is named here.

A verb is an object with `summary`, `add_arguments(parser)` and `run(args) -> int`. Only the one
that is called gets imported, so that `sayso` starts as fast as the verb does.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import Distribution, EntryPoint, distribution
from typing import Protocol, cast

INTERRUPTED = 130
"""What shells expect of a program that was ended with Ctrl-C."""
MISUSED = 2
FAILED = 1
BROKEN = 70
"""A fault of ours (EX_SOFTWARE)."""

_FIRST = ("talk", "ask", "doctor", "serve")
"""What a newcomer needs comes first in the help."""


class Command(Protocol):
    """A verb."""

    summary: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one verb and gives its exit code. Errors become one sentence on stderr."""
    try:
        code = _dispatch(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone; Python would complain again when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        # The root: nobody else is left to catch it.
        if os.environ.get("SAYSO_DEBUG"):
            raise
        cause = _cause(error)
        sys.stderr.write(_sentence(cause) + "\n")
        return FAILED if _ours(cause) else BROKEN
    return code


def _dispatch(argv: list[str]) -> int:
    sayso = distribution("sayso")
    verbs = {entry.name: entry for entry in sayso.entry_points.select(group="sayso.commands")}
    if not argv or argv[0] in {"-h", "--help", "help"}:
        sys.stdout.write(_help(sayso, verbs))
        return 0
    if argv[0] in {"-V", "--version"}:
        sys.stdout.write(f"sayso {sayso.version}\n")
        return 0
    entry = verbs.get(argv[0])
    if entry is None:
        sys.stderr.write(_no_such_verb(argv[0], list(verbs)))
        return MISUSED
    try:
        command = cast("Command", entry.load())
        parser = argparse.ArgumentParser(prog=f"sayso {entry.name}", description=command.summary)
        command.add_arguments(parser)
        return command.run(parser.parse_args(argv[1:]))
    except ModuleNotFoundError as error:
        if os.environ.get("SAYSO_DEBUG") or _is_our_own(error.name):
            raise
        sys.stderr.write(
            f"`sayso {entry.name}` needs the package {error.name}, which is not installed: "
            f"run `{_install(entry)}`.\n"
        )
        return FAILED


def _help(sayso: Distribution, verbs: dict[str, EntryPoint]) -> str:
    names = [*(n for n in _FIRST if n in verbs), *sorted(n for n in verbs if n not in _FIRST)]
    width = max(len(name) for name in names)
    lines = [f"  {name:<{width}}  {_summary(verbs[name])}" for name in names]
    about = str(sayso.metadata["Summary"])
    return "\n".join(
        [
            f"sayso {sayso.version}: {about[0].lower()}{about[1:]}",
            "",
            "usage: sayso VERB [options]    (sayso VERB --help tells more)",
            "",
            *lines,
            "",
        ]
    )


def _summary(entry: EntryPoint) -> str:
    try:
        return cast("Command", entry.load()).summary
    except ImportError:
        return f"(not installed: {_install(entry)})"


def _install(entry: EntryPoint) -> str:
    """How to get what a verb's room needs."""
    extra = "[server]" if entry.value.startswith("sayso.server.") else ""
    return f"pip install 'sayso{extra}'"


def _is_our_own(module: str | None) -> bool:
    return module is None or module == "sayso" or module.startswith("sayso.client")


def _no_such_verb(word: str, verbs: list[str]) -> str:
    from difflib import get_close_matches  # only who mistypes waits for it

    near = get_close_matches(word, verbs, n=1)
    hint = f"did you mean `sayso {near[0]}`?" if near else "`sayso --help` lists what there is."
    return f"There is no `sayso {word}`; {hint}\n"


def _cause(error: Exception) -> Exception:
    """Unwraps what groups of tasks have wrapped."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _ours(error: Exception) -> bool:
    """Errors of our own rooms are sentences for the person."""
    return type(error).__module__.startswith("sayso.")


def _sentence(error: Exception) -> str:
    if _ours(error):
        return str(error)
    return (
        f"Something went wrong inside Sayso ({type(error).__name__}: {error}). "
        "Set SAYSO_DEBUG=1 and run it again to see where."
    )


if __name__ == "__main__":
    sys.exit(main())
