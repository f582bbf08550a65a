"""Tells which errors of syntax an edit brings: those that were not there before it. Pure."""

import ast
import json
import posixpath
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

MOST_CHARS: Final = 1_000_000
"""Of a file that is looked through."""
ERRORS_TOLD: Final = 3

GRAMMARS: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys((".py", ".pyi"), ("tree_sitter_python", "language")),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), ("tree_sitter_javascript", "language")),
    **dict.fromkeys((".ts", ".mts", ".cts"), ("tree_sitter_typescript", "language_typescript")),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".go": ("tree_sitter_go", "language"),
    ".rs": ("tree_sitter_rust", "language"),
    ".java": ("tree_sitter_java", "language"),
    **dict.fromkeys((".c", ".h"), ("tree_sitter_c", "language")),
    **dict.fromkeys(
        (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), ("tree_sitter_cpp", "language")
    ),
}
"""Which package and function has the grammar of a kind of file."""


def new_errors(name: str, before: str, after: str) -> list[str]:
    """Sentences about what no longer reads as its language, where it did before."""
    if max(len(before), len(after)) > MOST_CHARS:
        return []
    ending = posixpath.splitext(name)[1].lower()
    known = {what for _, what in _errors(ending, before)}
    fresh = [(line, what) for line, what in _errors(ending, after) if what not in known]
    # One error that was there already may only have moved.
    count = len(list(_errors(ending, before)))
    if len(list(_errors(ending, after))) <= count and count:
        return []
    return [f"{name}, line {line}: {what}" for line, what in fresh[:ERRORS_TOLD]]


def _errors(ending: str, text: str) -> Iterator[tuple[int, str]]:
    if ending in (".py", ".pyi"):
        yield from _python(text)
    elif ending == ".json":
        yield from _json(text)
    elif ending == ".toml":
        yield from _toml(text)
    elif ending in GRAMMARS:
        yield from _tree(ending, text)


def _python(text: str) -> Iterator[tuple[int, str]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        yield error.lineno or 1, f"this is no Python any more: {error.msg}."
    except (ValueError, RecursionError, MemoryError):
        return


def _json(text: str) -> Iterator[tuple[int, str]]:
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        yield error.lineno, f"this is no JSON any more: {error.msg}."
    except (ValueError, RecursionError):
        return


def _toml(text: str) -> Iterator[tuple[int, str]]:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        yield 1, f"this is no TOML any more: {error}."
    except (ValueError, RecursionError):
        return


def _tree(ending: str, text: str) -> Iterator[tuple[int, str]]:
    parser = parser_for(ending)
    if parser is None:
        return
    waiting = [parser.parse(text.encode()).root_node]
    while waiting:
        node = waiting.pop()
        if not node.has_error:
            continue
        if node.is_missing:
            yield node.start_point[0] + 1, f"{node.type} is missing."
        elif node.type == "ERROR":
            words = " ".join((node.text or b"").decode(errors="replace").split())[:40]
            yield node.start_point[0] + 1, f"this can't be read: {words}"
            continue
        waiting.extend(reversed(node.children))


@cache
def parser_for(ending: str) -> Any:  # noqa: ANN401 - a parser of tree-sitter, which the server has not
    """What parses files with this ending; None where there is no grammar."""
    if ending not in GRAMMARS:
        return None
    package, function = GRAMMARS[ending]
    try:
        tree_sitter = import_module("tree_sitter")
        language = tree_sitter.Language(getattr(import_module(package), function)())
    except ImportError:
        return None
    return tree_sitter.Parser(language)
