"""Finds where a shell evaluates the text of a variable, so that code in that text is run.

Arithmetic takes a name's value for an expression in its turn, and the index of a list in there may
hold a substitution: `x='a[$(rm y)]'; echo $((x))` runs `rm`. The same goes for `${x@P}`, `${!x}`,
`${y:x}`, the index of a list, numbers that are compared in `[[ ]]`, and integer variables. Pure.
"""

import re
from typing import Final

from tree_sitter import Node

from sayso.server.policy.actions import UNKNOWN

CODE: Final = re.compile(r"\$(?![A-Za-z_0-9])|`")
"""What a text holds that runs something when it is worked out, or may once it is put together."""

_ALWAYS: Final = frozenset(("arithmetic_expansion", "c_style_for_statement"))
_EXPANSIONS: Final = re.compile(r"\$\{!|\$\{[^}]*@P\}|\$\{[^}:]*:(?![-+=?])")
_PLAIN_INDEX: Final = re.compile(r"\[(?:\d+|[@*])\]$")
_COMPARES: Final = re.compile(r"\s-(?:v|eq|ne|lt|le|gt|ge)\s")
_INTEGERS: Final = re.compile(r"\s-\w*[in]")
_FROM_OUTSIDE: Final = re.compile(r"\$\((?!\()|`|[<>]\(|\$\{?(?:\d|[@*])")
"""Substitutions, and what a function or a script is handed."""

_FILLS: Final = frozenset(("read", "mapfile", "readarray", "getopts"))
_TESTS: Final = frozenset(("test", "["))


def works_out(node: Node) -> bool:
    """Whether values of variables are worked out here."""
    text = (node.text or b"").decode(errors="replace")
    match node.type:
        case "compound_statement":
            return text.startswith("((")
        case "expansion":
            return _EXPANSIONS.match(text) is not None
        case "subscript":
            return _PLAIN_INDEX.search(text) is None
        case "test_command":
            return _COMPARES.search(text) is not None
        case "declaration_command":
            return _INTEGERS.search(text) is not None
        case "unset_command":
            return "$" in text
        case kind:
            return kind in _ALWAYS


def works_out_words(words: tuple[str, ...]) -> bool:
    """The same of a command's words."""
    name, *rest = words
    return name == "let" or (name in _TESTS and "-v" in rest)


def fills_variables(words: tuple[str, ...]) -> bool:
    """Whether a command puts into a variable what is only known when it runs."""
    return words[0] in _FILLS or (words[0] == "printf" and any(w.startswith("-v") for w in words))


def may_be_code(value: str) -> bool:
    """Whether a variable's value may run something when it is worked out."""
    return UNKNOWN in value or CODE.search(value) is not None


def takes_from_outside(node: Node) -> bool:
    """Whether what is worked out here is put together of what nobody knows yet."""
    return _FROM_OUTSIDE.search((node.text or b"").decode(errors="replace")) is not None
