"""Finds what files of code define, by their grammars."""

import posixpath
import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final

from .syntax import GRAMMARS, parser_for

MOST_BYTES: Final = 400_000
"""Of a file whose symbols are looked for: more was made by a program."""
SYMBOLS_MOST: Final = 2_000
"""Of one file."""
SIGNATURE_CHARS: Final = 110

_JAVASCRIPT: Final = """
(function_declaration name: (_) @name) @is
(generator_function_declaration name: (_) @name) @is
(class_declaration name: (_) @name) @is
(method_definition name: (_) @name) @is
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @is
"""
_TYPESCRIPT: Final = (
    _JAVASCRIPT
    + """
(abstract_class_declaration name: (_) @name) @is
(interface_declaration name: (_) @name) @is
(type_alias_declaration name: (_) @name) @is
(enum_declaration name: (_) @name) @is
"""
)
_C: Final = """
(function_definition declarator: (_) @name) @is
(struct_specifier name: (_) @name body: (_)) @is
(enum_specifier name: (_) @name body: (_)) @is
(type_definition declarator: (_) @name) @is
"""
_QUERIES: Final = {
    "tree_sitter_python": """
(function_definition name: (_) @name) @is
(class_definition name: (_) @name) @is
""",
    "tree_sitter_javascript": _JAVASCRIPT,
    "tree_sitter_typescript": _TYPESCRIPT,
    "tree_sitter_go": """
(function_declaration name: (_) @name) @is
(method_declaration name: (_) @name) @is
(type_spec name: (_) @name) @is
""",
    "tree_sitter_rust": """
(function_item name: (_) @name) @is
(struct_item name: (_) @name) @is
(enum_item name: (_) @name) @is
(trait_item name: (_) @name) @is
(impl_item type: (_) @name) @is
(mod_item name: (_) @name body: (_)) @is
(macro_definition name: (_) @name) @is
""",
    "tree_sitter_java": """
(class_declaration name: (_) @name) @is
(interface_declaration name: (_) @name) @is
(enum_declaration name: (_) @name) @is
(record_declaration name: (_) @name) @is
(method_declaration name: (_) @name) @is
(constructor_declaration name: (_) @name) @is
""",
    "tree_sitter_c": _C,
    "tree_sitter_cpp": _C
    + """
(class_specifier name: (_) @name body: (_)) @is
(namespace_definition name: (_) @name) @is
""",
}
_WORD: Final = re.compile(r"[A-Za-z_~][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function, class or type."""

    name: str
    line: int
    """Of its beginning, from 1."""
    last: int
    depth: int
    """In how many others it lies."""
    signature: str
    """Its first line, without what opens its body."""


def ending_of(name: str) -> str:
    return posixpath.splitext(name)[1].lower()


def is_code(name: str) -> bool:
    """Whether there is a grammar for a file with this name."""
    return ending_of(name) in GRAMMARS


def symbols(name: str, data: bytes) -> list[Symbol]:
    """What a file defines, in the order of its lines."""
    ending = ending_of(name)
    parser, query = parser_for(ending), _query(ending)
    if parser is None or query is None or len(data) > MOST_BYTES:
        return []
    lines = data.split(b"\n")
    found: list[Symbol] = []
    open_until: list[int] = []
    for _, captured in sorted(
        query.matches(parser.parse(data).root_node), key=lambda each: _start(each[1])
    )[:SYMBOLS_MOST]:
        node, named = captured["is"][0], captured["name"][0]
        first, last = node.start_point[0], node.end_point[0]
        while open_until and open_until[-1] < first:
            open_until.pop()
        words = _WORD.findall((named.text or b"").decode(errors="replace"))
        if not words:
            continue
        signature = lines[first].decode(errors="replace").strip()[:SIGNATURE_CHARS]
        signature = signature.rstrip("{:").rstrip()
        found.append(Symbol(words[0], first + 1, last + 1, len(open_until), signature))
        if last > first:
            open_until.append(last)
    return found


def _start(captured: Any) -> tuple[int, int]:  # noqa: ANN401 - a record of tree-sitter's
    point: tuple[int, int] = captured["is"][0].start_point
    return point[0], point[1]


@cache
def _query(ending: str) -> Any:  # noqa: ANN401 - of tree-sitter's, which the server has not
    if ending not in GRAMMARS:
        return None
    package, function = GRAMMARS[ending]
    try:
        tree_sitter = import_module("tree_sitter")
        language = tree_sitter.Language(getattr(import_module(package), function)())
    except ImportError:
        return None
    return tree_sitter.QueryCursor(tree_sitter.Query(language, _QUERIES[package]))
